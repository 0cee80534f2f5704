// The leaves that a proof lists for one chain: going through them in order costs next to nothing.
import { fromBase64, putHex, toBase64 } from '../bytes.ts'
import { rootFromSubset } from '../tree/subset.ts'
import type { ChainProof } from './format.ts'

export interface ListedLeaves {
  /** Where the leaf of this record stands in the list; -1 when it is not found. */
  placeOf(seq: number): number
  /** The listed hash of this record in hex; undefined when it is not found. */
  hashOf(seq: number): string | undefined
}

/** Finds in lists that ascend; a list that does not is refused with the proof it belongs to. */
export function createListedLeaves(leaves: ChainProof['leaves']): ListedLeaves {
  let place = 0

  function search(seq: number): number {
    let low = 0
    let high = leaves.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((leaves[middle]?.[0] ?? 0) < seq) low = middle + 1
      else high = middle
    }
    return low
  }

  function placeOf(seq: number): number {
    if (leaves[place]?.[0] !== seq) {
      const isNext = leaves[place + 1]?.[0] === seq
      place = isNext ? place + 1 : search(seq)
    }
    return leaves[place]?.[0] === seq ? place : -1
  }

  return { placeOf, hashOf: (seq) => leaves[placeOf(seq)]?.[1] }
}

const HASH_BYTES = 32

export interface ComputedLeaves {
  put(seq: number, hashHex: string): void
  /** Whether all of them lead to the root, in base64. No record is nothing to prove. */
  leadTo(root: string | undefined): boolean
}

/**
 * The leaves with the hashes computed from the records: these must lead to the root. A listed hash
 * only counts where the bundle holds no record: for the ends of batches.
 */
export function createComputedLeaves(proof: ChainProof | undefined): ComputedLeaves {
  const leaves = proof?.leaves ?? []
  const listed = createListedLeaves(leaves)
  const leafHashes = new Uint8Array(leaves.length * HASH_BYTES)
  const isComputed = new Uint8Array(leaves.length)
  let records = 0
  let unlisted = 0
  return {
    put(seq, hashHex) {
      const place = listed.placeOf(seq)
      records += 1
      if (place < 0) {
        unlisted += 1
        return
      }
      isComputed[place] = 1
      putHex(hashHex, leafHashes, place * HASH_BYTES)
    },
    leadTo(root) {
      if (records === 0) return true
      if (proof === undefined || unlisted > 0) return false
      const indexes = leaves.map(([index, hash], place) => {
        if (isComputed[place] === 0) putHex(hash, leafHashes, place * HASH_BYTES)
        return index
      })
      const hashes = proof.hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0))
      const found = rootFromSubset({ size: proof.size, indexes, leafHashes, proof: hashes })
      return found !== undefined && toBase64(found) === root
    },
  }
}
