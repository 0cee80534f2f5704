// A proof of any subset of leaves verifies, and nothing near it does.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryTree, numberedEntries, withBitFlipped } from '../../fixtures/memory-tree.ts'
import { proveSubset, verifySubset } from './subset.ts'
import { proveInclusion } from './prove.ts'

const tree = memoryTree(numberedEntries(300))

const subset = fc.integer({ min: 1, max: 300 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    indexes: fc
      .uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 40 })
      .map((indexes) => indexes.toSorted((left, right) => left - right)),
    bit: fc.nat(1_000_000),
  }),
)

test('any subset verifies; one bit, one leaf or one hash more or less does not', async () => {
  await fc.assert(
    fc.asyncProperty(subset, async ({ size, indexes, bit }) => {
      const hashes = indexes.map((index) => tree.leafHashes[index] as Uint8Array)
      const leafHashes = Buffer.concat(hashes)
      const proof = await proveSubset(tree.read, { indexes, size })
      const claim = { size, indexes, leafHashes, proof, root: tree.roots[size] as Uint8Array }
      expect(verifySubset(claim)).toBe(true)
      const lastHash = leafHashes.subarray(-32)
      const wrong = [
        { ...claim, indexes: indexes.slice(1), leafHashes: leafHashes.subarray(32) },
        { ...claim, indexes: indexes.slice(1) },
        { ...claim, leafHashes: leafHashes.subarray(1) },
        {
          ...claim,
          indexes: [...indexes, indexes.at(-1) as number],
          leafHashes: Buffer.concat([leafHashes, lastHash]),
        },
        { ...claim, proof: [...proof, claim.root] },
        ...(proof.length > 0 ? [{ ...claim, proof: proof.slice(1) }] : []),
        ...(proof.length > 0
          ? [{ ...claim, proof: withBitFlipped(proof, bit % (256 * proof.length)) }]
          : []),
        {
          ...claim,
          leafHashes: Buffer.concat(withBitFlipped(hashes, bit % (256 * hashes.length))),
        },
      ]
      expect(wrong.map(verifySubset)).toEqual(wrong.map(() => false))
    }),
    { numRuns: 200 },
  )
})

test('for one leaf it holds the hashes of the inclusion proof', async () => {
  const read = (hashes: readonly Uint8Array[]) =>
    hashes.map((hash) => Buffer.from(hash).toString('hex')).toSorted()
  for (const index of [0, 127, 128, 299]) {
    const size = 300
    const many = await proveSubset(tree.read, { indexes: [index], size })
    expect(read(many)).toEqual(read(await proveInclusion(tree.read, { index, size })))
  }
})
