// Proofs that stored records are those of a signed tree head: for bundles, and for every trace that is read.
import {
  fromBase64,
  fromHex,
  proveChain,
  recordHash,
  rootFromSubset,
  toBase64,
  toHex,
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

/** Where a record stands, or stood. */
interface Leaf {
  readonly chain: number
  readonly seq: number
}

interface ProvenLeaves<One extends Leaf> {
  proofOf(leaf: One): Proof
  /** Where records below the size of a signed head do not lead to it. */
  readonly findings: readonly Finding[]
}

interface LeafOptions {
  readonly covered: CoveredSizes | undefined
  readonly tier: ColdTier
}

/**
 * Proves each row under the newest signed head of its chain that was seen outside, or under the newest one at
 * all: the stored bytes are hashed, and their hashes lead to its root. Stored hashes of the tree that lead
 * elsewhere are a finding, too: in a trace nobody waits for a whole chain to be hashed.
 */
export const proveRows = <Row extends Leaf & Pick<RecordRow, 'body'>>(
  snapshot: Snapshot,
  rows: readonly Row[],
  options: LeafOptions,
): Promise<ProvenLeaves<Row>> =>
  proveLeaves(snapshot, rows, { ...options, hashOf: ({ body }) => recordHash(body) })

/** The same of hashes whose records need not be there any more. */
export async function proveLeaves<One extends Leaf>(
  snapshot: Snapshot,
  all: readonly One[],
  { covered, tier, hashOf }: LeafOptions & { readonly hashOf: (leaf: One) => Uint8Array },
): Promise<ProvenLeaves<One>> {
  const proofs = new Map<One, Proof>()
  const findings: Finding[] = []
  for (const [chain, own] of Map.groupBy(all, (leaf) => leaf.chain)) {
    const origin = covered?.heads.find((head) => head.chain === chain)?.origin ?? ''
    for (const [proof, heads] of [
      ['witnessed', covered?.witnessed],
      ['sealed', covered?.sealed],
    ] as const) {
      const head = heads?.get(chain)
      const below = head ? own.filter((leaf) => leaf.seq < head.size && !proofs.has(leaf)) : []
      if (head === undefined || below.length === 0) continue
      const hashes = new Map(below.map((leaf) => [leaf.seq, toHex(hashOf(leaf))]))
      const leads = await leadToHead(snapshot, hashes, { chain, origin, head, tier })
      for (const leaf of below) proofs.set(leaf, leads ? proof : 'none')
      if (!leads) findings.push(notSealed(origin, below, head))
    }
  }
  return { proofOf: (leaf) => proofs.get(leaf) ?? 'none', findings }
}

interface Sealed {
  readonly chain: number
  readonly origin: string
  readonly head: SignedHead
  readonly tier: ColdTier
}

/** `hashes` in lower-case hex, by seq. */
async function leadToHead(
  snapshot: Snapshot,
  hashes: ReadonlyMap<number, string>,
  { chain, origin, head: { size, root }, tier }: Sealed,
): Promise<boolean> {
  const read = treeReader(snapshot, { log: { chain }, stored: true, tier })
  try {
    const seqs = [...hashes.keys()]
    const stored = await proveChain({ origin, size, checkpoint: null, seqs, read })
    const leaves = stored.leaves.map(([seq]) => [seq, hashes.get(seq) ?? ''] as const)
    return leadsTo({ ...stored, leaves }, root)
  } catch (error) {
    if (isMissingLeaf(error)) return false
    throw error
  }
}

const notSealed = (origin: string, rows: readonly Leaf[], { size }: SignedHead): Finding => ({
  origin,
  seq: Math.min(...rows.map(({ seq }) => seq)),
  rule: 'SEAL_ROOT',
  message: `what is stored does not lead to the signed head over ${size} records: a record of the task, or one near it, was altered or is gone`,
})
