// One chain compared with its seals, root by root, while it is read.
import { createCompactRange, equalBytes } from '@baton/ledger'
import type { CompactRange, Finding } from '@baton/ledger'

/** What a chain must look like at one size. */
export interface SealTarget {
  readonly size: number
  readonly root: Uint8Array
}

/** Compares one chain with its seals while it is read; a difference is located between two seals. */
export class SealedRoots {
  readonly #origin: string
  readonly #targets: readonly SealTarget[]
  readonly #tree: CompactRange
  #next = 0
  #agreed = 0

  /** `tree` is what stands before the first record that will be appended. */
  constructor(origin: string, targets: readonly SealTarget[], tree = createCompactRange()) {
    this.#origin = origin
    this.#targets = targets
    this.#tree = tree
    this.#agreed = tree.size
    this.#skipBefore()
  }

  /** How many records the newest seal covers. */
  get size(): number {
    return this.#targets.at(-1)?.size ?? 0
  }

  append(leafHash: Uint8Array): readonly Finding[] {
    const target = this.#targets[this.#next]
    if (target === undefined) return NONE
    this.#tree.append(leafHash)
    if (this.#tree.size < target.size) return NONE
    this.#next += 1
    if (equalBytes(this.#tree.root(), target.root)) {
      this.#agreed = target.size
      return NONE
    }
    // Every later root differs as well; one finding says where it begins.
    this.#next = this.#targets.length
    const to = target.size - 1
    const message = `records ${this.#agreed} to ${to} hold what was not sealed`
    return [{ origin: this.#origin, seq: this.#agreed, rule: 'SEAL_ROOT', message }]
  }

  finish(): readonly Finding[] {
    if (this.#next >= this.#targets.length) return NONE
    const { size } = this.#tree
    const message = `the chain has ${size} records, ${this.size} were sealed`
    return [{ origin: this.#origin, seq: size, rule: 'SEAL_SIZE', message }]
  }

  #skipBefore(): void {
    const size = (): number => this.#targets[this.#next]?.size ?? Infinity
    while (size() <= this.#tree.size) this.#next += 1
  }
}

const NONE: readonly Finding[] = []
