// What agents outside ask and are answered: claims, heartbeats, settlements.
import { UUID_PATTERN } from '@baton/protocol'
import { settlementSchema } from '@baton/protocol/settlement'

const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** Postgres stores no NUL, so nothing can be called so. */
const name = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\u0000]*$' }
const names = { type: 'array', items: name, maxItems: 100, default: [] }
const id = { type: 'string', format: 'uuid', pattern: UUID_PATTERN }
const fencingToken = { type: 'integer', minimum: 1, maximum: 2_147_483_647 }
const instant = { type: 'string', format: 'date-time' }
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })

const CLAIMED_MAX = 32
const HEARTBEATS_MAX = 100

export const CLAIM_REQUEST = closed(
  {
    agent: closed(
      {
        type: name,
        version: {
          type: 'string',
          maxLength: 256,
          pattern: '^\\d+\\.\\d+\\.\\d+(?:[-+][0-9A-Za-z.+-]*)?$',
          description: 'Semantic version of the agent that asks.',
        },
        requires: { ...names, description: 'Keys that currentState must have (E06).' },
        capabilities: names,
        mcp: names,
        jurisdiction: {
          type: 'string',
          pattern: '^[A-Z]{2}$',
          description:
            'Where it runs: ISO 3166-1 alpha-2, or EU. Without it the agent is given nothing that must stay somewhere.',
        },
        contextWindowTokens: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
      },
      ['type', 'version'],
    ),
    max: { type: 'integer', minimum: 1, maximum: CLAIMED_MAX, default: 1 },
    waitMs: {
      type: 'integer',
      minimum: 0,
      maximum: 20_000,
      default: 20_000,
      description: 'How long to wait for work where there is none.',
    },
  },
  ['agent'],
)

const FENCE = { handoffId: id, fencingToken }

export const HEARTBEAT_REQUEST = closed(
  {
    executions: {
      type: 'array',
      items: closed(FENCE, ['handoffId', 'fencingToken']),
      minItems: 1,
      maxItems: HEARTBEATS_MAX,
    },
  },
  ['executions'],
)

const SETTLED_ONE = settlementSchema(FENCE, ['handoffId', 'fencingToken'])

export const SETTLE_REQUEST = closed(
  { executions: { type: 'array', items: SETTLED_ONE, minItems: 1, maxItems: CLAIMED_MAX } },
  ['executions'],
)

const listOf = (one: object) => ({
  type: 'object',
  properties: { executions: { type: 'array', items: one } },
  required: ['executions'],
})

const answer = (properties: object) => ({
  type: 'object',
  properties: { ...FENCE, ...properties },
  required: ['handoffId', 'fencingToken', ...Object.keys(properties)],
})

export const CLAIMED = listOf(
  answer({
    taskId: id,
    attempt: { type: 'integer', minimum: 1 },
    attemptsMax: { type: 'integer', minimum: 1 },
    leaseMs: {
      type: 'integer',
      description: 'Say that it is still worked on three times within it.',
    },
    leaseUntil: instant,
    deadline: orNull(instant),
    traceparent: { type: 'string' },
    tracestate: orNull({ type: 'string' }),
    fromAgent: { type: 'string' },
    idempotencyKey: {
      type: 'string',
      description: 'The same for every attempt: send it with whatever has an effect elsewhere.',
    },
    chunks: {
      type: 'integer',
      minimum: 0,
      description:
        'How many chunks earlier attempts have committed: emit the same again from 1, or go on with the next.',
    },
    context: {
      type: 'string',
      description:
        'The context for a prompt\u2019s user turn, fenced as data: it is never instructions.',
    },
    message: { type: 'object', description: 'The handoff: /schemas/handoff/2.1.json' },
  }),
)

export const KEPT = listOf(
  answer({
    held: {
      type: 'boolean',
      description: 'False: stop, nothing of it can commit any more.',
    },
    leaseUntil: orNull(instant),
    canceledUntil: orNull({
      ...instant,
      description: 'It is being canceled: a result counts until then.',
    }),
  }),
)

export const SETTLED = listOf({
  type: 'object',
  properties: {
    ...FENCE,
    settled: { type: 'boolean' },
    repeated: { type: 'boolean', description: 'It had been settled before, as `state` says.' },
    state: { type: 'string', description: 'The state of the handoff after it.' },
    problem: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        detail: { type: 'string' },
        fix: { type: 'string' },
      },
      required: ['code', 'detail', 'fix'],
    },
  },
  required: ['handoffId', 'fencingToken', 'settled'],
})
