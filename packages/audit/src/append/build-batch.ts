// Entries become hashed, linked, sealed and signed rows; pure but for nonces and salts.
import { buildRecord, EVENT_NUMBERS, sealSegment, uuidBytes } from '@baton/ledger'
import type { AuditEntry, BatchSigner, PayloadReference, Receipt, RecordKeys } from '@baton/ledger'
import type { ChainMove, NewBatch, NewRecord, NewSegment } from './append-batch.ts'
import type { ChainHead } from './heads.ts'
import type { PreparedEntry, PreparedSegment } from './prepared-entry.ts'
import type { SubjectKey } from './subject-vault.ts'
import type { TaskPosition } from '../read/task-lasts.ts'

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
  const chains = work.map((one) => new ChainBuilder(one.head, context).addAll(one.entries))
  return {
    batch: {
      keyId: context.signer.keyId,
      moves: chains.map((chain) => chain.move()),
      records: chains.flatMap((chain) => chain.records),
      segments: chains.flatMap((chain) => chain.segments),
    },
    heads: chains.map((chain) => chain.movedHead()),
    positions: chains.flatMap((chain) => chain.positions()),
    receipts: new Map(chains.flatMap((chain) => [...chain.receipts])),
  }
}

type SegmentRecord = Pick<NewSegment, 'chain' | 'seq' | 'recordedAtMicros'>

class ChainBuilder {
  readonly records: NewRecord[] = []
  readonly segments: NewSegment[] = []
  readonly receipts = new Map<PreparedEntry, Receipt>()
  readonly #context: BuildContext
  readonly #keyIds: RecordKeys
  readonly #start: ChainHead
  readonly #tasks = new Map<string, TaskPosition>()
  #size: number
  #lastHash: Buffer
  #lastMicros: number

  constructor(head: ChainHead, context: BuildContext) {
    this.#context = context
    this.#keyIds = { batch: context.signer.keyId, wrap: context.wrappingKeyId }
    this.#start = head
    this.#size = head.size
    this.#lastHash = head.lastHash
    this.#lastMicros = head.lastMicros
  }

  addAll(entries: readonly PreparedEntry[]): this {
    for (const prepared of entries) this.#add(prepared)
    return this
  }

  #add(prepared: PreparedEntry): void {
    const { entry } = prepared
    const { origin } = this.#start
    const seq = this.#size
    // A chain's time never repeats or goes back, also when the clock does.
    const recordedAtMicros = Math.max(this.#context.nowMicros, this.#lastMicros + 1)
    const task =
      this.#tasks.get(entry.taskId) ?? this.#context.taskPosition(this.#start, entry.taskId)
    const place = {
      origin,
      seq,
      previousRecordHash: this.#lastHash,
      taskSeq: task.nextSeq,
      previousTaskRecordHash: task.lastHash,
      recordedAtMicros,
    }
    const payload = prepared.segments.map((one, segment) => this.#reference(one, segment))
    const { body, hash, recordedAt } = buildRecord(entry, place, { payload, keyIds: this.#keyIds })
    const at = { chain: this.#start.chain, seq, recordedAtMicros }
    this.records.push({
      ...at,
      ...columns(entry),
      ...keysOf(prepared),
      body,
      hash,
      taskSeq: task.nextSeq,
    })
    prepared.segments.forEach((one, segment) => this.#seal(one, segment, at))
    const receipt = { origin, seq, recordHash: hash.toString('hex'), recordedAt, duplicate: false }
    this.receipts.set(prepared, receipt)
    this.#tasks.set(entry.taskId, { nextSeq: task.nextSeq + 1, lastHash: hash })
    this.#size = seq + 1
    this.#lastHash = hash
    this.#lastMicros = recordedAtMicros
  }

  #subject({ subjectName }: PreparedSegment): SubjectKey {
    return this.#context.subjects.get(subjectName) as SubjectKey
  }

  #reference(one: PreparedSegment, segment: number): PayloadReference {
    const { subjectRef } = this.#subject(one)
    const committed = one.commitment.toString('hex')
    return { bytes: one.bytes, commitment: committed, kind: one.kind, segment, subjectRef }
  }

  #seal(one: PreparedSegment, segment: number, at: SegmentRecord): void {
    const { subjectRef, key } = this.#subject(one)
    const place = { origin: this.#start.origin, seq: at.seq, segment }
    const sealed = sealSegment(key, place, one.salted)
    this.segments.push({ ...at, segment, subjectRef: uuidBytes(subjectRef), ...sealed })
  }

  move(): ChainMove {
    const { chain, origin, size: expectedSize, lastHash: expectedHash } = this.#start
    const lastHash = this.#lastHash.toString('hex')
    const statement = { origin, firstSeq: expectedSize, lastSeq: this.#size - 1, lastHash }
    const signature = this.#context.signer.sign(statement)
    const { size, lastMicros } = this.movedHead()
    return {
      chain,
      expectedSize,
      expectedHash,
      size,
      lastHash: this.#lastHash,
      lastMicros,
      signature,
    }
  }

  movedHead(): ChainHead {
    const moved = { size: this.#size, lastHash: this.#lastHash, lastMicros: this.#lastMicros }
    return { ...this.#start, ...moved }
  }

  positions(): { chain: number; taskId: string; position: TaskPosition }[] {
    const { chain } = this.#start
    return [...this.#tasks].map(([taskId, position]) => ({ chain, taskId, position }))
  }
}

const keysOf = ({ key, requestHash }: PreparedEntry) => ({ key, requestHash })

const columns = (entry: AuditEntry) => ({
  taskId: uuidBytes(entry.taskId),
  handoffId: uuidBytes(entry.handoffId),
  eventNumber: EVENT_NUMBERS[entry.event],
  spentMicroUSD: entry.cost?.spentMicroUSD ?? null,
})
