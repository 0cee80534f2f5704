// The recorded series: their names in one place, and the rules that compute them.
import {
  BURN_ALARMS,
  errorBudgetOf,
  OBJECTIVES,
  PAIR_ALARM,
  PERIOD_DAYS,
  RATE_WINDOWS,
  RATES,
} from '../objectives.ts'
import type { LatencyObjective, Series } from '../objectives.ts'
import { DAY } from './alert.ts'
import type { SpanWriter } from './alert.ts'

export interface RecordingRule {
  readonly record: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
}

type Level = 'transport' | 'pair'

const LABELS: Readonly<Record<Level, string>> = {
  transport: 'transport',
  pair: 'transport, from_agent, to_agent',
}

/** How many times too fast an error budget burns: 1 spends it exactly in the period. */
export const burnSeries = (level: Level, window: string) =>
  `baton:${level}_latency_burn:rate${window}`
/** Handoffs that were accepted in the window. */
export const handoffsSeries = (level: Level, window: string) =>
  `baton:${level}_handoffs:increase${window}`
/** What is left of an error budget: 1 is all, 0 none, below 0 it is overdrawn. */
export const BUDGET_LEFT = 'baton:transport_error_budget:left'
export const rateSeries = (id: string, window: string) => `baton:${id}:ratio${window}`
export const wholeSeries = (id: string, window: string) => `baton:${id}_whole:increase${window}`
export const partsSeries = (id: string, window: string) => `baton:${id}_parts:increase${window}`

const LATENCY = 'baton_handoff_latency_seconds'

/** Prometheus 3 writes the edge 1 as 1.0. */
const edge = (seconds: number): string =>
  Number.isInteger(seconds) ? `le=~"${seconds}([.]0)?"` : `le="${seconds}"`

/** The selector of a series; what `where` names must be exactly so. */
function selector({ metric, where = {} }: Series): string {
  const matchers = Object.entries(where).map(([label, value]) => `${label}="${value}"`)
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(', ')}}`
}

/** Of what was accepted in `window`, the share that took longer than the objective allows. */
function tooSlow({ transport, withinSeconds }: LatencyObjective, level: Level, window: string) {
  const of = (series: string) => `sum by (${LABELS[level]}) (rate(${series}[${window}]))`
  const inTime = of(`${LATENCY}_bucket{transport="${transport}", ${edge(withinSeconds)}}`)
  return `1 - ${inTime} / ${of(`${LATENCY}_count{transport="${transport}"}`)}`
}

function burnRule(objective: LatencyObjective, level: Level, window: string): RecordingRule {
  return {
    record: burnSeries(level, window),
    expr: `(${tooSlow(objective, level, window)}) / ${errorBudgetOf(objective.share)}`,
    labels: { objective: objective.id },
  }
}

function handoffsRule(level: Level, window: string): RecordingRule {
  return {
    record: handoffsSeries(level, window),
    expr: `sum by (${LABELS[level]}) (increase(${LATENCY}_count[${window}]))`,
  }
}

const unique = (numbers: readonly number[]) => [...new Set(numbers)].toSorted((a, b) => a - b)

/** Burn rates and traffic of every transport, over every window that an alarm looks at. */
export function latencyRules(span: SpanWriter): RecordingRule[] {
  const windows = unique(BURN_ALARMS.flatMap((alarm) => [alarm.shortSeconds, alarm.longSeconds]))
  return windows
    .map(span)
    .flatMap((window) => [
      handoffsRule('transport', window),
      ...OBJECTIVES.map((objective) => burnRule(objective, 'transport', window)),
    ])
}

/** The same for every pair of agents, for the target alone and over few windows: pairs may be many. */
export function pairRules(span: SpanWriter): RecordingRule[] {
  const targets = OBJECTIVES.filter(({ id }) => id.endsWith('-target'))
  return unique([PAIR_ALARM.shortSeconds, PAIR_ALARM.longSeconds])
    .map(span)
    .flatMap((window) => [
      handoffsRule('pair', window),
      ...targets.map((objective) => burnRule(objective, 'pair', window)),
    ])
}

/** What is left of each error budget; it needs a store that keeps the whole period. */
export function budgetRules(span: SpanWriter): RecordingRule[] {
  return OBJECTIVES.map((objective) => {
    const { expr, labels } = burnRule(objective, 'transport', span(PERIOD_DAYS * DAY))
    return { record: BUDGET_LEFT, expr: `1 - ${expr}`, ...(labels && { labels }) }
  })
}

/** The rates of E18 with the events behind them. */
export function rateRules(span: SpanWriter): RecordingRule[] {
  return [RATE_WINDOWS.shortSeconds, RATE_WINDOWS.longSeconds].map(span).flatMap((window) =>
    RATES.flatMap(({ id, part, whole }) => {
      const risen = (series: Series) => `sum(increase(${selector(series)}[${window}]))`
      return [
        { record: partsSeries(id, window), expr: risen(part) },
        { record: wholeSeries(id, window), expr: risen(whole) },
        {
          record: rateSeries(id, window),
          expr: `${risen(part)} / (${risen(whole)} > 0)`,
        },
      ]
    }),
  )
}
