// The public proofs verify, and every probe that their authors make of them fails (T31, T32).
import { describe, expect, test } from 'vitest'
import {
  CONSISTENCY,
  EMPTY_TREE_ROOT,
  INCLUSION,
  LEAVES,
  ROOTS,
  SOME_HASH,
} from '../../fixtures/merkle-vectors.ts'
import { memoryTree } from '../../fixtures/memory-tree.ts'
import { EMPTY_ROOT, hashChildren, hashLeaf, rootOf } from './hash.ts'
import { proveConsistency, proveInclusion } from './prove.ts'
import { verifyConsistency, verifyInclusion } from './verify.ts'
import type { ConsistencyClaim, InclusionClaim } from './verify.ts'

const NONE = new Uint8Array(0)
const WRONG = Buffer.from('WrongLeaf')
const tree = memoryTree(LEAVES)

const flipped = (proof: readonly Uint8Array[], at: number, bit: number): Uint8Array[] =>
  proof.map((hash, index) => {
    const copy = Uint8Array.from(hash)
    if (index === at) copy[0] = (copy[0] as number) ^ bit
    return copy
  })

describe('roots', () => {
  test('of 0 to 8 leaves are the published ones', () => {
    expect(EMPTY_ROOT).toEqual(EMPTY_TREE_ROOT)
    for (const [at, root] of ROOTS.entries()) {
      expect(Buffer.compare(rootOf(tree.leafHashes.slice(0, at + 1)), root)).toBe(0)
      expect(Buffer.compare(tree.roots[at + 1] as Uint8Array, root)).toBe(0)
    }
  })
})

describe('inclusion', () => {
  type Probe = InclusionClaim & { readonly root: Uint8Array }

  const probesOf = (claim: Probe): Probe[] => {
    const { index, size, proof, root } = claim
    const probes: Probe[] = [
      ...[index - 1, index + 1, index ^ 2].map((wrong) => ({ ...claim, index: wrong })),
      ...[size * 2, Math.floor(size / 2)].map((wrong) => ({ ...claim, size: wrong })),
      { ...claim, leafHash: WRONG },
      ...[EMPTY_TREE_ROOT, SOME_HASH].map((wrong) => ({ ...claim, root: wrong })),
      ...[NONE, root].flatMap((extra) => [
        { ...claim, proof: [...proof, extra] },
        { ...claim, proof: [extra, ...proof] },
      ]),
      ...proof.map((_, at) => ({ ...claim, proof: flipped(proof, at, 8) })),
    ]
    if (proof.length > 0) probes.push({ ...claim, proof: proof.slice(0, -1) })
    const [first, ...rest] = proof
    if (first && rest.length > 0) probes.push({ ...claim, proof: [first, SOME_HASH, ...rest] })
    return probes
  }

  test.each(INCLUSION)('of leaf $index in $size', async ({ index, size, proof }) => {
    const root = ROOTS[size - 1] as Uint8Array
    const leafHash = hashLeaf(LEAVES[index] as Uint8Array)
    const claim = { index, size, proof, root, leafHash }
    expect(verifyInclusion(claim)).toBe(true)
    expect(
      (await proveInclusion(tree.read, { index, size })).map((hash) => Buffer.from(hash)),
    ).toEqual(proof.map((hash) => Buffer.from(hash)))
    for (const probe of probesOf(claim)) expect(verifyInclusion(probe)).toBe(false)
  })

  test.each([
    [0, 0],
    [0, 1],
    [1, 0],
    [2, 1],
  ])('of leaf %i in %i without root or leaf', (index, size) => {
    for (const [leafHash, root] of [
      [SOME_HASH, NONE],
      [NONE, EMPTY_TREE_ROOT],
      [SOME_HASH, EMPTY_TREE_ROOT],
    ] as const) {
      expect(verifyInclusion({ index, size, leafHash, root, proof: [] })).toBe(false)
    }
  })

  test('T31 an inner node does not pass as a leaf', () => {
    const [left, right] = [tree.leafHashes[0] as Uint8Array, tree.leafHashes[1] as Uint8Array]
    const inner = Buffer.concat([left, right])
    expect(Buffer.compare(hashLeaf(inner), hashChildren(left, right))).not.toBe(0)
    const claim = { index: 0, size: 1, leafHash: hashLeaf(inner), proof: [] }
    expect(verifyInclusion({ ...claim, root: ROOTS[1] as Uint8Array })).toBe(false)
  })
})

