// The leaves of one chain's proof with the hashes computed from the records: these must lead to the root.
import { fromBase64, putHex, toBase64 } from '../bytes.ts'
import { rootFromSubset } from '../tree/subset.ts'
import type { ChainProof } from './format.ts'
import { ListedLeaves } from './listed-leaves.ts'

const HASH_BYTES = 32

/** A listed hash only counts where the bundle holds no record: for the ends of batches. */
export class ComputedLeaves {
  readonly #proof: ChainProof | undefined
  readonly #listed: ListedLeaves
  readonly #hashes: Uint8Array
  readonly #isComputed: Uint8Array
  #records = 0
  #unlisted = 0

  constructor(proof: ChainProof | undefined) {
    const leaves = proof?.leaves ?? []
    this.#proof = proof
    this.#listed = new ListedLeaves(leaves)
    this.#hashes = new Uint8Array(leaves.length * HASH_BYTES)
    this.#isComputed = new Uint8Array(leaves.length)
  }

  put(seq: number, hashHex: string): void {
    const place = this.#listed.placeOf(seq)
    this.#records += 1
    if (place < 0) {
      this.#unlisted += 1
      return
    }
    this.#isComputed[place] = 1
    putHex(hashHex, this.#hashes, place * HASH_BYTES)
  }

  /** Whether all of them lead to the root, in base64. No record is nothing to prove. */
  leadTo(root: string | undefined): boolean {
    if (this.#records === 0) return true
    if (this.#proof === undefined || this.#unlisted > 0) return false
    const { size, leaves, hashes } = this.#proof
    const indexes = leaves.map(([index], place) => {
      if (this.#isComputed[place] === 0) this.#putListed(place)
      return index
    })
    const proof = hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0))
    const found = rootFromSubset({ size, indexes, leafHashes: this.#hashes, proof })
    return found !== undefined && toBase64(found) === root
  }

  #putListed(place: number): void {
    putHex(this.#proof?.leaves[place]?.[1] ?? '', this.#hashes, place * HASH_BYTES)
  }
}
