// Published RFC 6962 proofs verify, and every wrong one fails (T31, T32). Verbatim from transparency-dev/merkle: leaves, roots, the ten proofs,
// the edge cases, and the seven files of published-probes.ts. The other files of its testdata/inclusion and testdata/consistency, 196 in all, are
// made here by its published method and not copied; the seven show that the method is the same. What it publishes for proofs of subtrees is not in
// RFC 6962 and not here.
import { describe, expect, test } from 'vitest'
import { wrongConsistencies, wrongInclusions } from '../../fixtures/merkle-probes.ts'
import type { RootedInclusion } from '../../fixtures/merkle-probes.ts'
import {
  CONSISTENCY,
  EMPTY_TREE_ROOT,
  INCLUSION,
  LEAVES,
  ROOTS,
  SOME_HASH,
} from '../../fixtures/merkle-vectors.ts'
import { memoryTree } from '../../fixtures/memory-tree.ts'
import { PUBLISHED_CONSISTENCIES, PUBLISHED_INCLUSIONS } from '../../fixtures/published-probes.ts'
import { toBase64 } from '../bytes.ts'
import { EMPTY_ROOT, hashChildren, hashLeaf, rootOf } from './hash.ts'
import { proveConsistency, proveInclusion } from './prove.ts'
import { verifyConsistency, verifyInclusion } from './verify.ts'
import type { ConsistencyClaim } from './verify.ts'

const NONE = new Uint8Array(0)
const tree = memoryTree(LEAVES)
const rootAt = (size: number): Uint8Array => ROOTS[size - 1] as Uint8Array

const inclusionOf = (vector: (typeof INCLUSION)[number]): RootedInclusion => ({
  ...vector,
  root: rootAt(vector.size),
  leafHash: hashLeaf(LEAVES[vector.index] as Uint8Array),
})
const consistencyOf = (vector: (typeof CONSISTENCY)[number]): ConsistencyClaim => ({
  ...vector,
  fromRoot: rootAt(vector.fromSize),
  toRoot: rootAt(vector.toSize),
})

/** As the files have it. */
const publishedInclusion = ({ index, size, root, leafHash, proof }: RootedInclusion) => ({
  leafIdx: index,
  treeSize: size,
  root: toBase64(root),
  leafHash: toBase64(leafHash),
  proof: proof.map(toBase64),
})
const publishedConsistency = (claim: ConsistencyClaim) => ({
  size1: claim.fromSize,
  size2: claim.toSize,
  root1: toBase64(claim.fromRoot),
  root2: toBase64(claim.toRoot),
  proof: claim.proof.map(toBase64),
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
  test.each(INCLUSION)('of leaf $index in $size', async (vector) => {
    const claim = inclusionOf(vector)
    expect(verifyInclusion(claim)).toBe(true)
    expect((await proveInclusion(tree.read, vector)).map(toBase64)).toEqual(
      vector.proof.map(toBase64),
    )
    for (const [name, probe] of wrongInclusions(claim)) {
      expect([name, verifyInclusion(probe)]).toEqual([name, false])
    }
  })

  test('is published as 98 files, of which these are some', () => {
    const claims = INCLUSION.map(inclusionOf)
    const made = claims.flatMap((claim, at) => [
      [`${at}`, 'happy path', claim] as const,
      ...[...wrongInclusions(claim)].map(([name, probe]) => [`${at}`, name, probe] as const),
    ])
    // And twelve without a root or a leaf, and four of a tree of one entry, below.
    expect(made).toHaveLength(98 - 12 - 4)
    for (const [path, text] of Object.entries(PUBLISHED_INCLUSIONS)) {
      const { desc, wantErr, ...published } = JSON.parse(text) as Record<string, unknown>
      const found = made.find(([folder, name]) => path.startsWith(folder) && name === desc)
      expect(publishedInclusion(found?.[2] as RootedInclusion)).toEqual(published)
      expect(verifyInclusion(found?.[2] as RootedInclusion)).toBe(wantErr === false)
    }
  })

  const data = hashLeaf(Buffer.from('data'))
  test.each([
    ['matching root and leaf', data, data, true],
    ['empty leaf', data, NONE, false],
    ['empty root', NONE, data, false],
    ['empty root and leaf', NONE, NONE, false],
  ])('in a tree of one entry: %s', (_, root, leafHash, ok) => {
    expect(verifyInclusion({ index: 0, size: 1, leafHash, root, proof: [] })).toBe(ok)
  })

  test('of every leaf in every tree of up to 8, and nothing else', async () => {
    let probes = 0
    for (const [at, root] of ROOTS.entries()) {
      for (let index = 0; index <= at; index += 1) {
        const leafHash = tree.leafHashes[index] as Uint8Array
        const proof = await proveInclusion(tree.read, { index, size: at + 1 })
        const claim = { index, size: at + 1, proof, root, leafHash }
        expect(verifyInclusion(claim)).toBe(true)
        const wrong = [...wrongInclusions(claim).values()]
        expect(wrong.filter(verifyInclusion)).toEqual([])
        probes += 1 + wrong.length
      }
    }
    expect(probes).toBe(622)
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
  test.each(CONSISTENCY)('from $fromSize to $toSize', async (vector) => {
    const claim = consistencyOf(vector)
    expect(verifyConsistency(claim)).toBe(true)
    const made = await proveConsistency(tree.read, vector)
    expect(made.map(toBase64)).toEqual(vector.proof.map(toBase64))
    for (const [name, probe] of wrongConsistencies(claim)) {
      expect([name, verifyConsistency(probe)]).toEqual([name, false])
    }
  })

  test('is published as 98 files, of which these are some', () => {
    const claims = CONSISTENCY.map(consistencyOf)
    const made = claims.flatMap((claim, at) => [
      [`${at}`, 'happy path', claim] as const,
      ...[...wrongConsistencies(claim)].map(([name, probe]) => [`${at}`, name, probe] as const),
    ])
    // And fourteen edges, below.
    expect(made).toHaveLength(98 - 14)
    for (const [path, text] of Object.entries(PUBLISHED_CONSISTENCIES)) {
      const { desc, wantErr, ...published } = JSON.parse(text) as Record<string, unknown>
      const found = made.find(([folder, name]) => path.startsWith(folder) && name === desc)
      expect(publishedConsistency(found?.[2] as ConsistencyClaim)).toEqual(published)
      expect(verifyConsistency(found?.[2] as ConsistencyClaim)).toBe(wantErr === false)
    }
  })

  test('of every two trees of up to 8, and nothing else', async () => {
    let probes = 0
    for (const [to, toRoot] of ROOTS.entries()) {
      for (const [from, fromRoot] of ROOTS.slice(0, to + 1).entries()) {
        const sizes = { fromSize: from + 1, toSize: to + 1 }
        const proof = await proveConsistency(tree.read, sizes)
        const claim = { ...sizes, fromRoot, toRoot, proof }
        expect(verifyConsistency(claim)).toBe(true)
        const wrong = [...wrongConsistencies(claim).values()]
        expect(wrong.filter(verifyConsistency)).toEqual([])
        probes += 1 + wrong.length
      }
    }
    expect(probes).toBe(583)
  })

  const [one, two] = [Buffer.from('root 1'), Buffer.from('root 2')]
  const same = EMPTY_TREE_ROOT
  // Published as an error is also that a tree extends the empty one, root and all, as proving nothing; RFC 9162 has it so, and a witness needs it.
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
