// Alerts about what the service promises: error budgets that burn, pairs that stay slow, the rates of E17 and E18.
import {
  BURN_ALARMS,
  EVENTS_MIN,
  PAIR_ALARM,
  RATE_WINDOWS,
  RATES,
  TRAFFIC_MIN,
} from '../objectives.ts'
import type { BurnAlarm } from '../objectives.ts'
import { DAY, HOUR, MINUTE } from './alert.ts'
import type { Alert, SpanWriter } from './alert.ts'
import { burnSeries, handoffsSeries, partsSeries, rateSeries, wholeSeries } from './recorded.ts'

const BURNING = { area: 'service level', keepFiringSeconds: 5 * MINUTE } as const

export const LEVEL_ALERTS: readonly Alert[] = [
  {
    ...BURNING,
    name: 'BatonLatencyBurnFast',
    severity: 'page',
    summary:
      'handoffs by {{ $labels.transport }} miss {{ $labels.objective }}: the error budget of 30 days burns {{ $value | humanize }} times too fast',
    meaning: 'At this pace the error budget of 30 days is gone within two to five days.',
    expression: (span) => burning('page', span),
  },
  {
    ...BURNING,
    name: 'BatonLatencyBurnSlow',
    severity: 'ticket',
    summary:
      'handoffs by {{ $labels.transport }} miss {{ $labels.objective }}: the error budget of 30 days burns {{ $value | humanize }} times too fast',
    meaning: 'The error budget will not last for 30 days.',
    expression: (span) => burning('ticket', span),
  },
  {
    ...BURNING,
    name: 'BatonPairSlow',
    severity: 'ticket',
    summary: 'handoffs from {{ $labels.from_agent }} to {{ $labels.to_agent }} stay too slow',
    meaning:
      'One pair of agents misses its target for long: a bottleneck in that receiver’s intake.',
    expression: (span) => {
      const { shortSeconds, longSeconds, rateMin } = PAIR_ALARM
      const pair = (seconds: number) => burnSeries('pair', span(seconds))
      return `${pair(longSeconds)} > ${rateMin}
and ${pair(shortSeconds)} > ${rateMin}
and on (transport, from_agent, to_agent) ${handoffsSeries('pair', span(longSeconds))} >= ${TRAFFIC_MIN}`
    },
    forSeconds: 15 * MINUTE,
  },
  rateAlert({
    rate: 'validation_failures',
    name: 'BatonValidationFailures',
    severity: 'ticket',
    summary: '{{ $value | humanizePercentage }} of handoffs are refused by a check',
    meaning: 'More than 2 % of the handoffs that receivers check are refused.',
  }),
  rateAlert({
    rate: 'safety_violations',
    name: 'BatonSafetyViolations',
    severity: 'page',
    summary: 'the safety scan stops {{ $value | humanizePercentage }} of handoffs',
    meaning:
      'More than 0.1 % of handoffs carry what the scanner rejects; none of them was executed.',
  }),
  rateAlert({
    rate: 'rollbacks',
    name: 'BatonRollbacks',
    severity: 'ticket',
    summary: '{{ $value | humanizePercentage }} of handoffs are rolled back',
    meaning: 'More than 1 % of handoffs end at their sender’s checkpoint.',
  }),
  {
    name: 'BatonCompressionSpike',
    severity: 'ticket',
    area: 'service level',
    summary:
      '{{ $value | humanizePercentage }} of handoffs need compression, twice as many as a day ago',
    meaning:
      'Contexts grow: twice the share of the day before, and more than a tenth, is compressed.',
    expression: (span) => {
      const now = rateSeries('compressions', span(HOUR))
      return `${now} > 0.1
and ${now} > 2 * (${now} offset ${span(DAY)})
and ${wholeSeries('compressions', span(HOUR))} >= ${TRAFFIC_MIN}`
    },
    forSeconds: 15 * MINUTE,
  },
]

/** Any window pair of this severity that burns too fast in both of its windows. */
function burning(severity: BurnAlarm['severity'], span: SpanWriter): string {
  return BURN_ALARMS.filter((alarm) => alarm.severity === severity)
    .map(({ shortSeconds, longSeconds, rateMin }) => {
      const burn = (seconds: number) => burnSeries('transport', span(seconds))
      return `(
  ${burn(longSeconds)} > ${rateMin}
  and ${burn(shortSeconds)} > ${rateMin}
  and on (transport) ${handoffsSeries('transport', span(longSeconds))} >= ${TRAFFIC_MIN}
)`
    })
    .join('\nor\n')
}

interface RateAlert extends Pick<Alert, 'name' | 'severity' | 'summary' | 'meaning'> {
  readonly rate: string
}

function rateAlert({ rate: id, ...texts }: RateAlert): Alert {
  const limit = RATES.find((rate) => rate.id === id)?.limit
  if (limit === undefined) throw new Error(`there is no rate ${id} with a limit`)
  return {
    ...texts,
    area: 'service level',
    keepFiringSeconds: 15 * MINUTE,
    expression: (span) => {
      const long = span(RATE_WINDOWS.longSeconds)
      // Half an event less: `increase` extrapolates, and must not make one of two or two of one.
      return `${rateSeries(id, long)} > ${limit}
and ${rateSeries(id, span(RATE_WINDOWS.shortSeconds))} > ${limit}
and ${wholeSeries(id, long)} >= ${TRAFFIC_MIN}
and ${partsSeries(id, long)} > ${EVENTS_MIN - 0.5}`
    },
  }
}
