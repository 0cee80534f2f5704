// A proof of any subset of leaves verifies, and nothing near it does.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryTree, numberedEntries, withBitFlipped } from '../fixtures/memory-tree.ts'
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
      const leaves = indexes.map((index) => {
        return { index, hash: tree.leafHashes[index] as Uint8Array }
      })
      const proof = await proveSubset(tree.read, { indexes, size })
      const claim = { size, leaves, proof, root: tree.roots[size] as Uint8Array }
      expect(verifySubset(claim)).toBe(true)
      const wrong = [
        { ...claim, leaves: leaves.slice(1) },
        { ...claim, leaves: [...leaves, leaves.at(-1) as (typeof leaves)[0]] },
        { ...claim, proof: [...proof, claim.root] },
        ...(proof.length > 0 ? [{ ...claim, proof: proof.slice(1) }] : []),
        ...(proof.length > 0
          ? [{ ...claim, proof: withBitFlipped(proof, bit % (256 * proof.length)) }]
          : []),
        {
          ...claim,
          leaves: leaves.map((leaf, at) => ({
            ...leaf,
            hash: at === 0 ? (withBitFlipped([leaf.hash], bit % 256)[0] as Uint8Array) : leaf.hash,
          })),
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
