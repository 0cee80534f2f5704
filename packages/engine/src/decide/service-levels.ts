// How the service stands against what it promises, from counts by age alone.
import type { AgedCounts } from '@baton/store'
import {
  BURN_WINDOWS_SECONDS,
  burnRate,
  errorBudgetLeft,
  errorBudgetOf,
  EVENTS_MIN,
  handoffsWithin,
  judgeLevel,
  LATENCY_METRIC,
  OBJECTIVES,
  PERIOD_SECONDS,
  quantileSeconds,
  RATE_WINDOWS,
  RATES,
  seriesKey,
  TARGET_SHARE,
  TRAFFIC_MIN,
} from '@baton/telemetry'
import type { LatencyObjective, LevelState, Rate } from '@baton/telemetry'
import { countsIn } from './aged-counts.ts'
import type { ByAge } from './aged-counts.ts'
import { readPair, targetOf } from './slow-pairs.ts'
import type { Pair } from './slow-pairs.ts'

/** Of what came in by now, per second: the minute under way and the one before. */
export const RECENT_SECONDS = 120
/** The percentiles are of so many. */
const PERCENTILES_SECONDS = 300
const HOURS = 24

const inOrder = (numbers: readonly number[]) => [...new Set(numbers)].toSorted((a, b) => a - b)

/** The ages by which everything must be summed. */
export const LEVEL_AGES_SECONDS = inOrder([
  RECENT_SECONDS,
  RATE_WINDOWS.shortSeconds,
  ...BURN_WINDOWS_SECONDS,
])
/** The ages by which the latency of each transport must be summed, for its last day. */
export const HOUR_AGES_SECONDS = Array.from({ length: HOURS }, (_, hour) => (hour + 1) * 3_600)

/** How a share that was promised is kept; null where nothing came. */
export interface Level {
  readonly withinMs: number
  /** So many of all handoffs must be accepted within it. */
  readonly share: number
  readonly state: LevelState
  /** Of 30 days. */
  readonly handoffs: number
  readonly inTime: number
  readonly attained: number | null
  readonly errorBudgetLeft: number | null
  /** The shortest window first. */
  readonly burn: readonly BurnWindow[]
}

interface BurnWindow {
  readonly seconds: number
  readonly handoffs: number
  /** How many times too fast the budget is spent. */
  readonly rate: number | null
}

