// Everything that proves one task, read in one snapshot: records, proofs under a published seal, batches, texts.
import {
  fromBase64,
  fromHex,
  proveChain,
  readRecord,
  rootFromSubset,
  toBase64,
} from '@baton/ledger'
import type { BundleParts, BundleReceipt, ChainProof } from '@baton/ledger'
import { BatonError } from '@baton/runtime'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { readTierRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readErasuresOf } from '../erasure/erasures-of-task.ts'
import { readHeads } from '../append/heads.ts'
import { chooseSeal, proveSeal, readPublishedSeals } from '../seals/published-seal.ts'
import type { Coverage, PublishedSeal } from '../seals/published-seal.ts'
import type { RecordRow } from './records.ts'
import { readChainCheckpoints } from '../seals/seals.ts'
import { treeReader } from '../seals/tree-reader.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import { readBatchesOf, readTexts } from './task-parts.ts'
import type { RecordSeat } from './task-parts.ts'

/** What the operational database was told when a record of the task was acknowledged. */
export type HeldTaskReceipt = Omit<BundleReceipt, 'recordedAt'>

interface EvidenceOptions {
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly taskId: string
  /** Read before this call, so that every record they name must be there. */
  readonly receipts: readonly HeldTaskReceipt[]
  /** Where records stand that are not in the database any more. */
  readonly cold: ColdStore | undefined
  /** Opens the texts; undefined withholds them. */
  readonly vault: Pick<SubjectVault, 'keysOf'> | undefined
  /** For the convenience of whoever reads the bundle. */
  readonly policy: string | null
}

export interface TaskEvidence {
  readonly parts: BundleParts
  readonly covered: Coverage
  /** Chains whose records do not lead to the sealed root; a verifier will say so too. */
  readonly unproven: readonly string[]
  /** The trace that the task's records name. */
  readonly traceparent: string | undefined
}

/**
 * Whether waiting for a later seal would add nothing: every record is witnessed, or sealed where no
 * witness ever cosigned, or there is no record.
 */
export function isSettled(
  { reader, cold }: Pick<EvidenceOptions, 'reader' | 'cold'>,
  taskId: string,
): Promise<boolean> {
  return inSnapshot(reader, async (snapshot) => {
    const { seats, rows } = await readTask(snapshot, createColdTier(snapshot, cold), taskId)
    const seals = await readPublishedSeals(snapshot)
    const { seal, covered } = chooseSeal(seals, seats)
    const best = seals.some(({ witnessed }) => witnessed) ? 'witnessed' : 'sealed'
    return rows.length === 0 || (seal !== undefined && covered === best)
  })
}

/** The parts of a task's bundle (E24, I10). Undefined when the log knows nothing of the task. */
export function readEvidence(options: EvidenceOptions): Promise<TaskEvidence | undefined> {
  const { reader, taskId, cold, vault, policy, receipts } = options
  return inSnapshot(reader, async (snapshot) => {
    const tier = createColdTier(snapshot, cold)
    const { rows, erasures, seats, ownSeats } = await readTask(snapshot, tier, taskId)
    if (rows.length === 0) return undefined
    const { seal, covered } = chooseSeal(await readPublishedSeals(snapshot), seats)
    const batches = await readBatchesOf(snapshot, seats)
    const ends = batches.map(({ origin, lastSeq }) => ({ origin, seq: lastSeq }))
    const proven = seal === undefined ? [] : await proveUnder(snapshot, { seal, seats, ends, tier })
    const texts = vault && (await readTexts(snapshot, ownSeats, { vault, tier }))
    const parts: BundleParts = {
      taskId,
      records: rows.map(({ body }) => body),
      erasures: erasures.map(({ row, erased }) => ({ body: row.body, erased })),
      chains: proven.map(({ proof }) => proof),
      seal:
        seal === undefined ? null : { entry: seal.bytes, proof: await proveSeal(snapshot, seal) },
      batches,
      receipts: receiptsOf(receipts, rows, ownSeats),
      payloads: texts ?? null,
      policy,
    }
    const unproven = proven.flatMap(({ leads, proof }) => (leads ? [] : [proof.origin]))
    const traceparent = rows.map(({ body }) => readRecord(body)?.traceparent).find((one) => one)
    return { parts, covered, unproven, traceparent }
  })
}

/** A task's records with the erasures that matter to them, out of both tiers. */
async function readTask(snapshot: Snapshot, tier: ColdTier, taskId: string) {
  const { rows } = await readTierRecords(snapshot, tier, taskId)
  const erasures = await readErasuresOf(snapshot, tier, rows)
  const ownSeats = await seatsOf(snapshot, rows)
  const others = await seatsOf(
    snapshot,
    erasures.map(({ row }) => row),
  )
  return { rows, erasures, ownSeats, seats: [...ownSeats, ...others] }
}

async function seatsOf(snapshot: Snapshot, rows: readonly RecordRow[]): Promise<RecordSeat[]> {
  const origins = new Map((await readHeads(snapshot)).map(({ chain, origin }) => [chain, origin]))
  return rows.map(({ chain, seq }) => ({ chain, seq, origin: origins.get(chain) ?? '' }))
}

interface Proving {
  readonly seal: PublishedSeal
  readonly seats: readonly RecordSeat[]
  readonly ends: readonly { readonly origin: string; readonly seq: number }[]
  readonly tier: ColdTier
}

async function proveUnder(snapshot: Snapshot, { seal, seats, ends, tier }: Proving) {
  const checkpoints = await readChainCheckpoints(snapshot)
  const proven = []
  for (const { origin, size, root } of seal.entry.chains) {
    const own = seats.filter((seat) => seat.origin === origin)
    const chain = own[0]?.chain
    if (chain === undefined) continue
    const published = checkpoints.find((one) => one.chain === chain && one.size === size)
    const seqs = [...own, ...ends.filter((end) => end.origin === origin)].map(({ seq }) => seq)
    const checkpoint = published?.note ?? null
    const claim = { chain, origin, size, root, checkpoint, seqs }
    proven.push(await proveRecords(snapshot, tier, claim))
  }
  return proven
}

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
async function proveRecords(
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

/** The time is not part of a held receipt: it is the record's own, and unknown where that is gone. */
function receiptsOf(
  held: readonly HeldTaskReceipt[],
  rows: readonly RecordRow[],
  seats: readonly RecordSeat[],
): BundleReceipt[] {
  const times = new Map(
    rows.map(({ body, seq }, at) => {
      return [`${seats[at]?.origin} ${seq}`, readRecord(body)?.recordedAt]
    }),
  )
  return held
    .map((one) => ({ ...one, recordedAt: times.get(`${one.origin} ${one.seq}`) ?? 'unknown' }))
    .toSorted((left, right) =>
      left.origin === right.origin ? left.seq - right.seq : left.origin < right.origin ? -1 : 1,
    )
}
