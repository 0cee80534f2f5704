// A growing tree in at most 53 hashes: enough to append and to know the root, nothing else.
import { fromBase64, toBase64 } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { EMPTY_ROOT, hashChildren } from './hash.ts'
import { foldNodes, nodesOfRange } from './nodes.ts'
import type { TreeNode } from './nodes.ts'

/** What a state file keeps of a tree; hashes in base64, from the left-most full subtree on. */
export interface TreeState {
  readonly size: number
  readonly hashes: readonly string[]
}

export interface CompactRange {
  readonly size: number
  /** Adds a leaf hash. `onNode` is told of every subtree that the leaf completes, itself first. */
  append(leafHash: Uint8Array, onNode?: (node: TreeNode, hash: Uint8Array) => void): void
  root(): Uint8Array
  state(): TreeState
}

/** A tree without leaves. */
export const createCompactRange = (): CompactRange => compactRangeOf(0, [])

/**
 * A tree of `size` leaves from the hashes of `nodesOfRange(0, size)`. Throws
 * BATON_TREE_STATE_INVALID when their number or length does not fit.
 */
export function compactRangeFromNodes(size: number, hashes: readonly Uint8Array[]): CompactRange {
  const fits =
    Number.isSafeInteger(size) &&
    size >= 0 &&
    hashes.length === nodesOfRange(0, size).length &&
    hashes.every((hash) => hash.length === 32)
  if (fits) return compactRangeOf(size, [...hashes])
  throw new LedgerError('BATON_TREE_STATE_INVALID', 'the hashes do not make a tree of this size')
}

/** Reads what `state` gave. Throws BATON_TREE_STATE_INVALID. */
export function compactRangeFromState({ size, hashes }: TreeState): CompactRange {
  return compactRangeFromNodes(
    size,
    hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0)),
  )
}

function compactRangeOf(startSize: number, hashes: Uint8Array[]): CompactRange {
  let size = startSize
  return {
    get size() {
      return size
    },
    append(leafHash, onNode) {
      let hash = leafHash
      let index = size
      let level = 0
      onNode?.({ level, index }, hash)
      while (index % 2 === 1) {
        hash = hashChildren(hashes.pop() as Uint8Array, hash)
        index = (index - 1) / 2
        level += 1
        onNode?.({ level, index }, hash)
      }
      hashes.push(hash)
      size += 1
    },
    root: () => (size === 0 ? EMPTY_ROOT : foldNodes(hashes)),
    state: () => ({ size, hashes: hashes.map(toBase64) }),
  }
}
