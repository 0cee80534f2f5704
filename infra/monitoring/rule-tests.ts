// promtool's tests of the written rules: every alert once firing, once quiet.
import { ALERTS } from '@baton/telemetry'
import { ALERT_EXAMPLES } from './alert-examples.ts'
import type { Example } from './alert-examples.ts'

/** Minutes between two values: days are told in larger steps, or promtool takes minutes. */
const STEP = { minute: 1, hours: 4 }
/** Minutes between two evaluations, which is most of promtool's work; what an example asks for is at a multiple of it. */
const EVALUATION = { minute: 5, hours: 20 }
/** What lasts longer than this is told in larger steps. */
const SHORT_MINUTES = 180

/**
 * The documents of `promtool test rules`, for rule files beside them: of minutes, and of days. Groups are evaluated in this
 * order: alerts after what is recorded for them, since at the evaluation before it had been recorded too long ago.
 */
export function ruleTests(
  ruleFiles: readonly string[],
  groups: readonly string[],
): Readonly<Record<keyof typeof STEP, object>> {
  const told = ALERTS.flatMap(({ name, severity }) => {
    const examples = ALERT_EXAMPLES[name]
    if (examples === undefined)
      throw new Error(`${name} has no examples: add them to infra/monitoring/alert-examples.ts`)
    return [
      { alert: name, severity, isFiring: true, ...examples.fires },
      ...(examples.firesToo === undefined
        ? []
        : [{ alert: name, severity, isFiring: true, ...examples.firesToo }]),
      { alert: name, severity, isFiring: false, ...examples.quiet },
    ]
  })
  const document = (pace: keyof typeof STEP) => {
    const own = told.filter((one) => one.atMinutes > SHORT_MINUTES === (pace === 'hours'))
    const unevaluated = own.find((one) => one.atMinutes % EVALUATION[pace] !== 0)
    if (unevaluated !== undefined)
      throw new Error(
        `an example of ${unevaluated.alert} asks at ${unevaluated.atMinutes} minutes, when nothing is evaluated: ask at a multiple of ${EVALUATION[pace]}`,
      )
    return {
      rule_files: ruleFiles,
      evaluation_interval: `${EVALUATION[pace]}m`,
      group_eval_order: groups,
      tests: together(own).map((group) => testOf(group, STEP[pace])),
    }
  }
  return { minute: document('minute'), hours: document('hours') }
}

interface Told extends Example {
  readonly alert: string
  readonly severity: string
  readonly isFiring: boolean
}

/** Examples that have no metric in common are told at once: promtool evaluates every rule for each test. */
function together(examples: readonly Told[]): Told[][] {
  const groups: { metrics: Set<string>; examples: Told[] }[] = []
  for (const example of examples) {
    const metrics = Object.keys(example.given).map((series) =>
      series.replace(/(?:_bucket|_count)?({.*)?$/, ''),
    )
    const group = groups.find(
      (one) =>
        one.examples[0]?.atMinutes === example.atMinutes &&
        metrics.every((metric) => !one.metrics.has(metric)),
    )
    if (group === undefined) groups.push({ metrics: new Set(metrics), examples: [example] })
    else {
      for (const metric of metrics) group.metrics.add(metric)
      group.examples.push(example)
    }
  }
  return groups.map((group) => group.examples)
}

/** Each alert that fires is a 1. */
const counting = (alerts: number | undefined) => (alerts === undefined ? 'max' : 'count')

function testOf(examples: readonly Told[], step: number): object {
  const given = examples.flatMap((example) => Object.entries(example.given))
  return {
    name: examples
      .map(({ alert, isFiring }) => `${alert} ${isFiring ? 'fires' : 'stays quiet'}`)
      .join(', '),
    interval: `${step}m`,
    input_series: given.map(([series, values]) => ({ series, values })),
    promql_expr_test: examples.map(({ alert, severity, isFiring, atMinutes, alerts }) => ({
      expr: `${counting(alerts)} by (alertname, severity) (ALERTS{alertname="${alert}", alertstate="firing"})`,
      eval_time: `${atMinutes}m`,
      exp_samples: isFiring
        ? [{ labels: `{alertname="${alert}", severity="${severity}"}`, value: alerts ?? 1 }]
        : [],
    })),
  }
}
