// promtool's tests of the written rules: every alert once firing, once quiet.
import { ALERTS } from '@baton/telemetry'
import { ALERT_EXAMPLES } from './alert-examples.ts'
import type { Example } from './alert-examples.ts'

/** The document of `promtool test rules`, for rule files beside it. */
export function ruleTests(ruleFiles: readonly string[]): object {
  return {
    rule_files: ruleFiles,
    evaluation_interval: '1m',
    tests: ALERTS.flatMap((alert) => {
      const examples = ALERT_EXAMPLES[alert.name]
      if (examples === undefined) throw new Error(`${alert.name} has no examples to test it with`)
      const firing = [
        { labels: `{alertname="${alert.name}", severity="${alert.severity}"}`, value: 1 },
      ]
      return [
        test(`${alert.name} fires`, alert.name, { ...examples.fires, samples: firing }),
        test(`${alert.name} stays quiet`, alert.name, { ...examples.quiet, samples: [] }),
      ]
    }),
  }
}

function test(
  name: string,
  alert: string,
  { given, atMinutes, samples }: Example & { samples: object[] },
) {
  return {
    name,
    interval: '1m',
    input_series: Object.entries(given).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `max by (alertname, severity) (ALERTS{alertname="${alert}", alertstate="firing"}) * 0 + 1`,
        eval_time: `${atMinutes}m`,
        exp_samples: samples,
      },
    ],
  }
}
