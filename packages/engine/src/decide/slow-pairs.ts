// Which pairs of agents are slow for long, and which no longer are: from counts alone.
import type { AgedCounts } from '@baton/store'
import { handoffsWithin, isBurning, OBJECTIVES, PAIR_ALARM } from '@baton/telemetry'
import type { LatencyObjective } from '@baton/telemetry'
import { countsIn } from './aged-counts.ts'

export interface Pair {
  readonly transport: string
  readonly fromAgent: string
  readonly toAgent: string
}

/** A pair is slow once it has been at each of these moments, and fast again when it was at none of the first two. */
const MOMENTS_SECONDS = [0, 300, 600, 900]

/** The ages by which the counts must be summed. */
export const PAIR_AGES_SECONDS: readonly number[] = [
  ...new Set(
    MOMENTS_SECONDS.flatMap((moment) => [
      ...(moment === 0 ? [] : [moment]),
      moment + PAIR_ALARM.shortSeconds,
      moment + PAIR_ALARM.longSeconds,
    ]),
  ),
].toSorted((a, b) => a - b)

export interface JudgedPair extends Pair {
  /** For a quarter of an hour, without a break. */
  readonly isSlow: boolean
  /** Neither now nor five minutes ago. */
  readonly isFast: boolean
}

/** Judges every pair that has counts; those of no known transport have no target and are never slow. */
export function judgePairs(rows: readonly AgedCounts[]): JudgedPair[] {
  return [...Map.groupBy(rows, ({ labels }) => labels)].map(([labels, counts]) => {
    const pair = readPair(labels)
    const target = targetOf(pair.transport)
    const slow = MOMENTS_SECONDS.map(
      (moment) => target !== undefined && wasSlow(counts, target, moment),
    )
    return { ...pair, isSlow: slow.every(Boolean), isFast: !slow.slice(0, 2).some(Boolean) }
  })
}

function wasSlow(
  counts: readonly AgedCounts[],
  { withinSeconds, share }: LatencyObjective,
  moment: number,
): boolean {
  const over = (seconds: number) =>
    handoffsWithin(
      countsIn(counts, PAIR_AGES_SECONDS, { fromSeconds: moment, toSeconds: moment + seconds }),
      withinSeconds,
    )
  return isBurning(PAIR_ALARM, over, share)
}

/** The labels of the latency metric. */
export function readPair(labels: string): Pair {
  const { transport = '', from_agent = '', to_agent = '' } = JSON.parse(labels) as PairLabels
  return { transport, fromAgent: from_agent, toAgent: to_agent }
}

type PairLabels = Partial<Record<'transport' | 'from_agent' | 'to_agent', string>>

/** What 99 of 100 handoffs by a transport must keep. */
export const targetOf = (transport: string): LatencyObjective | undefined =>
  OBJECTIVES.find((objective) => objective.id === `${transport}-target`)
