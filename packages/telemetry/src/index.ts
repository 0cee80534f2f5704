// What Baton tells an operator about itself: metrics, spans, service levels.
export { inPromql, runbookOf } from './alerts/alert.ts'
export type { Alert, SpanWriter } from './alerts/alert.ts'
export { BUDGET_LEFT, burnSeries, handoffsSeries, rateSeries } from './alerts/recorded.ts'
export { ALERTS, alertingGroups, fasterBy, recordingGroups } from './alerts/rules.ts'
export type { RuleGroup } from './alerts/rules.ts'
export type { MetricDefinition } from './metric-definition.ts'
export { METRIC_DEFINITIONS } from './metric-definitions.ts'
export {
  BURN_WINDOWS_SECONDS,
  errorBudgetLeft,
  burnRate,
  handoffsWithin,
  isBurning,
  judgeLevel,
  LEVEL_STATES,
  PERIOD_SECONDS,
  quantileSeconds,
} from './burn.ts'
export type { Handoffs, LevelState, Over } from './burn.ts'
export { labelsText, LATENCY_METRIC, seriesKey, takeRises } from './level-rises.ts'
export type { LevelRise } from './level-rises.ts'
export { createMetrics } from './metrics.ts'
export type { Gauge } from './instrument.ts'
export type { Metrics } from './metrics.ts'
export {
  BURN_ALARMS,
  errorBudgetOf,
  EVENTS_MIN,
  LEVEL_METRICS,
  OBJECTIVES,
  PAIR_ALARM,
  PERIOD_DAYS,
  RATES,
  RATE_WINDOWS,
  TARGET_SHARE,
  TRAFFIC_MIN,
} from './objectives.ts'
export type { BurnAlarm, LatencyObjective, Rate, Series } from './objectives.ts'
export { measureProcess } from './process-metrics.ts'
export { LATENCY_EDGES_SECONDS, LATENCY_TARGETS } from './slo.ts'
export type { HandoffTransport } from './slo.ts'
export { exemplarOf, startSpan, startStep } from './span.ts'
export type { Span, Step } from './span.ts'
export { invokeAgentAttributes, usageAttributes } from './gen-ai.ts'
export { messagingAttributes, publishAttributes } from './messaging.ts'
export { exportedLines, startTelemetry } from './telemetry.ts'
export type { Telemetry, TelemetryOptions } from './telemetry.ts'
export { newTraceparent, parseTraceparent } from './trace-context.ts'
export { formatTracestate, parseTracestate } from './tracestate.ts'
