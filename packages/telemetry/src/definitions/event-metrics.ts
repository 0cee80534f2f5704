// Events for programs outside: how many there were, how far behind the log they are made, and whether webhooks take them.
import type { MetricDefinition } from '../metric-definition.ts'

const GATEWAY = 'gateway'

export const EVENT_METRICS = {
  eventsTotal: {
    name: 'baton_events_total',
    kind: 'counter',
    help: 'Events made of records of the log, for tenants that ask for them.',
    labels: [],
    filledBy: GATEWAY,
  },
  eventsBehindSeconds: {
    name: 'baton_events_behind_seconds',
    kind: 'gauge',
    help: 'Age of the oldest record of which no event was made yet, where there are more than one look takes; 0 where there are not.',
    labels: [],
    filledBy: GATEWAY,
  },
  eventDeliveriesTotal: {
    name: 'baton_event_deliveries_total',
    kind: 'counter',
    help: 'Tries to tell a subscription of an event, by how they ended.',
    labels: ['outcome'],
    values: ['ok', 'failed'],
    filledBy: GATEWAY,
  },
  eventDeliveriesWaiting: {
    name: 'baton_event_deliveries_waiting',
    kind: 'gauge',
    help: 'Events that a subscription did not take: that are tried again, or were given up and wait for a person.',
    labels: ['state'],
    values: ['waiting', 'dead'],
    filledBy: GATEWAY,
  },
} as const satisfies Record<string, MetricDefinition>
