// Checks RFC 6962 proofs as RFC 9162 section 2.1 does: a wrong size, index, length or bit fails.
import { equalBytes } from '../bytes.ts'
import { EMPTY_ROOT, hashChildren } from './hash.ts'

export interface InclusionClaim {
  readonly index: number
  readonly size: number
  readonly leafHash: Uint8Array
  readonly proof: readonly Uint8Array[]
}

export interface ConsistencyClaim {
  readonly fromSize: number
  readonly fromRoot: Uint8Array
  readonly toSize: number
  readonly toRoot: Uint8Array
  readonly proof: readonly Uint8Array[]
}

const isSize = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
const areHashes = (hashes: readonly Uint8Array[]): boolean =>
  hashes.every((hash) => hash.length === 32)
const half = (value: number): number => Math.floor(value / 2)

/** The root that the proof leads to; undefined when it cannot belong to this index and size. */
function rootFromInclusion(claim: InclusionClaim): Uint8Array | undefined {
  const { index, size, leafHash, proof } = claim
  if (!isSize(index) || !isSize(size) || index >= size) return undefined
  if (!areHashes([leafHash, ...proof])) return undefined
  let [node, last, hash] = [index, size - 1, leafHash]
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (node % 2 === 1 || node === last) {
      hash = hashChildren(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = hashChildren(hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? hash : undefined
}

/** Whether `leafHash` stands at `index` in the tree of `size` leaves with this root. */
export function verifyInclusion(claim: InclusionClaim & { readonly root: Uint8Array }): boolean {
  const root = rootFromInclusion(claim)
  return root !== undefined && equalBytes(root, claim.root)
}

/** Whether the larger tree extends the smaller. Everything extends the tree of size 0, which has one root only. */
export function verifyConsistency(claim: ConsistencyClaim): boolean {
  const { fromSize, fromRoot, toSize, toRoot, proof } = claim
  if (!isSize(fromSize) || !isSize(toSize) || fromSize > toSize) return false
  if (fromSize === 0 && !equalBytes(fromRoot, EMPTY_ROOT)) return false
  if (fromSize === toSize) return proof.length === 0 && equalBytes(fromRoot, toRoot)
  if (fromSize === 0) return proof.length === 0
  if (!areHashes([fromRoot, toRoot, ...proof])) return false
  return walkConsistency(claim)
}

function walkConsistency({ fromSize, fromRoot, toSize, toRoot, proof }: ConsistencyClaim): boolean {
  let [node, last] = [fromSize - 1, toSize - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  // A full old tree is itself the first hash of the walk, so the proof leaves it out.
  const [first, ...rest] = node === 0 ? [fromRoot, ...proof] : proof
  if (first === undefined) return false
  let [oldHash, newHash] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      oldHash = hashChildren(sibling, oldHash)
      newHash = hashChildren(sibling, newHash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      newHash = hashChildren(newHash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && equalBytes(oldHash, fromRoot) && equalBytes(newHash, toRoot)
}
