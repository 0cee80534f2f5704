// Finds the window of a text that weighs most, by sums of whole numbers: the same on every machine.
import type { Features } from './features.ts'

/** Tokens in a window; each moves on by a quarter of itself. */
const WINDOW_SIZES = [12, 24, 48] as const
const EXPLAINED = 5
const ROOT_ONE = 65_536
const ROOTS = 4096

/** `ROOT_ONE / √n`, as a whole number; a square root is rounded the same everywhere. */
const INVERSE_ROOTS = Int32Array.from({ length: ROOTS }, (_, count) =>
  count === 0 ? 0 : Math.floor(ROOT_ONE / Math.sqrt(count)),
)

/** A part of a text, by its tokens [from, until). */
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

/** The first of the heaviest windows, or undefined where there is no token. The number of weights is a power of two. */
export function heaviestWindow(
  features: Features,
  weights: Int8Array | Float64Array,
): Window | undefined {
  const sums = prefixSums(features, weights)
  let best: Window | undefined
  for (const size of WINDOW_SIZES) {
    for (let from = 0; from < features.tokens; from += size / 4) {
      const until = Math.min(features.tokens, from + size)
      const count = (features.first[until] ?? 0) - (features.first[from] ?? 0)
      const sum = (sums[until] ?? 0) - (sums[from] ?? 0)
      const score = sum * (INVERSE_ROOTS[Math.min(count, ROOTS - 1)] ?? 0)
      if (best === undefined || score > best.score) best = { from, until, score }
      if (until === features.tokens) break
    }
  }
  return best
}

/** The heaviest n-grams of a window, heaviest first, each once. */
export function explainWindow(
  features: Features,
  weights: Int8Array,
  { from, until }: Window,
): Reason[] {
  const reasons = new Map<number, Reason>()
  for (let at = features.first[from] ?? 0; at < (features.first[until] ?? 0); at++) {
    const gram = features.grams[at] ?? 0
    const weight = weights[gram & (weights.length - 1)] ?? 0
    if (weight > 0 && !reasons.has(gram))
      reasons.set(gram, {
        start: features.gramStarts[at] ?? 0,
        end: features.gramEnds[at] ?? 0,
        weight,
      })
  }
  return [...reasons.values()]
    .toSorted((left, right) => right.weight - left.weight || left.start - right.start)
    .slice(0, EXPLAINED)
}

function prefixSums(features: Features, weights: Int8Array | Float64Array): Float64Array {
  const sums = new Float64Array(features.tokens + 1)
  let sum = 0
  for (let token = 0; token < features.tokens; token++) {
    for (let at = features.first[token] ?? 0; at < (features.first[token + 1] ?? 0); at++)
      sum += weights[(features.grams[at] ?? 0) & (weights.length - 1)] ?? 0
    sums[token + 1] = sum
  }
  return sums
}
