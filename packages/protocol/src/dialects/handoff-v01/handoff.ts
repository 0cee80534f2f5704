// A handoff of protocol v0.1, read from its JSON: nothing that breaks its schema gets through, and nothing throws.
import type { JsonObject, JsonValue } from '../../json.ts'
import { isStatus } from './transitions.ts'
import type { Status } from './transitions.ts'

/** The eight fields under their published names; other fields of the JSON stay in its text. */
export interface OfferedHandoff {
  readonly task_id: string
  readonly from_agent: string
  /** Empty: anyone. */
  readonly to_agent: string
  readonly status: Status
  readonly description: string
  readonly context: JsonObject
  readonly created_at: string
  readonly updated_at: string
}

/** `strict` demands what the schema demands; `lenient` only an id and a status, as peers that check nothing write them. */
export type Validation = 'strict' | 'lenient'

export type ReadHandoff =
  | { readonly ok: true; readonly handoff: OfferedHandoff }
  /** Says what is wrong, never what stands there. */
  | { readonly ok: false; readonly reason: string }

export const HANDOFF_LIMITS = { bytesMax: 1_048_576, depthMax: 64, taskIdMax: 512 } as const

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads UTF-8 bytes. Size and depth are bounded before anything is parsed. */
export function readHandoffBytes(bytes: Uint8Array, validation: Validation): ReadHandoff {
  if (bytes.byteLength > HANDOFF_LIMITS.bytesMax)
    return no(`is larger than ${HANDOFF_LIMITS.bytesMax} bytes`)
  try {
    return readHandoff(DECODER.decode(bytes), validation)
  } catch {
    return no('is not UTF-8')
  }
}

/** The same for a text. */
export function readHandoff(text: string, validation: Validation): ReadHandoff {
  if (Buffer.byteLength(text) > HANDOFF_LIMITS.bytesMax)
    return no(`is larger than ${HANDOFF_LIMITS.bytesMax} bytes`)
  if (isTooDeep(text)) return no(`is nested deeper than ${HANDOFF_LIMITS.depthMax} levels`)
  const value = parsed(text)
  if (value === undefined) return no('is not JSON')
  if (!isObject(value)) return no('is not a JSON object')
  const reason =
    identityProblem(value) ?? (validation === 'strict' ? fieldProblem(value) : undefined)
  return reason === undefined ? { ok: true, handoff: withDefaults(value) } : no(reason)
}

const no = (reason: string): ReadHandoff => ({ ok: false, reason })

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// JSON.parse would take any depth; whatever walks the value afterwards would not.
function isTooDeep(text: string): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isInText) {
      if (character === '\\') at += 1
      else if (character === '"') isInText = false
    } else if (character === '"') isInText = true
    else if (character === '{' || character === '[') {
      depth += 1
      if (depth > HANDOFF_LIMITS.depthMax) return true
    } else if (character === '}' || character === ']') depth -= 1
  }
  return false
}

type Fields = Readonly<Record<string, JsonValue | undefined>>

function identityProblem({ task_id: id, status }: Fields): string | undefined {
  if (typeof id !== 'string' || !isTaskId(id))
    return `has no task_id of 1 to ${HANDOFF_LIMITS.taskIdMax} characters`
  return isStatus(status)
    ? undefined
    : 'has no status that is offered, accepted, completed, failed or rejected'
}

/** Any text is an id that is not empty, not endless, and whole characters. */
export const isTaskId = (id: string): boolean =>
  id !== '' && [...id].length <= HANDOFF_LIMITS.taskIdMax && id.isWellFormed()

function fieldProblem(fields: Fields): string | undefined {
  const { from_agent: from, to_agent: to = null, description, context = null } = fields
  if (typeof from !== 'string' || from === '') return 'has no from_agent'
  if (to !== null && typeof to !== 'string') return 'has a to_agent that is no text'
  if (typeof description !== 'string') return 'has no description'
  if (context !== null && !isObject(context)) return 'has a context that is no object'
  const untimed = (['created_at', 'updated_at'] as const).find((name) => !isTime(fields[name]))
  return untimed === undefined ? undefined : `has no ${untimed} in ISO 8601`
}

/** The schema's own pattern: peers write with and without an offset; without one it is UTC. */
const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/

const isTime = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && TIME.test(value)

/** Milliseconds since 1970, or undefined where a text is no time. */
export function timeOf(text: string): number | undefined {
  if (!TIME.test(text)) return undefined
  const whole = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`
  const at = Date.parse(whole.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
  return Number.isNaN(at) ? undefined : at
}

const textOr = (value: JsonValue | undefined, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

const withDefaults = (fields: Fields): OfferedHandoff => ({
  task_id: textOr(fields['task_id'], ''),
  from_agent: textOr(fields['from_agent'], ''),
  to_agent: textOr(fields['to_agent'], ''),
  status: fields['status'] as Status,
  description: textOr(fields['description'], ''),
  context: isObject(fields['context']) ? fields['context'] : {},
  created_at: textOr(fields['created_at'], ''),
  updated_at: textOr(fields['updated_at'], ''),
})
