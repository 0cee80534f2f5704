// Whatever the size, the growing tree is RFC 6962's, and a proof stands and falls with every bit.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryTree, numberedEntries, withBitFlipped } from '../../fixtures/memory-tree.ts'
import { LedgerError } from '../ledger-error.ts'
import {
  compactRangeFromNodes,
  compactRangeFromState,
  createCompactRange,
} from './compact-range.ts'
import { rootOf } from './hash.ts'
import { nodesOfRange } from './nodes.ts'
import { proveConsistency, proveInclusion, readRoot } from './prove.ts'
import { verifyConsistency, verifyInclusion } from './verify.ts'

const LARGEST = 1_025
const tree = memoryTree(numberedEntries(LARGEST))
const root = (size: number): Uint8Array => tree.roots[size] as Uint8Array
const same = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

describe('the growing tree', () => {
  test('has the root from scratch at every size from 0 to 1,025', async () => {
    for (let size = 0; size <= LARGEST; size += 1) {
      expect(same(root(size), rootOf(tree.leafHashes.slice(0, size)))).toBe(true)
    }
    expect(same(await readRoot(tree.read, LARGEST), root(LARGEST))).toBe(true)
  })

  test('goes on from its state as if it had never stopped', () => {
    fc.assert(
      fc.property(fc.nat(LARGEST), (stop) => {
        const before = createCompactRange()
        for (const hash of tree.leafHashes.slice(0, stop)) before.append(hash)
        const after = compactRangeFromState(JSON.parse(JSON.stringify(before.state())))
        for (const hash of tree.leafHashes.slice(stop)) after.append(hash)
        expect(after.size).toBe(LARGEST)
        expect(same(after.root(), root(LARGEST))).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('refuses a state that is no tree', async () => {
    const { hashes } = compactRangeFromNodes(3, await tree.read(nodesOfRange(0, 3))).state()
    for (const state of [
      { size: 4, hashes },
      { size: -1, hashes: [] },
      { size: 1.5, hashes },
      { size: 3, hashes: [hashes[0] as string, 'short'] },
    ]) {
      expect(() => compactRangeFromState(state)).toThrow(LedgerError)
    }
  })
})

describe('every proof up to 256', () => {
  test('of inclusion verifies, and fails with one bit turned', async () => {
    const wrongly: string[] = []
    let bit = 0
    for (let size = 1; size <= 256; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = await proveInclusion(tree.read, { index, size })
        const leafHash = tree.leafHashes[index] as Uint8Array
        const claim = { index, size, leafHash, proof, root: root(size) }
        if (!verifyInclusion(claim)) wrongly.push(`${index} in ${size}`)
        bit = (bit + 7919) % (256 * Math.max(1, proof.length))
        const wrong =
          proof.length > 0
            ? { ...claim, proof: withBitFlipped(proof, bit) }
            : { ...claim, leafHash: withBitFlipped([leafHash], bit)[0] as Uint8Array }
        if (verifyInclusion(wrong)) wrongly.push(`${index} in ${size}, bit ${bit}`)
      }
    }
    expect(wrongly).toEqual([])
  })

  test('of consistency verifies, and fails with one bit turned', async () => {
    const wrongly: string[] = []
    let bit = 0
    for (let toSize = 1; toSize <= 256; toSize += 1) {
      for (let fromSize = 0; fromSize <= toSize; fromSize += 1) {
        const proof = await proveConsistency(tree.read, { fromSize, toSize })
        const claim = { fromSize, toSize, fromRoot: root(fromSize), toRoot: root(toSize), proof }
        if (!verifyConsistency(claim)) wrongly.push(`${fromSize} to ${toSize}`)
        if (proof.length === 0) continue
        bit = (bit + 7919) % (256 * proof.length)
        const wrong = { ...claim, proof: withBitFlipped(proof, bit) }
        if (verifyConsistency(wrong)) wrongly.push(`${fromSize} to ${toSize}, bit ${bit}`)
      }
    }
    expect(wrongly).toEqual([])
  })

  test('fails for every single bit of some', async () => {
    for (const [index, size] of [
      [0, 7],
      [6, 7],
      [100, 129],
    ] as const) {
      const proof = await proveInclusion(tree.read, { index, size })
      const leafHash = tree.leafHashes[index] as Uint8Array
      for (let bit = 0; bit < proof.length * 256; bit += 1) {
        const claim = { index, size, leafHash, proof: withBitFlipped(proof, bit) }
        expect(verifyInclusion({ ...claim, root: root(size) })).toBe(false)
      }
    }
  })
})