describe('consistency', () => {
  const probesOf = (claim: ConsistencyClaim): ConsistencyClaim[] => {
    const { fromSize, toSize, fromRoot, toRoot, proof } = claim
    const extras = [NONE, fromRoot, toRoot]
    return [
      ...[fromSize - 1, fromSize + 1, fromSize ^ 2].map((wrong) => ({ ...claim, fromSize: wrong })),
      ...[toSize * 2, Math.floor(toSize / 2)].map((wrong) => ({ ...claim, toSize: wrong })),
      { ...claim, fromRoot: WRONG },
      { ...claim, toRoot: WRONG },
      { ...claim, fromRoot: toRoot, toRoot: fromRoot },
      ...extras.map((extra) => ({ ...claim, proof: [...proof, extra] })),
      ...[...extras, ...proof.slice(0, 1)].map((extra) => ({ ...claim, proof: [extra, ...proof] })),
      ...[[], proof.slice(0, -1)].map((wrong) => ({ ...claim, proof: wrong })),
      ...proof.map((_, at) => ({ ...claim, proof: flipped(proof, at, 16) })),
    ]
  }

  test.each(CONSISTENCY)('from $fromSize to $toSize', async ({ fromSize, toSize, proof }) => {
    const [fromRoot, toRoot] = [ROOTS[fromSize - 1] as Uint8Array, ROOTS[toSize - 1] as Uint8Array]
    const claim = { fromSize, toSize, proof, fromRoot, toRoot }
    expect(verifyConsistency(claim)).toBe(true)
    const made = await proveConsistency(tree.read, { fromSize, toSize })
    expect(made.map((hash) => Buffer.from(hash))).toEqual(proof.map((hash) => Buffer.from(hash)))
    if (proof.length === 0) return
    // Size 0 with any root is consistent with everything, but only with an empty proof.
    for (const probe of probesOf(claim)) expect(verifyConsistency(probe)).toBe(false)
  })

  const [one, two] = [Buffer.from('root 1'), Buffer.from('root 2')]
  const same = EMPTY_TREE_ROOT
  test.each([
    { fromSize: 0, toSize: 0, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 1, toSize: 1, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 0, toSize: 0, fromRoot: one, toRoot: one, proof: [], ok: false },
    { fromSize: 0, toSize: 1, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 0, toSize: 0, fromRoot: same, toRoot: same, proof: [], ok: true },
    { fromSize: 0, toSize: 1, fromRoot: same, toRoot: two, proof: [], ok: true },
    { fromSize: 1, toSize: 1, fromRoot: two, toRoot: two, proof: [], ok: true },
    { fromSize: 1, toSize: 0, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 2, toSize: 1, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 1, toSize: 2, fromRoot: one, toRoot: two, proof: [], ok: false },
    { fromSize: 0, toSize: 0, fromRoot: same, toRoot: two, proof: [], ok: false },
    { fromSize: 1, toSize: 1, fromRoot: same, toRoot: two, proof: [], ok: false },
    { fromSize: 0, toSize: 0, fromRoot: same, toRoot: same, proof: [same], ok: false },
    { fromSize: 0, toSize: 1, fromRoot: same, toRoot: same, proof: [same], ok: false },
    { fromSize: 1, toSize: 1, fromRoot: same, toRoot: same, proof: [same], ok: false },
  ])('edge from $fromSize to $toSize: $ok', ({ ok, ...claim }) => {
    expect(verifyConsistency(claim)).toBe(ok)
  })
})