export interface Recent {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

export interface ObjectiveLevel extends Level {
  readonly id: string
  readonly transport: string
  /** The share within it in each of the last 24 hours, the newest last. */
  readonly hours: readonly (number | null)[]
}

export interface PairLevel extends Level, Pair, Recent {}

export interface RateLevel {
  readonly id: string
  readonly title: string
  /** Null where only a change says something. */
  readonly limit: number | null
  /** `no_limit` where only a change says something. */
  readonly state: RateState
  /** The shortest first. */
  readonly windows: readonly RateWindow[]
}

export const RATE_STATES = ['within', 'over', 'too_little_traffic', 'no_limit'] as const
type RateState = (typeof RATE_STATES)[number]

interface RateWindow {
  readonly seconds: number
  readonly part: number
  readonly whole: number
  readonly share: number | null
}

export interface ServiceLevels {
  readonly objectives: readonly ObjectiveLevel[]
  /** Those of which least is left first; those of which too little came last. */
  readonly pairs: readonly PairLevel[]
  readonly rates: readonly RateLevel[]
  readonly recent: Readonly<Record<RecentId, Recent>>
}

/** What is shown per second: sent, accepted by receivers, refused by a check, rolled back. */
type RecentId = 'sent' | 'accepted' | 'refused' | 'rolledBack'

export interface LevelCounts {
  /** Every series, by LEVEL_AGES_SECONDS. */
  readonly rows: readonly AgedCounts[]
  /** The latency by transport, by HOUR_AGES_SECONDS. */
  readonly hours: readonly AgedCounts[]
  /** What RECENT_SECONDS cover by now. */
  readonly recentSeconds: number
}

export function judgeServiceLevels({ rows, hours, recentSeconds }: LevelCounts): ServiceLevels {
  const latency = rows.filter(({ metric }) => metric === LATENCY_METRIC)
  const byTransport = Map.groupBy(latency, ({ labels }) => readPair(labels).transport)
  const bySeries = Map.groupBy(rows, ({ metric, labels }) => `${metric} ${labels}`)
  const of = (id: string) => {
    const rate = RATES.find((one) => one.id === id)
    return rate === undefined ? [[], []] : partAndWhole(rate, bySeries)
  }
  const [refused = []] = of('validation_failures')
  const [rolledBack = []] = of('rollbacks')
  const [, sent = []] = of('compressions')
  return {
    objectives: OBJECTIVES.map((objective) => ({
      id: objective.id,
      transport: objective.transport,
      ...levelOf(byTransport.get(objective.transport) ?? [], objective),
      hours: hoursOf(
        hours.filter(({ labels }) => labels === objective.transport),
        objective,
      ),
    })),
    pairs: pairsOf(latency, recentSeconds),
    rates: [latencyRate(byTransport), ...RATES.map((rate) => rateOf(rate, bySeries))],
    recent: {
      sent: recentOf(sent, recentSeconds),
      accepted: recentOf(latency, recentSeconds),
      refused: recentOf(refused, recentSeconds),
      rolledBack: recentOf(rolledBack, recentSeconds),
    },
  }
}

const within = (rows: ByAge, seconds: number) =>
  countsIn(rows, LEVEL_AGES_SECONDS, { toSeconds: seconds })

function levelOf(rows: ByAge, { withinSeconds, share }: LatencyObjective): Level {
  const over = (seconds: number) => handoffsWithin(within(rows, seconds), withinSeconds)
  const period = over(PERIOD_SECONDS)
  return {
    withinMs: withinSeconds * 1_000,
    share,
    state: judgeLevel(over, share),
    handoffs: period.total,
    inTime: period.inTime,
    attained: shareOf(period.inTime, period.total),
    errorBudgetLeft: errorBudgetLeft(period, share),
    burn: BURN_WINDOWS_SECONDS.map((seconds) => {
      const handoffs = over(seconds)
      return { seconds, handoffs: handoffs.total, rate: burnRate(handoffs, share) }
    }),
  }
}

function hoursOf(rows: ByAge, { withinSeconds }: LatencyObjective): (number | null)[] {
  return Array.from({ length: HOURS }, (_, index) => {
    const counts = rows.find(({ age }) => age === HOURS - 1 - index)?.counts ?? []
    const { inTime, total } = handoffsWithin(counts, withinSeconds)
    return shareOf(inTime, total)
  })
}

/** A series that counts handoffs has no percentiles. */
function recentOf(rows: ByAge, seconds: number): Recent {
  const counts = within(rows, PERCENTILES_SECONDS)
  const quantile = (share: number) => {
    const value = counts.length > 1 ? quantileSeconds(counts, share) : null
    return value === null ? null : Math.round(value * 1_000)
  }
  const perSecond = (within(rows, RECENT_SECONDS).at(-1) ?? 0) / seconds
  return { perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

function pairsOf(latency: readonly AgedCounts[], recentSeconds: number): PairLevel[] {
  const pairs = [...Map.groupBy(latency, ({ labels }) => labels)].flatMap(([labels, rows]) => {
    const pair = readPair(labels)
    const target = targetOf(pair.transport)
    if (target === undefined) return []
    return [{ ...pair, ...levelOf(rows, target), ...recentOf(rows, recentSeconds) }]
  })
  const isJudged = ({ state }: PairLevel) => Number(state !== 'too_little_traffic')
  return pairs.toSorted(
    (a, b) =>
      isJudged(b) - isJudged(a) ||
      (isJudged(a) ? (a.errorBudgetLeft ?? 1) - (b.errorBudgetLeft ?? 1) : 0) ||
      b.handoffs - a.handoffs,
  )
}

function partAndWhole({ part, whole }: Rate, bySeries: ReadonlyMap<string, ByAge>): [ByAge, ByAge] {
  return [bySeries.get(seriesKey(part)) ?? [], bySeries.get(seriesKey(whole)) ?? []]
}

function rateOf(rate: Rate, bySeries: ReadonlyMap<string, ByAge>): RateLevel {
  const [part, whole] = partAndWhole(rate, bySeries)
  const last = (rows: ByAge, seconds: number) => within(rows, seconds).at(-1) ?? 0
  const { id, title, limit = null } = rate
  return judgeRate({ id, title, limit }, (seconds) => [last(part, seconds), last(whole, seconds)])
}

/** The first of the six of E18: over every transport, each by its own target. */
function latencyRate(byTransport: ReadonlyMap<string, ByAge>): RateLevel {
  const targets = [...byTransport].flatMap(([transport, rows]) => {
    const target = targetOf(transport)
    return target === undefined ? [] : [{ rows, target }]
  })
  const limit = errorBudgetOf(TARGET_SHARE)
  return judgeRate({ id: 'latency', title: 'accepted later than the target', limit }, (seconds) => {
    const each = targets.map(({ rows, target }) =>
      handoffsWithin(within(rows, seconds), target.withinSeconds),
    )
    const total = each.reduce((sum, one) => sum + one.total, 0)
    return [total - each.reduce((sum, one) => sum + one.inTime, 0), total]
  })
}

type Judged = Pick<RateLevel, 'id' | 'title' | 'limit'>

/** As the alerts judge: above the limit in both windows, of enough handoffs, and not by one event alone. */
function judgeRate(rate: Judged, over: (seconds: number) => readonly [number, number]): RateLevel {
  const windows = [RATE_WINDOWS.shortSeconds, RATE_WINDOWS.longSeconds].map((seconds) => {
    const [part, whole] = over(seconds)
    return { seconds, part, whole, share: shareOf(part, whole) }
  })
  const { limit } = rate
  const long = windows.at(-1)
  if (limit === null) return { ...rate, windows, state: 'no_limit' }
  if ((long?.whole ?? 0) < TRAFFIC_MIN) return { ...rate, windows, state: 'too_little_traffic' }
  const isOver = windows.every(({ share }) => (share ?? 0) > limit)
  return { ...rate, windows, state: isOver && (long?.part ?? 0) >= EVENTS_MIN ? 'over' : 'within' }
}

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
