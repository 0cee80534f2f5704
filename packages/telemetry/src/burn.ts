// How an error budget stands, from counts alone: what is left of it, how fast it burns, whether that can be judged.
import { BURN_ALARMS, errorBudgetOf, PERIOD_DAYS, TRAFFIC_MIN } from './objectives.ts'
import type { BurnAlarm } from './objectives.ts'
import { LATENCY_EDGES_SECONDS } from './slo.ts'

/** Handoffs that were accepted in some span of time, and how many of them soon enough. */
export interface Handoffs {
  readonly total: number
  readonly inTime: number
}

/**
 * Met, or spent too fast for one of the alarms, or nothing left. Of fewer than 100 handoffs nothing is said:
 * one that is late among ten is no service level.
 */
export const LEVEL_STATES = ['met', 'burning', 'exhausted', 'too_little_traffic'] as const
export type LevelState = (typeof LEVEL_STATES)[number]

/** What is asked of counts: those of the last so many seconds. */
export type Over = (seconds: number) => Handoffs

export const PERIOD_SECONDS = PERIOD_DAYS * 86_400

/** Every span that an alarm or an error budget looks at, the shortest first. */
export const BURN_WINDOWS_SECONDS: readonly number[] = [
  ...new Set([
    ...BURN_ALARMS.flatMap(({ shortSeconds, longSeconds }) => [shortSeconds, longSeconds]),
    PERIOD_SECONDS,
  ]),
].toSorted((a, b) => a - b)

/** Of counts by bucket, each with those below it: how many there are, and how many within an edge. */
export function handoffsWithin(counts: readonly number[], withinSeconds: number): Handoffs {
  const edge = LATENCY_EDGES_SECONDS.indexOf(withinSeconds)
  if (edge === -1) throw new RangeError(`${withinSeconds} s is no edge of the latency histogram`)
  return { total: counts.at(-1) ?? 0, inTime: counts[edge] ?? 0 }
}

/** How many times too fast an error budget is spent: 1 spends exactly what the share allows. Null where nothing came. */
export function burnRate({ total, inTime }: Handoffs, share: number): number | null {
  if (total === 0) return null
  return (total - inTime) / total / errorBudgetOf(share)
}

/** What is left of an error budget: 1 is all of it, below 0 it is overdrawn. Null where nothing came. */
export function errorBudgetLeft(handoffs: Handoffs, share: number): number | null {
  const rate = burnRate(handoffs, share)
  return rate === null ? null : 1 - rate
}

/** Whether both windows of an alarm burn too fast, on enough handoffs to say so. */
export function isBurning(alarm: BurnAlarm, over: Over, share: number): boolean {
  const long = over(alarm.longSeconds)
  const burns = (handoffs: Handoffs) => (burnRate(handoffs, share) ?? 0) > alarm.rateMin
  return long.total >= TRAFFIC_MIN && burns(long) && burns(over(alarm.shortSeconds))
}

export function judgeLevel(over: Over, share: number): LevelState {
  const period = over(PERIOD_SECONDS)
  if (period.total < TRAFFIC_MIN) return 'too_little_traffic'
  if ((errorBudgetLeft(period, share) ?? 1) <= 0) return 'exhausted'
  return BURN_ALARMS.some((alarm) => isBurning(alarm, over, share)) ? 'burning' : 'met'
}

/**
 * The time within which a share of what the buckets hold stayed, interpolated as Prometheus does; beyond the last edge
 * it is that edge. Null where the buckets are empty.
 */
export function quantileSeconds(counts: readonly number[], quantile: number): number | null {
  const total = counts.at(-1) ?? 0
  if (total === 0) return null
  const rank = quantile * total
  const bucket = counts.findIndex((count) => count >= rank)
  const upper = LATENCY_EDGES_SECONDS[bucket]
  if (upper === undefined) return LATENCY_EDGES_SECONDS.at(-1) ?? null
  const lower = LATENCY_EDGES_SECONDS[bucket - 1] ?? 0
  const below = counts[bucket - 1] ?? 0
  const inside = (counts[bucket] ?? 0) - below
  return inside === 0 ? upper : lower + ((upper - lower) * (rank - below)) / inside
}
