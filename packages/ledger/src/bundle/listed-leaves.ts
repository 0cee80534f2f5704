// The leaves that a proof lists for one chain: going through them in order costs next to nothing.
import type { ChainProof } from './format.ts'

type Leaves = ChainProof['leaves']

/** Finds in lists that ascend; a list that does not is refused with the proof it belongs to. */
export class ListedLeaves {
  readonly #leaves: Leaves
  #place = 0

  constructor(leaves: Leaves) {
    this.#leaves = leaves
  }

  /** Where the leaf of this record stands in the list; -1 when it is not found. */
  placeOf(seq: number): number {
    if (this.#leaves[this.#place]?.[0] !== seq) {
      const isNext = this.#leaves[this.#place + 1]?.[0] === seq
      this.#place = isNext ? this.#place + 1 : this.#search(seq)
    }
    return this.#leaves[this.#place]?.[0] === seq ? this.#place : -1
  }

  /** The listed hash of this record in hex; undefined when it is not found. */
  hashOf(seq: number): string | undefined {
    return this.#leaves[this.placeOf(seq)]?.[1]
  }

  #search(seq: number): number {
    let low = 0
    let high = this.#leaves.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#leaves[middle]?.[0] ?? 0) < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
