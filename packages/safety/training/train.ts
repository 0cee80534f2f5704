// Trains the scanner's model: the same examples in the same order give the same bytes, on every machine.
import { readGrams } from '../src/model/grams.ts'
import { inverseRoot, ROOT_ONE, WindowSearch } from '../src/model/windows.ts'
import type { Weights, Window } from '../src/model/windows.ts'
import { randomNumbers } from './random.ts'

/** The hashed n-grams of a text; those of word `i` are `hashes[first[i]]` up to `hashes[first[i + 1]]`. */
export interface Grams {
  readonly hashes: Int32Array
  readonly first: Int32Array
}

/** Reads a normalised text once: it is learned from again and again. */
export function gramsOf(text: string): Grams {
  const hashes: number[] = []
  const first = [0]
  readGrams(text, {
    gram: (hash) => hashes.push(hash),
    word: () => first.push(hashes.length),
  })
  return { hashes: Int32Array.from(hashes), first: Int32Array.from(first) }
}

/** The first of the heaviest windows, as it is found in the text itself. */
export function heaviestWindow({ hashes, first }: Grams, weights: Weights): Window | undefined {
  const search = new WindowSearch()
  const mask = weights.length - 1
  let sum = 0
  for (let word = 1; word < first.length; word++) {
    const end = first[word] ?? 0
    for (let at = first[word - 1] ?? 0; at < end; at++)
      sum += weights[(hashes[at] ?? 0) & mask] ?? 0
    search.add(sum, end)
  }
  return search.heaviest()
}

/** The n-grams of a normalised text, and whether it attacks. */
export interface Example {
  readonly grams: Grams
  readonly attack: boolean
  /** How much it counts. */
  readonly share: number
}

const EPOCHS = 6
const RATE = 0.1
const DECAY = 1e-4
const SEED = 14
/** What is learned already moves nothing. */
const ERROR_MIN = 1e-3

/** Weights as they were learned, and as they are kept: of one byte. */
export interface Trained {
  readonly weights: Int8Array
  /** One of the learned units, in weights; scores are in them too. */
  readonly unit: number
}

/**
 * Weights of as many n-grams as are asked for, a power of two: logistic regression over the heaviest window of each example, by
 * AdaGrad.
 */
export function trainModel(examples: readonly Example[], size: number): Trained {
  const weights = new Float64Array(size)
  const squares = new Float64Array(size)
  const random = randomNumbers(SEED)
  let bias = 0
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { grams, attack, share } of shuffled(examples, random)) {
      const window = heaviestWindow(grams, weights)
      if (window === undefined) continue
      const error = share * ((attack ? 1 : 0) - likelihood(window.score / ROOT_ONE + bias))
      bias += RATE * 0.1 * error
      if (Math.abs(error) >= ERROR_MIN) step(grams, window, { error, weights, squares })
    }
  }
  return quantise(weights)
}

interface Learning {
  readonly error: number
  readonly weights: Float64Array
  readonly squares: Float64Array
}

/** AdaGrad: what was moved often moves less. */
function step(
  { first, hashes }: Grams,
  { from, until }: Window,
  { error, weights, squares }: Learning,
): void {
  const [start, end] = [first[from] ?? 0, first[until] ?? 0]
  const slope = (error * inverseRoot(end - start)) / ROOT_ONE
  for (let at = start; at < end; at++) {
    const index = (hashes[at] ?? 0) & (weights.length - 1)
    const weight = weights[index] ?? 0
    const change = slope - DECAY * weight
    const square = (squares[index] ?? 0) + change * change
    squares[index] = square
    weights[index] = weight + (RATE * change) / Math.sqrt(square + 1e-6)
  }
}

/** The logistic curve, made of sums, products and quotients: those are rounded the same everywhere, and an exponential is not. */
function likelihood(evidence: number): number {
  const bounded = Math.max(-16, Math.min(16, evidence))
  // (1 + x / 1024) to the power of 1024 is close to e to the power of x.
  let power = 1 + Math.abs(bounded) / 1024
  for (let doubling = 0; doubling < 10; doubling++) power *= power
  return bounded >= 0 ? power / (1 + power) : 1 / (1 + power)
}

function quantise(learned: Float64Array): Trained {
  const most = learned.reduce((max, weight) => Math.max(max, Math.abs(weight)), 0)
  const unit = most === 0 ? 1 : 127 / most
  return { weights: Int8Array.from(learned, (weight) => Math.round(weight * unit)), unit }
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const other = random() % (last + 1)
    const [moved, taken] = [order[last], order[other]]
    if (moved === undefined || taken === undefined) continue
    order[last] = taken
    order[other] = moved
  }
  return order
}
