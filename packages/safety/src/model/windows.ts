// Finds the window of a text that weighs most, by sums of whole numbers: the same on every machine.
import type { Grams } from './grams.ts'

/** Words in a window; each moves on by a quarter of itself. */
const WINDOW_SIZES = [32, 64, 128] as const
/** So many n-grams are at least expected: a few words alone say little. */
const GRAMS_MIN = 60
const GRAMS_MAX = 8_192
const EXPLAINED = 5
export const ROOT_ONE = 65_536

/** A square root is rounded the same everywhere. */
const INVERSE_ROOTS = Int32Array.from({ length: GRAMS_MAX }, (_, count) =>
  Math.floor(ROOT_ONE / Math.sqrt(Math.max(count, GRAMS_MIN))),
)

/** A part of a text, by its words [from, until). The score is in weights times `ROOT_ONE`. */
export interface Window {
  readonly from: number
  readonly until: number
  readonly score: number
}

/** An n-gram that speaks for the score of a window, with its place in the text. */
export interface Reason {
  readonly start: number
  readonly end: number
  readonly weight: number
}

/** Weights by hash; their number is a power of two. */
export type Weights = Int8Array | Float64Array

/** The first of the heaviest windows, or undefined where there is no word. */
export function heaviestWindow(grams: Grams, weights: Weights): Window | undefined {
  const words = grams.starts.length
  const sums = sumsBefore(grams, weights)
  let best: Window | undefined
  for (const size of WINDOW_SIZES) {
    for (let from = 0; from < words; from += size / 4) {
      const until = Math.min(words, from + size)
      const count = (grams.first[until] ?? 0) - (grams.first[from] ?? 0)
      const sum = (sums[until] ?? 0) - (sums[from] ?? 0)
      const score = sum * inverseRoot(count)
      if (best === undefined || score > best.score) best = { from, until, score }
      if (until === words) break
    }
  }
  return best
}

/** `ROOT_ONE / √count`, in whole numbers. */
export const inverseRoot = (count: number): number =>
  INVERSE_ROOTS[Math.min(count, GRAMS_MAX - 1)] ?? 0

/** The heaviest n-grams of a window, heaviest first, each once. */
export function explainWindow(grams: Grams, weights: Weights, { from, until }: Window): Reason[] {
  const reasons = new Map<number, Reason>()
  for (let at = grams.first[from] ?? 0; at < (grams.first[until] ?? 0); at++) {
    const hash = grams.hashes[at] ?? 0
    const weight = weights[hash & (weights.length - 1)] ?? 0
    if (weight > 0 && !reasons.has(hash))
      reasons.set(hash, { start: grams.gramStarts[at] ?? 0, end: grams.gramEnds[at] ?? 0, weight })
  }
  return [...reasons.values()]
    .toSorted((left, right) => right.weight - left.weight || left.start - right.start)
    .slice(0, EXPLAINED)
}

/** For each word, and for the end, what all n-grams before it weigh. */
function sumsBefore({ starts, first, hashes }: Grams, weights: Weights): Float64Array {
  const sums = new Float64Array(starts.length + 1)
  const mask = weights.length - 1
  let sum = 0
  for (let word = 0; word < starts.length; word++) {
    const end = first[word + 1] ?? 0
    for (let at = first[word] ?? 0; at < end; at++) sum += weights[(hashes[at] ?? 0) & mask] ?? 0
    sums[word + 1] = sum
  }
  return sums
}
