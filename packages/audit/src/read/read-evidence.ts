// Everything that proves one task, read in one snapshot: records, proofs under a published seal, batches, texts.
import { readRecord } from '@baton/ledger'
import type { BundleParts, BundleReceipt, Finding } from '@baton/ledger'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { readTierRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readErasuresOf } from '../erasure/erasures-of-task.ts'
import { readHeads } from '../append/heads.ts'
import { readHandovers } from '../seals/read-seal-keys.ts'
import { chooseSeal, proveSeal, readPublishedSeals } from '../seals/published-seal.ts'
import type { Coverage, PublishedSeal } from '../seals/published-seal.ts'
import type { RecordRow } from './records.ts'
import { readChainCheckpoints } from '../seals/seals.ts'
import { readBundleEnds } from './bundle-ends.ts'
import { proveRecords } from './prove-records.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import { readBatchesOf, readTexts } from './task-parts.ts'
import type { RecordSeat, SeatedRecord } from './task-parts.ts'

/** What the operational database was told when a record of the task was acknowledged. */
export type HeldTaskReceipt = Omit<BundleReceipt, 'recordedAt'>

interface EvidenceOptions {
  /** Connected as audit_reader. */
  readonly reader: Pool
  /** One task, or several as one bundle. */
  readonly taskIds: readonly string[]
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
  /** What keeps the bundle from proving the ends of its tasks, although the seal commits to them. */
  readonly findings: readonly Finding[]
  /** The trace that each task's records name. The tasks that the log knows, and no other. */
  readonly traceparents: ReadonlyMap<string, string | undefined>
}

/**
 * Whether waiting for a later seal would add nothing: every record is witnessed, or sealed where no
 * witness ever cosigned, or there is no record.
 */
export function isSettled(
  { reader, cold }: Pick<EvidenceOptions, 'reader' | 'cold'>,
  taskIds: readonly string[],
): Promise<boolean> {
  return inSnapshot(reader, async (snapshot) => {
    const { seats, rows } = await readTasks(snapshot, createColdTier(snapshot, cold), taskIds)
    const seals = await readPublishedSeals(snapshot)
    const { seal, covered } = chooseSeal(seals, seats)
    const best = seals.some(({ witnessed }) => witnessed) ? 'witnessed' : 'sealed'
    return rows.length === 0 || (seal !== undefined && covered === best)
  })
}

/** The parts of a bundle (E24, I10). Undefined when the log knows nothing of the tasks. */
export function readEvidence(options: EvidenceOptions): Promise<TaskEvidence | undefined> {
  const { reader, taskIds, cold, vault, policy, receipts } = options
  return inSnapshot(reader, async (snapshot) => {
    const tier = createColdTier(snapshot, cold)
    const { rows, erasures, seats, ownSeats } = await readTasks(snapshot, tier, taskIds)
    if (rows.length === 0) return undefined
    const { seal, covered } = chooseSeal(await readPublishedSeals(snapshot), seats)
    const batches = await readBatchesOf(snapshot, seats)
    const lasts = batches.map(({ origin, lastSeq }) => ({ origin, seq: lastSeq }))
    const proven =
      seal === undefined ? [] : await proveUnder(snapshot, { seal, seats, ends: lasts, tier })
    const { ends, findings } = await readBundleEnds(snapshot, seal?.entry ?? {}, taskIds)
    const texts = vault && (await readTexts(snapshot, ownSeats, { vault, tier }))
    const parts: BundleParts = {
      taskId: taskIds.length === 1 ? (taskIds[0] ?? null) : null,
      records: rows.map(({ body }) => body),
      erasures: erasures.map(({ row, erased }) => ({ body: row.body, erased })),
      chains: proven.map(({ proof }) => proof),
      ends,
      seal:
        seal === undefined ? null : { entry: seal.bytes, proof: await proveSeal(snapshot, seal) },
      handovers: seal === undefined ? [] : await readHandovers(snapshot, seal.entry),
      batches,
      receipts: receiptsOf(receipts, rows, ownSeats),
      payloads: texts ?? null,
      policy,
    }
    const unproven = proven.flatMap(({ leads, proof }) => (leads ? [] : [proof.origin]))
    return { parts, covered, unproven, findings, traceparents: tracesOf(rows) }
  })
}

function tracesOf(rows: readonly RecordRow[]): ReadonlyMap<string, string | undefined> {
  const traces = new Map<string, string | undefined>()
  for (const { taskId, body } of rows) {
    if (traces.get(taskId) === undefined) traces.set(taskId, readRecord(body)?.traceparent)
  }
  return traces
}

/** The tasks' records by chain and seq, with the erasures that matter to them, out of both tiers. */
async function readTasks(snapshot: Snapshot, tier: ColdTier, taskIds: readonly string[]) {
  const found: RecordRow[] = []
  for (const taskId of new Set(taskIds)) {
    found.push(...(await readTierRecords(snapshot, tier, taskId)).rows)
  }
  const rows = found.toSorted((left, right) => left.chain - right.chain || left.seq - right.seq)
  const erasures = await readErasuresOf(snapshot, tier, rows)
  const ownSeats = await seatsOf(snapshot, rows)
  const others = await seatsOf(
    snapshot,
    erasures.map(({ row }) => row),
  )
  return { rows, erasures, ownSeats, seats: [...ownSeats, ...others] }
}

async function seatsOf(snapshot: Snapshot, rows: readonly RecordRow[]): Promise<SeatedRecord[]> {
  const origins = new Map((await readHeads(snapshot)).map(({ chain, origin }) => [chain, origin]))
  return rows.map(({ chain, seq, body }) => ({
    chain,
    seq,
    body,
    origin: origins.get(chain) ?? '',
  }))
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
