// What a tool is: a name and words for a model, the forms of what it takes and answers, and the routes that it runs.
import type { ToolAnnotations } from '@modelcontextprotocol/server'
import { createDocumentCheck } from '@baton/protocol/document-check'
import type { Scope } from '../api-keys.ts'
import { ANSWER_SCHEMAS } from '../answer-schemas.ts'
import type { RouteCall } from '../inside-call.ts'

/** Calls a route and answers its body. Throws Refused where it answers with a problem. */
export type CallRoute = (call: RouteCall) => Promise<object>

export interface ToolAnswer {
  readonly data: object
  /** For who reads: a sentence or two, without anything that agents wrote. */
  readonly text: string
  /** Where in `data` stands what agents wrote, as JSON pointers; `*` is every item. */
  readonly untrusted?: readonly string[]
}

interface Words {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly scope: Scope
  readonly annotations: ToolAnnotations
  readonly inputSchema: object
  readonly outputSchema: object
}

export interface Tool extends Words {
  /** Reads the arguments, with what is wrong in them. */
  readonly check: ReturnType<typeof createDocumentCheck<object>>
  readonly run: (args: object, call: CallRoute) => Promise<ToolAnswer>
}

export function tool<Args extends object>({
  run,
  ...words
}: Words & { readonly run: (args: Args, call: CallRoute) => Promise<ToolAnswer> }): Tool {
  const outputSchema = selfContained(words.outputSchema)
  return {
    ...words,
    outputSchema,
    check: createDocumentCheck<object>(words.inputSchema),
    // The check before it has proven the form.
    run: (args, call) => run(args as Args, call),
  }
}

export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** Adds something; the same again adds nothing more. */
export const ADDS: ToolAnnotations = { ...READS, readOnlyHint: false }

/** The members of an object, and no others. */
export const closed = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length === 0 ? {} : { required }),
})

const NAMED = new Map<string, object>(ANSWER_SCHEMAS.map(({ $id, ...schema }) => [$id, schema]))

/** The same schema with every named one that it refers to inside of it. */
function selfContained(schema: object): object {
  const $defs: Record<string, object> = {}
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string') return { $ref: defined($ref.replace(/#$/, '')) }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(one)]))
  }
  const defined = (name: string): string => {
    if ($defs[name] === undefined) {
      $defs[name] = {}
      $defs[name] = moved(NAMED.get(name)) as object
    }
    return `#/$defs/${name}`
  }
  const whole = moved(schema) as object
  return Object.keys($defs).length === 0 ? whole : { ...whole, $defs }
}
