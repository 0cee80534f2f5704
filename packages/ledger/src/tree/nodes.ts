// Where a hash stands in a tree. Only full subtrees are stored; every other hash is folded from them.
import { hashChildren } from './hash.ts'

/** The full subtree over the leaves [index * 2^level, (index + 1) * 2^level). */
export interface TreeNode {
  readonly level: number
  readonly index: number
}

/** Reads stored node hashes, in the order asked for. Rejects when one is not stored. */
export type HashReader = (nodes: readonly TreeNode[]) => Promise<readonly Uint8Array[]>

/** The largest power of two below `size`, which is at least 2. */
export function splitPoint(size: number): number {
  let power = 1
  while (power * 2 < size) power *= 2
  return power
}

/** The full subtrees that the leaves [start, end) fold from, left to right. */
export function nodesOfRange(start: number, end: number): TreeNode[] {
  const nodes: TreeNode[] = []
  let from = start
  while (from < end) {
    let level = 0
    let width = 1
    while (from % (width * 2) === 0 && from + width * 2 <= end) {
      width *= 2
      level += 1
    }
    nodes.push({ level, index: from / width })
    from += width
  }
  return nodes
}

/** Folds the hashes of `nodesOfRange` to the hash of the range. At least one. */
export function foldNodes(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.reduceRight((right, left) => hashChildren(left, right))
}
