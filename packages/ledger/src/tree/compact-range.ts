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

export class CompactRange {
  #size: number
  readonly #hashes: Uint8Array[]

  private constructor(size: number, hashes: Uint8Array[]) {
    this.#size = size
    this.#hashes = hashes
  }

  static empty(): CompactRange {
    return new CompactRange(0, [])
  }

  /**
   * A tree of `size` leaves from the hashes of `nodesOfRange(0, size)`. Throws
   * BATON_TREE_STATE_INVALID when their number or length does not fit.
   */
  static fromNodes(size: number, hashes: readonly Uint8Array[]): CompactRange {
    const fits =
      Number.isSafeInteger(size) &&
      size >= 0 &&
      hashes.length === nodesOfRange(0, size).length &&
      hashes.every((hash) => hash.length === 32)
    if (fits) return new CompactRange(size, [...hashes])
    throw new LedgerError('BATON_TREE_STATE_INVALID', 'the hashes do not make a tree of this size')
  }

  /** Reads what `state` gave. Throws BATON_TREE_STATE_INVALID. */
  static fromState({ size, hashes }: TreeState): CompactRange {
    return CompactRange.fromNodes(
      size,
      hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0)),
    )
  }

  get size(): number {
    return this.#size
  }

  /** Adds a leaf hash. `onNode` is told of every subtree that the leaf completes, itself first. */
  append(leafHash: Uint8Array, onNode?: (node: TreeNode, hash: Uint8Array) => void): void {
    let hash = leafHash
    let index = this.#size
    let level = 0
    onNode?.({ level, index }, hash)
    while (index % 2 === 1) {
      hash = hashChildren(this.#hashes.pop() as Uint8Array, hash)
      index = (index - 1) / 2
      level += 1
      onNode?.({ level, index }, hash)
    }
    this.#hashes.push(hash)
    this.#size += 1
  }

  root(): Uint8Array {
    return this.#size === 0 ? EMPTY_ROOT : foldNodes(this.#hashes)
  }

  state(): TreeState {
    return { size: this.#size, hashes: this.#hashes.map(toBase64) }
  }
}
