// Finds the window of a text that weighs most, by sums of whole numbers: the same on every machine.
import { readGrams } from './grams.ts'
import type { GramReader } from './grams.ts'

/** Words in a window, powers of two; each moves on by a quarter of itself. */
const WINDOW_SIZES = [32, 64, 128] as const
const STEPS = 4
const [SHORTEST] = WINDOW_SIZES
/** So many n-grams are at least expected: a few words alone say little. */
const GRAMS_MIN = 150
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

/** The first of the heaviest windows of a text, or undefined where there is no word; in constant memory. */
export function weighText(text: string, weights: Weights): Window | undefined {
  const weigher = new Weigher(weights)
  readGrams(text, weigher)
  return weigher.search.heaviest()
}

class Weigher implements GramReader {
  readonly search = new WindowSearch()
  readonly #weights: Weights
  readonly #mask: number
  #sum = 0
  #count = 0

  constructor(weights: Weights) {
    this.#weights = weights
    this.#mask = weights.length - 1
  }

  gram(hash: number): void {
    this.#sum += this.#weights[hash & this.#mask] ?? 0
    this.#count += 1
  }

  word(): void {
    this.search.add(this.#sum, this.#count)
  }
}

/** More words than the longest window, and a power of two. */
const KEPT = 256

/** Weighs each window when its last word is known. */
export class WindowSearch {
  /** For each of the last words what all n-grams up to it weigh, and how many they are. */
  readonly #sums = new Float64Array(KEPT)
  readonly #counts = new Int32Array(KEPT)
  readonly #best: (Window | undefined)[] = WINDOW_SIZES.map(() => undefined)
  #words = 0

  /** Takes the next word, with what all n-grams up to it weigh and how many they are. */
  add(sum: number, count: number): void {
    const until = (this.#words += 1)
    this.#sums[until & (KEPT - 1)] = sum
    this.#counts[until & (KEPT - 1)] = count
    if (until < SHORTEST || (until & (SHORTEST / STEPS - 1)) !== 0) return
    for (let at = 0; at < WINDOW_SIZES.length; at++) {
      const size = WINDOW_SIZES[at] ?? 0
      if (until >= size && (until & (size / STEPS - 1)) === 0) this.#weigh(at, until - size, until)
    }
  }

  /** The first of the heaviest, shorter ones before longer ones. */
  heaviest(): Window | undefined {
    const words = this.#words
    if (words === 0) return undefined
    for (const [at, size] of WINDOW_SIZES.entries()) {
      const step = size / STEPS
      this.#weigh(at, Math.max(0, Math.ceil((words - size) / step) * step), words)
    }
    let heaviest: Window | undefined
    for (const window of this.#best)
      if (heaviest === undefined || (window !== undefined && window.score > heaviest.score))
        heaviest = window
    return heaviest
  }

  #weigh(at: number, from: number, until: number): void {
    const [first, last] = [from & (KEPT - 1), until & (KEPT - 1)]
    const count = (this.#counts[last] ?? 0) - (this.#counts[first] ?? 0)
    const score = ((this.#sums[last] ?? 0) - (this.#sums[first] ?? 0)) * inverseRoot(count)
    const best = this.#best[at]
    if (best === undefined || score > best.score) this.#best[at] = { from, until, score }
  }
}

/** `ROOT_ONE / √count`, in whole numbers. */
export const inverseRoot = (count: number): number =>
  INVERSE_ROOTS[Math.min(count, GRAMS_MAX - 1)] ?? 0

/** Where a window stands, and its heaviest n-grams, heaviest first, each once. */
export interface Explained {
  readonly start: number
  readonly end: number
  readonly reasons: readonly Reason[]
}

export function explainWindow(text: string, weights: Weights, { from, until }: Window): Explained {
  const reasons = new Map<number, Reason>()
  let words = 0
  let [start, end] = [0, 0]
  readGrams(text, {
    gram: (hash, gramStart, gramEnd) => {
      if (words < from || words >= until || reasons.has(hash)) return
      const weight = weights[hash & (weights.length - 1)] ?? 0
      if (weight > 0) reasons.set(hash, { start: gramStart, end: gramEnd, weight })
    },
    word: (wordStart, wordEnd) => {
      if (words === from) start = wordStart
      words += 1
      if (words === until) end = wordEnd
    },
  })
  // A word as long as a piece of one is both: it is named once.
  const named = new Set<string>()
  const heaviest = [...reasons.values()]
    .toSorted((left, right) => right.weight - left.weight || left.start - right.start)
    .filter((reason) => {
      const said = text.slice(reason.start, reason.end)
      const isNew = !named.has(said)
      named.add(said)
      return isNew
    })
    .slice(0, EXPLAINED)
  return { start, end, reasons: heaviest }
}
