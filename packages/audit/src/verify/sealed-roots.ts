// One chain compared with its seals, root by root, while it is read.
import { createCompactRange, equalBytes } from '@baton/ledger'
import type { CompactRange, Finding } from '@baton/ledger'

/** What a chain must look like at one size. */
export interface SealTarget {
  readonly size: number
  readonly root: Uint8Array
}

/** Compares one chain with its seals while it is read; a difference is located between two seals. */
export interface SealedRoots {
  /** How many records the newest seal covers. */
  readonly size: number
  append(leafHash: Uint8Array): readonly Finding[]
  finish(): readonly Finding[]
  /** The root over the records that are archived, as they were read here; undefined where there are fewer. */
  archivedRoot(): Uint8Array | undefined
}

interface SealedRootsOptions {
  /** In order of size. */
  readonly targets: readonly SealTarget[]
  /** What stands before the first record that will be appended. */
  readonly tree?: CompactRange
  /** How many records stand in full bundles of the cold store. */
  readonly archived?: number
}

export function createSealedRoots(
  origin: string,
  { targets, tree = createCompactRange(), archived = 0 }: SealedRootsOptions,
): SealedRoots {
  const sealed = targets.at(-1)?.size ?? 0
  let agreed = tree.size
  let next = targets.findIndex(({ size }) => size > agreed)
  if (next < 0) next = targets.length
  let archivedRoot = tree.size === archived ? tree.root() : undefined
  return {
    size: sealed,
    append(leafHash) {
      const target = targets[next]
      if (target === undefined && tree.size >= archived) return NONE
      tree.append(leafHash)
      if (tree.size === archived) archivedRoot = tree.root()
      if (target === undefined || tree.size < target.size) return NONE
      next += 1
      if (equalBytes(tree.root(), target.root)) {
        agreed = target.size
        return NONE
      }
      // Every later root differs as well; one finding says where it begins.
      next = targets.length
      const message = `records ${agreed} to ${target.size - 1} hold what was not sealed`
      return [{ origin, seq: agreed, rule: 'SEAL_ROOT', message }]
    },
    finish() {
      if (next >= targets.length) return NONE
      const message = `the chain has ${tree.size} records, ${sealed} were sealed`
      return [{ origin, seq: tree.size, rule: 'SEAL_SIZE', message }]
    },
    archivedRoot: () => archivedRoot,
  }
}

const NONE: readonly Finding[] = []
