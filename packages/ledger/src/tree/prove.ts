// RFC 6962 proofs from stored full subtrees: first which hashes are needed, then the proof.
import { foldNodes, nodesOfRange, splitPoint } from './nodes.ts'
import type { HashReader, TreeNode } from './nodes.ts'

/** One entry per hash of the proof, in its order: the stored nodes that the hash folds from. */
export type ProofPlan = readonly (readonly TreeNode[])[]

/** The path from leaf `index` to the root of a tree of `size` leaves; 0 <= index < size. */
function planInclusion(index: number, size: number): ProofPlan {
  const path: TreeNode[][] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + splitPoint(end - start)
    if (index < middle) {
      path.push(nodesOfRange(middle, end))
      end = middle
    } else {
      path.push(nodesOfRange(start, middle))
      start = middle
    }
  }
  return path.reverse()
}

/** That a tree of `toSize` leaves extends its first `fromSize`; 0 <= fromSize <= toSize. */
function planConsistency(fromSize: number, toSize: number): ProofPlan {
  if (fromSize === 0 || fromSize === toSize) return []
  const path: TreeNode[][] = []
  let [start, end] = [0, toSize]
  while (end !== fromSize) {
    const middle = start + splitPoint(end - start)
    if (fromSize <= middle) {
      path.push(nodesOfRange(middle, end))
      end = middle
    } else {
      path.push(nodesOfRange(start, middle))
      start = middle
    }
  }
  // The old tree's own right-most subtree, unless it is the old tree: that root is known already.
  if (start > 0) path.push(nodesOfRange(start, end))
  return path.reverse()
}

/** Reads the nodes of a plan in one go and folds them. */
async function proofOf(plan: ProofPlan, read: HashReader): Promise<Uint8Array[]> {
  const hashes = await read(plan.flat())
  let at = 0
  return plan.map((nodes) => {
    at += nodes.length
    return foldNodes(hashes.slice(at - nodes.length, at))
  })
}

export const proveInclusion = (
  read: HashReader,
  { index, size }: { readonly index: number; readonly size: number },
): Promise<Uint8Array[]> => proofOf(planInclusion(index, size), read)

export const proveConsistency = (
  read: HashReader,
  { fromSize, toSize }: { readonly fromSize: number; readonly toSize: number },
): Promise<Uint8Array[]> => proofOf(planConsistency(fromSize, toSize), read)

/** The root over the first `size` leaves; at least one. */
export const readRoot = async (read: HashReader, size: number): Promise<Uint8Array> =>
  foldNodes(await read(nodesOfRange(0, size)))
