// Repeatable randomness: every test prints its seed, the same in each run unless BATON_TEST_SEED names another or `random`.
import { randomInt } from 'node:crypto'

export interface SeededRandom {
  readonly seed: number
  /** Like Math.random: at least 0, below 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number
  pick<Item>(items: readonly Item[]): Item
}

const SEED_DEFAULT = 1

/** A generator that prints how to replay it. `seed` wins over BATON_TEST_SEED. */
export function seededRandom(name: string, seed: number = chosenSeed()): SeededRandom {
  process.stderr.write(`testkit: ${name}: replay with BATON_TEST_SEED=${seed}\n`)
  return randomFrom(seed)
}

function chosenSeed(): number {
  const named = process.env['BATON_TEST_SEED'] ?? String(SEED_DEFAULT)
  return named === 'random' ? randomInt(2 ** 32) : Number(named)
}

/** The generator of a seed that the caller prints itself. */
export function randomFrom(seed: number): SeededRandom {
  const next = mulberry32(seed)
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    seed,
    next,
    integer,
    pick: (items) => {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}

/** Tommy Ettinger's mulberry32: small, fast, good enough for choosing test cases. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
