// Entries become hashed, linked, encrypted and signed rows; pure but for nonces and salts.
import { buildRecord, encryptSegment, EVENT_NUMBERS, uuidBytes } from '@baton/ledger'
import type { AuditEntry, BatchSigner, PayloadReference, Receipt } from '@baton/ledger'
import type { ChainMove, NewBatch, NewRecord, NewSegment } from './append-batch.ts'
import type { ChainHead } from './heads.ts'
import type { PreparedEntry, PreparedSegment } from './prepared-entry.ts'
import type { SubjectKey } from './subject-vault.ts'
import type { TaskPosition } from './task-last-positions.ts'

export interface BuildContext {
  readonly signer: BatchSigner
  readonly wrappingKeyId: string
  readonly subjects: ReadonlyMap<string, SubjectKey>
  /** Microseconds since 1970. */
  readonly nowMicros: number
  taskPosition(chain: ChainHead, taskId: string): TaskPosition
}

/** What one chain gets. The entries stay in the order in which they came. */
export interface ChainWork {
  readonly head: ChainHead
  readonly entries: readonly PreparedEntry[]
}

export interface BuiltBatch {
  readonly batch: NewBatch
  /** The heads as they are once the batch is stored. */
  readonly heads: readonly ChainHead[]
  readonly positions: readonly { chain: number; taskId: string; position: TaskPosition }[]
  readonly receipts: ReadonlyMap<PreparedEntry, Receipt>
}

/** Builds one call of audit.append for all of `work`. */
export function buildBatch(work: readonly ChainWork[], context: BuildContext): BuiltBatch {
  const chains = work.map((one) => buildChain(one, context))
  return {
    batch: {
      keyId: context.signer.keyId,
      moves: chains.map(({ start, head }) => moveOf(start, head, context.signer)),
      records: chains.flatMap(({ records }) => records),
      segments: chains.flatMap(({ segments }) => segments),
    },
    heads: chains.map(({ head }) => head),
    positions: chains.flatMap(({ head: { chain }, tasks }) =>
      [...tasks].map(([taskId, position]) => ({ chain, taskId, position })),
    ),
    receipts: new Map(chains.flatMap(({ receipts }) => [...receipts])),
  }
}

interface BuiltChain {
  readonly start: ChainHead
  /** As it is with these records. */
  readonly head: ChainHead
  readonly records: readonly NewRecord[]
  readonly segments: readonly NewSegment[]
  readonly receipts: ReadonlyMap<PreparedEntry, Receipt>
  readonly tasks: ReadonlyMap<string, TaskPosition>
}

function buildChain({ head: start, entries }: ChainWork, context: BuildContext): BuiltChain {
  const { chain, origin } = start
  const keyIds = { batch: context.signer.keyId, wrap: context.wrappingKeyId }
  const records: NewRecord[] = []
  const segments: NewSegment[] = []
  const receipts = new Map<PreparedEntry, Receipt>()
  const tasks = new Map<string, TaskPosition>()
  let { size: seq, lastHash, lastMicros } = start
  for (const prepared of entries) {
    const { entry, key, requestHash } = prepared
    // A chain's time never repeats or goes back, also when the clock does.
    const recordedAtMicros = Math.max(context.nowMicros, lastMicros + 1)
    const task = tasks.get(entry.taskId) ?? context.taskPosition(start, entry.taskId)
    const place = {
      origin,
      seq,
      previousRecordHash: lastHash,
      taskSeq: task.nextSeq,
      previousTaskRecordHash: task.lastHash,
      recordedAtMicros,
    }
    const payload = prepared.segments.map((one, segment) => referenceOf(one, segment, context))
    const { body, hash, recordedAt } = buildRecord(entry, place, { payload, keyIds })
    const at = { chain, seq, recordedAtMicros }
    const taskSeq = task.nextSeq
    records.push({ ...at, ...columnsOf(entry), key, requestHash, body, hash, taskSeq })
    for (const [segment, one] of prepared.segments.entries()) {
      const { subjectRef, key: subjectKey } = subjectOf(one, context)
      const encrypted = encryptSegment(subjectKey, { origin, seq, segment }, one.packed)
      segments.push({ ...at, segment, subjectRef: uuidBytes(subjectRef), ...encrypted })
    }
    const recordHash = hash.toString('hex')
    receipts.set(prepared, { origin, seq, recordHash, recordedAt, duplicate: false })
    tasks.set(entry.taskId, { nextSeq: taskSeq + 1, lastHash: hash })
    seq += 1
    lastHash = hash
    lastMicros = recordedAtMicros
  }
  return {
    start,
    head: { ...start, size: seq, lastHash, lastMicros },
    records,
    segments,
    receipts,
    tasks,
  }
}

const subjectOf = ({ subjectName }: PreparedSegment, { subjects }: BuildContext): SubjectKey =>
  subjects.get(subjectName) as SubjectKey

function referenceOf(
  one: PreparedSegment,
  segment: number,
  context: BuildContext,
): PayloadReference {
  const { subjectRef } = subjectOf(one, context)
  const commitment = one.commitment.toString('hex')
  const { bytes, kind, zstdBytes } = one
  const stored = zstdBytes === undefined ? {} : { zstdBytes }
  return { bytes, commitment, kind, segment, subjectRef, ...stored }
}

function moveOf(start: ChainHead, head: ChainHead, signer: BatchSigner): ChainMove {
  const { chain, origin, size: expectedSize, lastHash: expectedHash } = start
  const { size, lastHash, lastMicros } = head
  const signature = signer.sign({
    origin,
    firstSeq: expectedSize,
    lastSeq: size - 1,
    lastHash: lastHash.toString('hex'),
  })
  return { chain, expectedSize, expectedHash, size, lastHash, lastMicros, signature }
}

const columnsOf = (entry: AuditEntry) => ({
  taskId: uuidBytes(entry.taskId),
  handoffId: uuidBytes(entry.handoffId),
  eventNumber: EVENT_NUMBERS[entry.event],
  spentMicroUSD: entry.cost?.spentMicroUSD ?? null,
})
