// The published JSON Schema of a HandoffContext, draft 07, and what of a context does not satisfy it.
import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { JsonValue } from '../../json.ts'

/** As SW4RM publishes it. */
export const HANDOFF_CONTEXT_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'HandoffContext',
  type: 'object',
  properties: {
    conversation_history: {
      type: 'array',
      description: 'Prior messages in the conversation',
      items: {
        type: 'object',
        properties: {
          role: { type: 'string', description: 'Message role (user, assistant, system, tool)' },
          content: { type: 'string', description: 'Message content' },
          timestamp: {
            type: 'string',
            format: 'date-time',
            description: 'ISO 8601 timestamp',
          },
          metadata: { type: 'object', description: 'Optional message metadata' },
        },
        required: ['role', 'content'],
      },
    },
    tool_state: {
      type: 'object',
      description: 'Current tool state including active calls and cached results',
      additionalProperties: true,
    },
    metadata: {
      type: 'object',
      description: 'Additional context metadata',
      additionalProperties: true,
    },
  },
  required: ['conversation_history', 'tool_state', 'metadata'],
} as const

let compiled: ValidateFunction | undefined

/** The first thing that breaks the schema, in words; undefined where nothing does. */
export function brokenRule(context: JsonValue): string | undefined {
  compiled ??= compile()
  if (compiled(context)) return undefined
  const [first] = compiled.errors ?? []
  if (first?.keyword === 'required')
    return `missing required field '${String(first.params['missingProperty'])}'${placeOf(first.instancePath)}`
  return `${first?.instancePath.slice(1) ?? ''} ${first?.message ?? 'is not valid'}`
}

const placeOf = (pointer: string): string => (pointer === '' ? '' : ` in ${pointer.slice(1)}`)

function compile(): ValidateFunction {
  const ajv = new Ajv({ ownProperties: true })
  addFormats.default(ajv)
  return ajv.compile(HANDOFF_CONTEXT_SCHEMA)
}
