// Proofs that stored records are those of a signed tree head: for bundles, and for every trace that is read.
import {
  fromBase64,
  fromHex,
  proveChain,
  recordHash,
  rootFromSubset,
  toBase64,
} from '@baton/ledger'
import type { ChainProof, Finding } from '@baton/ledger'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { Snapshot } from '../database.ts'
import { isMissingLeaf, treeReader } from '../seals/tree-reader.ts'
import type { CoveredSizes, Proof, SignedHead } from './assurance.ts'
import type { RecordRow } from './records.ts'

interface ProofOptions {
  readonly chain: number
  readonly origin: string
  /** Of the chain in the seal, as is `root`, in base64. */
  readonly size: number
  readonly root: string
  readonly checkpoint: string | null
  readonly seqs: readonly number[]
}

interface ProvenRecords {
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

interface ProvenRows {
  proofOf(row: RecordRow): Proof
  /** Where records below the size of a signed head do not lead to it. */
  readonly findings: readonly Finding[]
}

/**
 * Proves each row under the newest signed head of its chain that was seen outside, or under the newest one at
 * all: the stored bytes are hashed, and their hashes lead to its root. Stored hashes of the tree that lead
 * elsewhere are a finding, too: in a trace nobody waits for a whole chain to be hashed.
 */
export async function proveRows(
  snapshot: Snapshot,
  rows: readonly RecordRow[],
  { covered, tier }: { readonly covered: CoveredSizes | undefined; readonly tier: ColdTier },
): Promise<ProvenRows> {
  const proofs = new Map<RecordRow, Proof>()
  const findings: Finding[] = []
  for (const [chain, own] of Map.groupBy(rows, (row) => row.chain)) {
    const origin = covered?.heads.find((head) => head.chain === chain)?.origin ?? ''
    for (const [proof, heads] of [
      ['witnessed', covered?.witnessed],
      ['sealed', covered?.sealed],
    ] as const) {
      const head = heads?.get(chain)
      const below = head ? own.filter((row) => row.seq < head.size && !proofs.has(row)) : []
      if (head === undefined || below.length === 0) continue
      const leads = await rowsLeadTo(snapshot, below, { chain, origin, head, tier })
      for (const row of below) proofs.set(row, leads ? proof : 'none')
      if (!leads) findings.push(notSealed(origin, below, head))
    }
  }
  return { proofOf: (row) => proofs.get(row) ?? 'none', findings }
}

interface Sealed {
  readonly chain: number
  readonly origin: string
  readonly head: SignedHead
  readonly tier: ColdTier
}

async function rowsLeadTo(
  snapshot: Snapshot,
  rows: readonly RecordRow[],
  { chain, origin, head: { size, root }, tier }: Sealed,
): Promise<boolean> {
  const read = treeReader(snapshot, { log: { chain }, stored: true, tier })
  try {
    const seqs = rows.map(({ seq }) => seq)
    const stored = await proveChain({ origin, size, checkpoint: null, seqs, read })
    const hashes = new Map(rows.map(({ seq, body }) => [seq, recordHash(body).toString('hex')]))
    const leaves = stored.leaves.map(([seq]) => [seq, hashes.get(seq) ?? ''] as const)
    return leadsTo({ ...stored, leaves }, root)
  } catch (error) {
    if (isMissingLeaf(error)) return false
    throw error
  }
}

const notSealed = (origin: string, rows: readonly RecordRow[], { size }: SignedHead): Finding => ({
  origin,
  seq: Math.min(...rows.map(({ seq }) => seq)),
  rule: 'SEAL_ROOT',
  message: `what is stored does not lead to the signed head over ${size} records: a record of the task, or one near it, was altered or is gone`,
})
