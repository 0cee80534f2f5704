// All alerts, and the groups of rules that a Prometheus evaluates: pure data, written as files by infra and by game days.
import { DELIVERY_ALERTS } from './delivery-alerts.ts'
import { inPromql, runbookOf } from './alert.ts'
import type { Alert, SpanWriter } from './alert.ts'
import { LEVEL_ALERTS } from './level-alerts.ts'
import { LOG_ALERTS } from './log-alerts.ts'
import { MACHINE_ALERTS } from './machine-alerts.ts'
import { budgetRules, latencyRules, pairRules, rateRules } from './recorded.ts'
import type { RecordingRule } from './recorded.ts'

export const ALERTS: readonly Alert[] = [
  ...LEVEL_ALERTS,
  ...DELIVERY_ALERTS,
  ...LOG_ALERTS,
  ...MACHINE_ALERTS,
]

interface AlertingRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly keep_firing_for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface RuleGroup {
  readonly name: string
  readonly interval?: string
  readonly rules: readonly (RecordingRule | AlertingRule)[]
}

/** A game day lives as much faster as this says: an hour of 3,600 s passes in 3,600 / timesFaster. */
export function fasterBy(timesFaster: number): SpanWriter {
  return (seconds) => inPromql(Math.max(1, Math.round(seconds / timesFaster)))
}

/** What alerts and dashboards read; error budgets only every five minutes, as they read thirty days. */
export function recordingGroups(span: SpanWriter = inPromql): RuleGroup[] {
  return [
    { name: 'baton-latency', rules: latencyRules(span) },
    { name: 'baton-pairs', interval: span(60), rules: pairRules(span) },
    { name: 'baton-rates', rules: rateRules(span) },
    { name: 'baton-error-budgets', interval: span(300), rules: budgetRules(span) },
  ]
}

/** One group for each area; `runbooks` is the place under which the runbooks are found. */
export function alertingGroups(runbooks: string, span: SpanWriter = inPromql): RuleGroup[] {
  return [...Map.groupBy(ALERTS, ({ area }) => area)].map(([area, alerts]) => ({
    name: `baton-${area.replaceAll(' ', '-')}`,
    rules: alerts.map((alert) => alertingRule(alert, runbooks, span)),
  }))
}

function alertingRule(alert: Alert, runbooks: string, span: SpanWriter): AlertingRule {
  const { forSeconds, keepFiringSeconds } = alert
  return {
    alert: alert.name,
    expr: alert.expression(span),
    ...(forSeconds !== undefined && { for: span(forSeconds) }),
    ...(keepFiringSeconds !== undefined && { keep_firing_for: span(keepFiringSeconds) }),
    labels: { severity: alert.severity, area: alert.area },
    annotations: {
      summary: alert.summary,
      description: alert.meaning,
      runbook_url: `${runbooks}/${runbookOf(alert)}.md`,
    },
  }
}
