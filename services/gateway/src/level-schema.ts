// What GET /v2/slo answers, as OpenAPI describes it.
import { RATE_STATES } from '@baton/engine'
import { LATENCY_TARGETS, LEVEL_STATES } from '@baton/telemetry'

const text = { type: 'string' }
const number = { type: 'number' }
const numberOrNull = { type: ['number', 'null'] }
const integer = { type: 'integer' }
const listOf = (items: object) => ({ type: 'array', items })
const described = (schema: object, description: string) => ({ ...schema, description })
const record = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

export const TRANSPORTS = Object.keys(LATENCY_TARGETS)

const LEVEL = {
  withinMs: integer,
  share: described(number, 'So many of all handoffs must be accepted within it.'),
  state: described(
    { enum: LEVEL_STATES },
    'burning: an alarm of the fast or slow burn holds now. exhausted: nothing is left of the budget. too_little_traffic: fewer than trafficMin handoffs in the period, so nothing is said.',
  ),
  handoffs: described(integer, 'Accepted in the period.'),
  inTime: integer,
  attained: described(numberOrNull, 'The share that was in time; null where nothing came.'),
  errorBudgetLeft: described(numberOrNull, '1 is all of it, 0 none; below 0 it is overdrawn.'),
  burn: described(
    listOf(record({ seconds: integer, handoffs: integer, rate: numberOrNull })),
    'How many times too fast the budget is spent, by window, the shortest first.',
  ),
}

const RECENT = {
  perSecond: described(number, 'Over the minute under way and the one before.'),
  p50Ms: described(numberOrNull, 'Of the last five minutes, interpolated within buckets.'),
  p99Ms: numberOrNull,
}

const OBJECTIVE = record({
  id: text,
  transport: { enum: TRANSPORTS },
  ...LEVEL,
  hours: described(
    listOf(numberOrNull),
    'The share in time in each of the last 24 hours, the newest last.',
  ),
})

const PAIR = record({ transport: text, fromAgent: text, toAgent: text, ...LEVEL, ...RECENT })

const RATE = record({
  id: text,
  title: text,
  limit: numberOrNull,
  state: described({ enum: RATE_STATES }, 'over: above its limit in both windows.'),
  windows: listOf(record({ seconds: integer, part: integer, whole: integer, share: numberOrNull })),
})

export const SERVICE_LEVELS = record({
  at: { type: 'string', format: 'date-time' },
  since: described(
    { type: ['string', 'null'], format: 'date-time' },
    'Since when handoffs are counted; null before the first.',
  ),
  periodDays: integer,
  trafficMin: integer,
  objectives: listOf(OBJECTIVE),
  pairs: described(
    listOf(PAIR),
    'At most 100: those with the least budget left first, those with too little traffic last.',
  ),
  pairsLeftOut: integer,
  rates: listOf(RATE),
  recent: record({
    sent: record(RECENT),
    accepted: record(RECENT),
    refused: record(RECENT),
    rolledBack: record(RECENT),
  }),
  waiting: described(
    record({
      deadLetters: integer,
      deadLetterOldestAgeSeconds: number,
      approvals: integer,
      escalations: integer,
      alerts: integer,
    }),
    'What waits for a person.',
  ),
  outbox: record({ depth: integer, oldestAgeSeconds: number }),
  queues: described(
    listOf(record({ agent: text, depth: integer, oldestAgeSeconds: number })),
    'What was published and not yet claimed, by agent type.',
  ),
})
