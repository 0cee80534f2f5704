// The metrics of what waits: in the outbox, in the queues, for people; measured by whoever sweeps.
import type { MetricDefinition } from '../metric-definition.ts'

const SWEEPER = 'relay (receiver without Redis)'

export const WAITING_METRICS = {
  outboxDepth: {
    name: 'baton_outbox_depth',
    kind: 'gauge',
    help: 'Handoffs committed and not yet published.',
    labels: [],
    filledBy: `${SWEEPER}, gateway`,
  },
  outboxOldestAgeSeconds: {
    name: 'baton_outbox_oldest_age_seconds',
    kind: 'gauge',
    help: 'Age of the oldest handoff not yet published.',
    labels: [],
    filledBy: `${SWEEPER}, gateway`,
  },
  queueDepth: {
    name: 'baton_queue_depth',
    kind: 'gauge',
    help: 'Handoffs published and not yet claimed, by agent type.',
    labels: ['agent'],
    filledBy: SWEEPER,
  },
  queueOldestAgeSeconds: {
    name: 'baton_queue_oldest_age_seconds',
    kind: 'gauge',
    help: 'Age of the oldest handoff published and not yet claimed, by agent type.',
    labels: ['agent'],
    filledBy: SWEEPER,
  },
  deadLetterDepth: {
    name: 'baton_dead_letter_depth',
    kind: 'gauge',
    help: 'Dead letters that wait for a person.',
    labels: [],
    filledBy: SWEEPER,
  },
  deadLetterOldestAgeSeconds: {
    name: 'baton_dead_letter_oldest_age_seconds',
    kind: 'gauge',
    help: 'Age of the oldest dead letter that waits for a person.',
    labels: [],
    filledBy: SWEEPER,
  },
  waitingForPeople: {
    name: 'baton_waiting_for_people',
    kind: 'gauge',
    help: 'What waits for a person now.',
    labels: ['kind'],
    values: ['dead_letter', 'approval', 'escalation', 'alert'],
    filledBy: SWEEPER,
  },
  alertDeliveriesTotal: {
    name: 'baton_alert_deliveries_total',
    kind: 'counter',
    help: 'Webhooks of alerts, by how they ended.',
    labels: ['outcome'],
    values: ['ok', 'failed'],
    filledBy: SWEEPER,
  },
} as const satisfies Record<string, MetricDefinition>
