// One proof for the records of a chain under a sealed root, from stored hashes where those are right.
import { fromBase64, fromHex, proveChain, rootFromSubset, toBase64 } from '@baton/ledger'
import type { ChainProof } from '@baton/ledger'
import { BatonError } from '@baton/runtime'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { Snapshot } from '../database.ts'
import { treeReader } from '../seals/tree-reader.ts'

interface ProofOptions {
  readonly chain: number
  readonly origin: string
  /** Of the chain in the seal, as is `root`, in base64. */
  readonly size: number
  readonly root: string
  readonly checkpoint: string | null
  readonly seqs: readonly number[]
}

export interface ProvenRecords {
  readonly proof: ChainProof
  /** False where the stored records do not make the sealed tree: the proof shows that. */
  readonly leads: boolean
}

/**
 * The proof of a chain's records (I10). Stored hashes that lead elsewhere are not believed: then
 * everything is read from the records again, which takes as long as the chain is long.
 */
export async function proveRecords(
  snapshot: Snapshot,
  tier: ColdTier,
  options: ProofOptions,
): Promise<ProvenRecords> {
  const { chain, root, ...claim } = options
  for (const stored of [true, false]) {
    const read = treeReader(snapshot, { log: { chain }, stored, tier })
    try {
      const proof = await proveChain({ ...claim, read })
      if (leadsTo(proof, root)) return { proof, leads: true }
    } catch (error) {
      if (!isMissingLeaf(error)) throw error
    }
  }
  const { origin, size, checkpoint } = claim
  return { proof: { origin, size, checkpoint, leaves: [], hashes: [] }, leads: false }
}

function leadsTo({ size, leaves, hashes }: ChainProof, root: string): boolean {
  // A chain none of whose records are sealed yet proves nothing, and breaks nothing.
  if (leaves.length === 0) return true
  const found = rootFromSubset({
    size,
    indexes: leaves.map(([index]) => index),
    leafHashes: Buffer.concat(leaves.map(([, hash]) => fromHex(hash) ?? NO_HASH)),
    proof: hashes.map((hash) => fromBase64(hash) ?? NO_HASH),
  })
  return found !== undefined && toBase64(found) === root
}

const NO_HASH = new Uint8Array(0)

const isMissingLeaf = (error: unknown): boolean =>
  error instanceof BatonError && error.code === 'BATON_AUDIT_LEAVES_MISSING'
