// The one catalogue of Baton's metrics: instruments, their types and the page of metrics are made from it.
import { EVENT_METRICS } from './definitions/event-metrics.ts'
import { HANDOFF_METRICS } from './definitions/handoff-metrics.ts'
import { LOG_METRICS } from './definitions/log-metrics.ts'
import { MACHINE_METRICS } from './definitions/machine-metrics.ts'
import { WAITING_METRICS } from './definitions/waiting-metrics.ts'

/** By the name of the field that holds its instrument. */
export const METRIC_DEFINITIONS = {
  ...HANDOFF_METRICS,
  ...WAITING_METRICS,
  ...EVENT_METRICS,
  ...LOG_METRICS,
  ...MACHINE_METRICS,
} as const
