// One proof for many leaves of a tree: the hashes of everything between them, each exactly once.
import { equalBytes } from '../bytes.ts'
import { hashChildren } from './hash.ts'
import { foldNodes, nodesOfRange } from './nodes.ts'
import type { HashReader } from './nodes.ts'
import type { ProofPlan } from './prove.ts'

export interface ProvenLeaf {
  readonly index: number
  readonly hash: Uint8Array
}

export interface SubsetClaim {
  readonly size: number
  /** At least one, by ascending index, none twice. */
  readonly leaves: readonly ProvenLeaf[]
  readonly proof: readonly Uint8Array[]
}

const widthOf = (size: number): number => {
  let width = 1
  while (width < size) width *= 2
  return width
}

/** The ranges without any of the leaves, left to right: what `rootFromSubset` asks for. */
export function planSubset(indexes: readonly number[], size: number): ProofPlan {
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
export function rootFromSubset({ size, leaves, proof }: SubsetClaim): Uint8Array | undefined {
  if (!Number.isSafeInteger(size) || size < 1 || !areLeaves(leaves, size)) return undefined
  if (!proof.every((hash) => hash.length === 32)) return undefined
  let nextLeaf = 0
  let nextHash = 0
  let isShort = false
  const walk = (start: number, width: number): Uint8Array => {
    const end = start + width < size ? start + width : size
    const leaf = leaves[nextLeaf]
    if (leaf === undefined || leaf.index >= end) {
      const hash = proof[nextHash]
      nextHash += 1
      if (hash !== undefined) return hash
      isShort = true
      return leaves[0]?.hash as Uint8Array
    }
    if (width === 1) {
      nextLeaf += 1
      return leaf.hash
    }
    const middle = start + width / 2
    const left = walk(start, width / 2)
    return middle < size ? hashChildren(left, walk(middle, width / 2)) : left
  }
  const root = walk(0, widthOf(size))
  return isShort || nextHash !== proof.length || nextLeaf !== leaves.length ? undefined : root
}

function areLeaves(leaves: readonly ProvenLeaf[], size: number): boolean {
  let before = -1
  for (const { index, hash } of leaves) {
    if (!(index > before && index < size) || hash.length !== 32) return false
    before = index
  }
  return leaves.length > 0 && Number.isSafeInteger(before)
}

export function verifySubset(claim: SubsetClaim & { readonly root: Uint8Array }): boolean {
  const root = rootFromSubset(claim)
  return root !== undefined && equalBytes(root, claim.root)
}
