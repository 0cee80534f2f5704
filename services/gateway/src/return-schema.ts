// The outer form of what senders post about returns, and of what takes a task up again.
import { UUID_PATTERN } from '@baton/protocol'
import { AGENT_STATE, CONSTRAINTS } from './submission-schema.ts'

/** Postgres stores no NUL, so nothing can be called so. */
const name = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\u0000]*$' }
const revision = {
  type: 'integer',
  minimum: 2,
  maximum: 1_000_000,
  description: 'The revision that this correction shall be: the one that was returned, plus one.',
}

const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const TAKE_LIMIT_MAX = 20

/** Whose returns and rollbacks to take. */
export const TAKE_REQUEST = closed(
  {
    agents: {
      type: 'array',
      items: name,
      minItems: 1,
      maxItems: 100,
      description: 'The agentIds this program sends as.',
    },
    kinds: {
      type: 'array',
      items: { type: 'string', enum: ['return', 'rollback'] },
      minItems: 1,
      maxItems: 2,
      default: ['return', 'rollback'],
    },
    limit: { type: 'integer', minimum: 1, maximum: TAKE_LIMIT_MAX, default: 10 },
  },
  ['agents'],
)

/** A correction from which Baton builds the message anew. */
export const STATE_REVISION = closed(
  { revision, agentState: AGENT_STATE, constraints: CONSTRAINTS },
  ['revision', 'agentState'],
)

/** A corrected message; without a checkpoint the saved one stays. */
export const MESSAGE_REVISION = closed(
  {
    revision,
    message: { type: 'object', description: 'A handoff message: /schemas/handoff/2.1.json' },
    checkpoint: { type: 'object' },
  },
  ['revision', 'message'],
)

/** What is done differently this time; an empty body sends the handoff again as it stood. */
export const RESUME_REQUEST = closed(
  {
    handoffId: {
      type: 'string',
      pattern: UUID_PATTERN,
      description: 'Which rolled-back or expired handoff; the task’s latest by default.',
    },
    agentState: AGENT_STATE,
    targetAgentType: name,
    constraints: CONSTRAINTS,
  },
  [],
)
