// Numbers that look random and are the same on every machine.

/** Whole numbers below 2^24, one after another. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}
