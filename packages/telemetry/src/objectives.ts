// What Baton promises about its service, as data: rules, dashboards, documentation, `baton slo` and GET /v2/slo are made from it.
import { LATENCY_TARGETS } from './slo.ts'
import type { HandoffTransport } from './slo.ts'

/** Of 30 days' handoffs by one transport, at least `share` were accepted within `withinSeconds` (E17). */
export interface LatencyObjective {
  readonly id: string
  readonly transport: HandoffTransport
  /** An edge of the latency histogram, so that the share is exact. */
  readonly withinSeconds: number
  readonly share: number
}

/** The period that an error budget is for. */
export const PERIOD_DAYS = 30
/** A share over fewer handoffs than this says nothing: neither an alert nor a verdict is made of it. */
export const TRAFFIC_MIN = 100

/** Of the handoffs by each transport, so many are accepted within its target. */
export const TARGET_SHARE = 0.99
/** "None above" as an objective that can be measured: one of a thousand may. */
const MAXIMUM_SHARE = 0.999

/** What may miss an objective; 1 − 0.999 is not 0.001 in floating point. */
export const errorBudgetOf = (share: number): number => Number((1 - share).toFixed(6))

/** Two for each transport: almost all within the target, all but a few within the maximum. */
export const OBJECTIVES: readonly LatencyObjective[] = Object.entries(LATENCY_TARGETS).flatMap(
  ([name, { p99Ms, maxMs }]) => {
    const transport = name as HandoffTransport
    return [
      {
        id: `${transport}-target`,
        transport,
        withinSeconds: p99Ms / 1_000,
        share: TARGET_SHARE,
      },
      {
        id: `${transport}-maximum`,
        transport,
        withinSeconds: maxMs / 1_000,
        share: MAXIMUM_SHARE,
      },
    ]
  },
)

/**
 * An error budget burns too fast where both windows say so: the long one that it is real, the short one that it
 * goes on. A rate of 1 spends exactly the error budget in the whole period.
 */
export interface BurnAlarm {
  readonly severity: 'page' | 'ticket'
  readonly shortSeconds: number
  readonly longSeconds: number
  readonly rateMin: number
}

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400

/**
 * The four windows of an error budget of 30 days: 2 % of it within an hour, 5 % within six hours (wake somebody), 10 %
 * within a day, 10 % within three days (a working day is early enough).
 */
export const BURN_ALARMS: readonly BurnAlarm[] = [
  { severity: 'page', shortSeconds: 5 * MINUTE, longSeconds: HOUR, rateMin: 14.4 },
  { severity: 'page', shortSeconds: 30 * MINUTE, longSeconds: 6 * HOUR, rateMin: 6 },
  { severity: 'ticket', shortSeconds: 2 * HOUR, longSeconds: DAY, rateMin: 3 },
  { severity: 'ticket', shortSeconds: 6 * HOUR, longSeconds: 3 * DAY, rateMin: 1 },
]

/** A pair of agents is slow for long where its own error budget burns so fast over both windows. */
export const PAIR_ALARM: BurnAlarm = {
  severity: 'ticket',
  shortSeconds: 30 * MINUTE,
  longSeconds: 6 * HOUR,
  rateMin: 6,
}

/** Every series of one metric that has these label values; `_count` behind a histogram's name is its number of observations. */
export interface Series {
  readonly metric: string
  readonly where?: Readonly<Record<string, string>>
}

/** The share that `part` has of `whole` (E18). */
export interface Rate {
  readonly id: string
  readonly title: string
  readonly part: Series
  readonly whole: Series
  /** Above it somebody is told; undefined where only a change against the day before says something. */
  readonly limit?: number
}

const CHECKED: Series = { metric: 'baton_hop_seconds_count', where: { hop: 'validate' } }

/**
 * The rates of E18, of the handoffs that receivers checked: those that were all refused must not divide by the accepted,
 * which are none. Latency and dead letters, the other two metrics of E18, are objectives and a limit.
 */
export const RATES: readonly Rate[] = [
  {
    id: 'validation_failures',
    title: 'refused by a check',
    part: { metric: 'baton_handoff_validation_failures_total' },
    whole: CHECKED,
    limit: 0.02,
  },
  {
    id: 'safety_violations',
    title: 'stopped by the safety scan',
    part: { metric: 'baton_safety_verdicts_total', where: { decision: 'reject' } },
    whole: { metric: 'baton_safety_verdicts_total' },
    limit: 0.001,
  },
  {
    id: 'rollbacks',
    title: 'rolled back to the sender',
    part: { metric: 'baton_rollbacks_total' },
    whole: CHECKED,
    limit: 0.01,
  },
  {
    id: 'compressions',
    title: 'compressed before sending',
    part: { metric: 'baton_context_compressions_total' },
    whole: { metric: 'baton_handoffs_total', where: { outcome: 'QUEUED', reason: '' } },
  },
]

/** The long window judges a rate, the short one lets an alert end soon after its cause. */
export const RATE_WINDOWS = { shortSeconds: 15 * MINUTE, longSeconds: HOUR } as const
/** One bad event alone is no rate, however few handoffs there were. */
export const EVENTS_MIN = 2

/** The metrics that objectives and rates are computed from, by the names of their families. */
export const LEVEL_METRICS: readonly string[] = [
  ...new Set([
    'baton_handoff_latency_seconds',
    ...RATES.flatMap(({ part, whole }) => [part, whole]).map(({ metric }) =>
      metric.replace(/_count$/, ''),
    ),
  ]),
]
