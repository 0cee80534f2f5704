// Alerts and escalations as the API describes them.
import { ALERT_STATES, ESCALATION_STATES } from '@baton/store'
import { SEVERITIES } from './alert-selection-schema.ts'
import { COUNTED_PAGE } from './cursor.ts'
import { ref } from './operation.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const uuid = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const timeOrNull = { type: ['string', 'null'], format: 'date-time' }
const integer = { type: 'integer' }
const record = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const described = (schema: object, description: string) => ({ ...schema, description })

const ALERT = {
  alertId: uuid,
  kind: described(text, 'What it is of, such as handoff.rolled_back; there may be more kinds.'),
  severity: { enum: SEVERITIES },
  reason: described(text, 'A code: of handoffs that were refused, why.'),
  subject: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'What it is about, by names: fromAgent, toAgent, transport.',
  },
  state: { enum: ALERT_STATES },
  occurrences: described(integer, 'How often it came.'),
  escalations: described(integer, 'How many of them left a task waiting for a person.'),
  handoffIds: {
    type: 'array',
    items: uuid,
    description: 'The newest of its handoffs, at most 20.',
  },
  firstAt: time,
  lastAt: time,
  openedAt: time,
  acknowledgedAt: timeOrNull,
  acknowledgedBy: textOrNull,
  closedAt: timeOrNull,
  closedBy: described(textOrNull, 'Null where it closed by itself.'),
  closedWhy: textOrNull,
  links: record({ self: text }),
}

const HISTORY = {
  type: 'array',
  description: 'The newest 100 changes, oldest first.',
  items: record({
    change: { enum: ['opened', 'escalated', 'repeated', 'acknowledged', 'closed'] },
    at: time,
    occurrences: described(integer, 'How often it had come by then.'),
    actor: described(textOrNull, 'Null where nobody did it.'),
    why: textOrNull,
  }),
}

const REPEATED = described({ type: 'boolean' }, 'True where it had been done before.')

const ESCALATION = {
  handoffId: described(
    uuid,
    'Of the handoff that came to nothing; its escalation goes by this id.',
  ),
  taskId: uuid,
  attempts: integer,
  reason: text,
  state: { enum: ESCALATION_STATES },
  createdAt: time,
  acknowledgedAt: timeOrNull,
  acknowledgedBy: textOrNull,
  resolvedAt: timeOrNull,
  resolvedBy: described(textOrNull, 'Null where its task went on or was canceled.'),
  resolvedWhy: textOrNull,
  links: record({ self: text, handoff: text, task: text }),
}

const page = (name: string, schema: string) =>
  record({
    [name]: { type: 'array', items: ref(schema) },
    ...COUNTED_PAGE,
  })

export const ALERT_ANSWERS = {
  Alert: record(ALERT),
  AlertWithHistory: record({ ...ALERT, history: HISTORY }),
  HandledAlert: record({ ...ALERT, repeated: REPEATED }),
  Alerts: page('alerts', 'Alert'),
  Escalation: record(ESCALATION),
  HandledEscalation: record({ ...ESCALATION, repeated: REPEATED }),
  Escalations: page('escalations', 'Escalation'),
  HandledMany: record({
    matching: described(integer, 'How many were meant.'),
    handled: described(integer, 'How many of them were handled; 0 in a dry run.'),
    left: described(integer, 'How many are left: say it again.'),
  }),
  AlertWebhookTest: record({
    testId: uuid,
    isPlanned: described(
      { type: 'boolean' },
      'False until a process that delivers has taken it up.',
    ),
    webhooks: {
      type: 'array',
      items: record({
        webhook: described(text, 'Its name.'),
        state: { enum: ['waiting', 'delivered', 'failed'] },
        attempts: integer,
        lastError: described(textOrNull, 'A code.'),
      }),
    },
  }),
}
