// One proof for many leaves of a tree: the hashes of everything between them, each exactly once.
import { equalBytes } from '../bytes.ts'
import { LEFT, newInner, putInnerHash, RIGHT } from './hash.ts'
import { foldNodes, nodesOfRange } from './nodes.ts'
import type { HashReader } from './nodes.ts'
import type { ProofPlan } from './prove.ts'

export interface SubsetClaim {
  readonly size: number
  /** Of the leaves: at least one, ascending, none twice. */
  readonly indexes: readonly number[]
  /** Their hashes in the same order, 32 bytes each, in one piece. */
  readonly leafHashes: Uint8Array
  readonly proof: readonly Uint8Array[]
}

const HASH_BYTES = 32

const widthOf = (size: number): number => {
  let width = 1
  while (width < size) width *= 2
  return width
}

/** The ranges without any of the leaves, left to right: what `rootFromSubset` asks for. */
function planSubset(indexes: readonly number[], size: number): ProofPlan {
  const plan: ReturnType<typeof nodesOfRange>[] = []
  let next = 0
  const walk = (start: number, width: number): void => {
    const end = Math.min(start + width, size)
    if (!((indexes[next] ?? Infinity) < end)) plan.push(nodesOfRange(start, end))
    else if (width === 1) next += 1
    else {
      walk(start, width / 2)
      if (start + width / 2 < size) walk(start + width / 2, width / 2)
    }
  }
  walk(0, widthOf(size))
  return plan
}

/** Reads the proof that the leaves at `indexes`, ascending, stand in the tree of `size` leaves. */
export async function proveSubset(
  read: HashReader,
  { indexes, size }: { readonly indexes: readonly number[]; readonly size: number },
): Promise<Uint8Array[]> {
  const plan = planSubset(indexes, size)
  const hashes = await read(plan.flat())
  let at = 0
  return plan.map((nodes) => {
    at += nodes.length
    return foldNodes(hashes.slice(at - nodes.length, at))
  })
}

/** The root that the leaves and the proof lead to; undefined when they cannot belong together. */
export function rootFromSubset(claim: SubsetClaim): Uint8Array | undefined {
  const { size, indexes, leafHashes, proof } = claim
  if (!Number.isSafeInteger(size) || size < 1 || !areLeaves(indexes, size)) return undefined
  if (leafHashes.length !== indexes.length * HASH_BYTES) return undefined
  if (!proof.every((hash) => hash.length === HASH_BYTES)) return undefined
  return foldSubset(claim)
}

/** Goes through a tree once from the left; the hashes on the way to the root are the only ones kept. */
function foldSubset({ size, indexes, leafHashes, proof }: SubsetClaim): Uint8Array | undefined {
  /** An inner node for each level, filled anew for each subtree there. */
  const inners: Uint8Array[] = []
  let nextLeaf = 0
  let nextHash = 0

  // Slots count the halves of the inner nodes, left before right, from level to level.
  function fold(start: number, width: number, slot: number): void {
    const level = slot >> 1
    const target = (inners[level] ??= newInner())
    const from = slot % 2 === 0 ? LEFT : RIGHT
    const end = start + width < size ? start + width : size
    const index = indexes[nextLeaf]
    if (index === undefined || index >= end) return putProof(target, from)
    if (width === 1) return putLeaf(target, from)
    const half = width / 2
    const below = (level + 1) * 2
    if (start + half >= size) return fold(start, half, slot)
    fold(start, half, below)
    fold(start + half, half, below + 1)
    putInnerHash(inners[level + 1] as Uint8Array, target, from)
  }

  function putProof(target: Uint8Array, from: number): void {
    const hash = proof[nextHash]
    nextHash += 1
    if (hash !== undefined) target.set(hash, from)
  }

  function putLeaf(target: Uint8Array, from: number): void {
    const leaf = nextLeaf * HASH_BYTES
    for (let at = 0; at < HASH_BYTES; at += 1) target[from + at] = leafHashes[leaf + at] as number
    nextLeaf += 1
  }

  fold(0, widthOf(size), 0)
  const isUsedUp = nextHash === proof.length && nextLeaf === indexes.length
  return isUsedUp ? inners[0]?.slice(LEFT, LEFT + HASH_BYTES) : undefined
}

function areLeaves(indexes: readonly number[], size: number): boolean {
  let before = -1
  for (const index of indexes) {
    if (!(index > before && index < size)) return false
    before = index
  }
  return indexes.length > 0 && Number.isSafeInteger(before)
}

export function verifySubset(claim: SubsetClaim & { readonly root: Uint8Array }): boolean {
  const root = rootFromSubset(claim)
  return root !== undefined && equalBytes(root, claim.root)
}
