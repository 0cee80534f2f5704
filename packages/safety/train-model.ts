// Trains the scanner's model: the same examples in the same order give the same bytes, on every machine.
import type { Features } from './src/model/features.ts'
import { readFeatures } from './src/model/features.ts'
import { heaviestWindow } from './src/model/windows.ts'

/** A normalised text, and whether it attacks. */
export interface Example {
  readonly text: string
  readonly attack: boolean
  /** How much it counts, 0 to 1. */
  readonly share: number
}

const EPOCHS = 6
const RATE = 0.1
const SEED = 14
const ROOT_ONE = 65_536

/** Weights of as many n-grams as are asked for, a power of two. Logistic in kind, but with a curve that no library rounds. */
export function trainModel(examples: readonly Example[], size: number): Int8Array {
  const read = examples.map((example) => ({ ...example, features: readFeatures(example.text) }))
  const weights = new Float64Array(size)
  const squares = new Float64Array(size)
  let bias = 0
  const random = randomNumbers(SEED)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { features, attack, share } of shuffled(read, random)) {
      const window = heaviestWindow(features, weights)
      if (window === undefined) continue
      const error = share * ((attack ? 1 : 0) - likelihood(window.score / ROOT_ONE + bias))
      bias += RATE * 0.1 * error
      step({ features, from: window.from, until: window.until, error, weights, squares })
    }
  }
  return quantise(weights)
}

interface Step {
  readonly features: Features
  readonly from: number
  readonly until: number
  readonly error: number
  readonly weights: Float64Array
  readonly squares: Float64Array
}

/** AdaGrad: what was moved often moves less. */
function step({ features, from, until, error, weights, squares }: Step): void {
  const first = features.first[from] ?? 0
  const last = features.first[until] ?? 0
  const slope = error / Math.sqrt(Math.max(1, last - first))
  for (let at = first; at < last; at++) {
    const index = (features.grams[at] ?? 0) & (weights.length - 1)
    squares[index] = (squares[index] ?? 0) + slope * slope
    weights[index] =
      (weights[index] ?? 0) + (RATE * slope) / Math.sqrt((squares[index] ?? 0) + 1e-6)
  }
}

const likelihood = (evidence: number): number =>
  0.5 + (0.5 * evidence) / Math.sqrt(4 + evidence * evidence)

function quantise(weights: Float64Array): Int8Array {
  const most = weights.reduce((max, weight) => Math.max(max, Math.abs(weight)), 0)
  return Int8Array.from(weights, (weight) => (most === 0 ? 0 : Math.round((weight * 127) / most)))
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const other = random() % (last + 1)
    const moved = order[last]
    const taken = order[other]
    if (moved === undefined || taken === undefined) continue
    order[last] = taken
    order[other] = moved
  }
  return order
}

function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}
