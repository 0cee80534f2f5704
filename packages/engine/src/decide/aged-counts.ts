// Counts that were summed by age, asked for spans of time.
import type { AgedCounts } from '@baton/store'

/** The counts of one series by the age they have reached. */
export type ByAge = readonly Pick<AgedCounts, 'age' | 'counts'>[]

/** A question about one span of the past: from so many seconds ago back to so many. */
interface Span {
  readonly fromSeconds?: number
  readonly toSeconds: number
}

/** Answers the sum of what lies in a span; both ends of it are ages that the counts were summed by, or now. */
export function countsIn(
  rows: ByAge,
  agesSeconds: readonly number[],
  { fromSeconds = 0, toSeconds }: Span,
): readonly number[] {
  const first = fromSeconds === 0 ? 0 : placeOf(agesSeconds, fromSeconds) + 1
  const last = placeOf(agesSeconds, toSeconds)
  return rows.filter(({ age }) => age >= first && age <= last).reduce(added, [])
}

function placeOf(agesSeconds: readonly number[], seconds: number): number {
  const place = agesSeconds.indexOf(seconds)
  if (place === -1) throw new RangeError(`nothing was summed by an age of ${seconds} s`)
  return place
}

function added(sum: readonly number[], { counts }: ByAge[number]): readonly number[] {
  return counts.map((count, index) => count + (sum[index] ?? 0))
}
