// The two hashes of an RFC 6962 tree; their prefixes keep an inner node from passing as a leaf.
import { putSha256, sha256 } from '../sha256.ts'

/** The root of a tree without leaves: the digest of nothing. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0))

const INNER = new Uint8Array(65)
INNER[0] = 1

/** SHA-256(0x00 || entry). */
export function hashLeaf(entry: Uint8Array): Uint8Array {
  const prefixed = new Uint8Array(1 + entry.length)
  prefixed.set(entry, 1)
  return sha256(prefixed)
}

/** SHA-256(0x01 || left || right) of two 32-byte hashes. */
export function hashChildren(left: Uint8Array, right: Uint8Array): Uint8Array {
  INNER.set(left, 1)
  INNER.set(right, 33)
  return sha256(INNER)
}

/** An inner node to be: the prefix, and room for two hashes. */
export function newInner(): Uint8Array {
  const inner = new Uint8Array(65)
  inner[0] = 1
  return inner
}

/** Where the two hashes of an inner node stand. */
export const [LEFT, RIGHT] = [1, 33] as const

/** Puts the hash of a filled inner node into `target`. */
export const putInnerHash = putSha256

/** RFC 6962's MTH over leaf hashes, from scratch. */
export function rootOf(leafHashes: readonly Uint8Array[]): Uint8Array {
  let level = leafHashes
  if (level.length === 0) return EMPTY_ROOT
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let at = 0; at + 1 < level.length; at += 2) {
      above.push(hashChildren(level[at] as Uint8Array, level[at + 1] as Uint8Array))
    }
    if (level.length % 2 === 1) above.push(level.at(-1) as Uint8Array)
    level = above
  }
  return level[0] as Uint8Array
}
