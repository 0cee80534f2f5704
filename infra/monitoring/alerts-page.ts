// The page of all alerts: what each means, when it fires, where its runbook is.
import {
  ALERTS,
  BURN_ALARMS,
  inPromql,
  OBJECTIVES,
  PERIOD_DAYS,
  RATES,
  runbookOf,
  TRAFFIC_MIN,
} from '@baton/telemetry'
import type { Alert } from '@baton/telemetry'
import { markdownTable } from '../markdown-table.ts'

export function alertsPage(written: string): string {
  const areas = [...Map.groupBy(ALERTS, ({ area }) => area)]
  return `${[
    '# Alerts and what they rest on',
    `<!-- ${written} -->`,
    `A **page** wakes somebody, a **ticket** waits for a working day. The rules are in
[prometheus/alerting-rules.yml](prometheus/alerting-rules.yml); each has a test that fires it and one in which it stays quiet
(\`promtool test rules infra/prometheus/rule-tests*.yml\`), a [runbook](runbooks), and a [game day](game-days.md) that provokes it or a reason why none does.`,
    '## Objectives',
    `Over ${PERIOD_DAYS} days. A share over fewer than ${TRAFFIC_MIN} handoffs says nothing, and nobody is told of it.`,
    markdownTable(
      ['objective', 'transport', 'share', 'within'],
      OBJECTIVES.map(({ id, transport, share, withinSeconds }) => [
        `\`${id}\``,
        `\`${transport}\``,
        percent(share),
        within(withinSeconds),
      ]),
    ),
    `An error budget is what may miss: 1 % of handoffs, or 0.1 %. It burns too fast where both windows say so:`,
    markdownTable(
      ['told as', 'short window', 'long window', 'times too fast'],
      BURN_ALARMS.map(({ severity, shortSeconds, longSeconds, rateMin }) => [
        severity,
        inPromql(shortSeconds),
        inPromql(longSeconds),
        `above ${rateMin}`,
      ]),
    ),
    '## Rates',
    markdownTable(
      ['rate', 'of handoffs', 'limit'],
      RATES.map(({ id, title, limit }) => [
        `\`${id}\``,
        title,
        limit === undefined ? 'twice the day before' : percent(limit),
      ]),
    ),
    ...areas.flatMap(([area, alerts]) => [
      `## Alerts: ${area}`,
      markdownTable(
        ['alert', 'told as', 'meaning', 'for', 'runbook'],
        alerts.map((alert) => alertRow(alert)),
      ),
    ]),
  ].join('\n\n')}\n`
}

/** As every page and command says it: milliseconds below a second, seconds from there on. */
const within = (seconds: number): string =>
  seconds < 1 ? `${seconds * 1_000} ms` : `${seconds.toFixed(1)} s`

function alertRow(alert: Alert): readonly string[] {
  const runbook = runbookOf(alert)
  return [
    `\`${alert.name}\``,
    alert.severity,
    alert.meaning,
    alert.forSeconds === undefined ? 'at once' : inPromql(alert.forSeconds),
    `[${runbook}](runbooks/${runbook}.md)`,
  ]
}

const percent = (share: number): string => `${Number((share * 100).toFixed(3))} %`
