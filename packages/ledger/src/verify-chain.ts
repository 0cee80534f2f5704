// A chain is re-derived from its stored bytes, record by record; every difference is located.
import type { KeyObject } from 'node:crypto'
import { verifyBatch } from './batch-signature.ts'
import type { Finding, FindingRule } from './finding.ts'
import { differingColumns } from './record-columns.ts'
import { parseInstant } from './instant.ts'
import { GENESIS_HASH, recordHash } from './record-hash.ts'
import { readRecord } from './record.ts'
import type { RecordBody } from './record.ts'
import { recordId } from './record-id.ts'
import type {
  ChainStart,
  StoredBatch,
  StoredHead,
  StoredIndex,
  StoredRecord,
} from './stored-record.ts'
import { verifySegments } from './verify-segments.ts'

interface ChainVerifierOptions {
  readonly origin: string
  /** Trusted public keys by key id; they come from settings, never from the store. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** The first record by default. Batches are then looked at from the one that begins there. */
  readonly start?: ChainStart
  /** Where the batch begins that holds the first record; with the first record by default. */
  readonly signedFrom?: number
  /** Batches that end before this record have been verified: their signatures are not looked at. */
  readonly signaturesFrom?: number
}

interface TaskHead {
  readonly taskSeq: number
  readonly hash: Buffer
}

/** Of this many tasks at least, the last record is remembered; for others the caller gives `taskBefore`. */
const TASKS_MIN = 10_000

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  Buffer.compare(left, right) === 0

/**
 * Verifies one chain (E13, I10): `next` takes the stored records in order of seq, `finish` the
 * stored head. Both answer what they found, so that a caller can stream. Constant in memory: the
 * hashes of the last 10,000 to 20,000 tasks, and the unknown keys.
 */
export class ChainVerifier {
  readonly #origin: string
  readonly #batchKeys: ReadonlyMap<string, KeyObject>
  readonly #unknownKeys = new Set<string>()
  #taskHeads = new Map<string, TaskHead>()
  #olderTaskHeads = new Map<string, TaskHead>()
  readonly #signaturesFrom: number
  #findings: Finding[] = []
  #size = 0
  #lastHash: Buffer = GENESIS_HASH
  #lastMicros = 0
  #signedSize = 0
  #signedEnd: ChainStart = { size: 0, lastHash: GENESIS_HASH, lastMicros: 0 }

  constructor({ origin, batchKeys, start, signedFrom, signaturesFrom }: ChainVerifierOptions) {
    this.#origin = origin
    this.#batchKeys = batchKeys
    this.#signaturesFrom = signaturesFrom ?? 0
    if (start === undefined) return
    this.#size = start.size
    this.#lastHash = Buffer.from(start.lastHash)
    this.#lastMicros = start.lastMicros
    this.#signedSize = signedFrom ?? start.size
    this.#signedEnd = start
  }

  /** The recomputed hash of the record that was read last. */
  get lastHash(): Uint8Array {
    return this.#lastHash
  }

  /** Where the batches end that were read so far; without findings, they and all before are as signed. */
  get signedEnd(): ChainStart {
    return this.#signedEnd
  }

  next(stored: StoredRecord): readonly Finding[] {
    this.#findings = []
    const { seq } = stored.columns
    const hash = recordHash(stored.body)
    if (!sameBytes(hash, stored.recordHash)) {
      this.#report(seq, 'RECORD_HASH', 'the stored hash is not the hash of the stored body')
    }
    const body = 'reading' in stored ? stored.reading : readRecord(stored.body)
    const linked = this.#checkSeq(seq)
    if (body === undefined) this.#report(seq, 'RECORD_UNREADABLE', 'the body is not a record')
    else this.#checkBody({ stored, body, hash, linked })
    if (stored.batch !== undefined) this.#checkBatch(stored.batch, { seq, hash })
    this.#size = seq + 1
    this.#lastHash = hash
    return this.#findings
  }

  finish(head: StoredHead): readonly Finding[] {
    this.#findings = []
    if (head.size !== this.#size) {
      const message = `the head counts ${head.size} records, ${this.#size} are stored`
      this.#report(Math.min(head.size, this.#size), 'HEAD', message)
    } else if (!sameBytes(head.lastHash, this.#lastHash)) {
      this.#report(Math.max(0, this.#size - 1), 'HEAD', 'the head is not the last record')
    }
    if (this.#signedSize < this.#size) {
      this.#report(this.#signedSize, 'BATCH_COVER', 'records from here on are in no signed batch')
    }
    return this.#findings
  }

  #report(seq: number, rule: FindingRule, message: string): void {
    this.#findings.push({ origin: this.#origin, seq, rule, message })
  }

  /** Answers whether the record before this one is the one that was seen last. */
  #checkSeq(seq: number): boolean {
    if (seq === this.#size) return true
    if (seq < this.#size) this.#report(seq, 'RECORD_SEQ', `record ${seq} stands twice`)
    else {
      const last = seq - 1
      const range =
        last === this.#size ? `record ${last} is` : `records ${this.#size} to ${last} are`
      this.#report(this.#size, 'RECORD_SEQ', `${range} missing`)
    }
    return false
  }

  #checkBody(at: { stored: StoredRecord; body: RecordBody; hash: Buffer; linked: boolean }): void {
    const { stored, body, hash } = at
    const { seq } = stored.columns
    if (body.origin !== this.#origin) {
      this.#report(seq, 'RECORD_ORIGIN', 'the record names another chain')
    }
    if (at.linked && body.previousRecordHash !== this.#lastHash.toString('hex')) {
      this.#report(seq, 'RECORD_LINK', 'the record does not link to the one before it')
    }
    const differing = differingColumns(body, stored.columns)
    if (differing.length > 0) {
      this.#report(seq, 'RECORD_COLUMNS', `columns differ from the body: ${differing.join(', ')}`)
    }
    this.#checkTime(seq, stored.columns.recordedAtMicros ?? 0)
    this.#checkIndex(body, stored.index, hash)
    this.#checkTask(body, hash, stored.taskBefore)
    if (stored.segments !== undefined) {
      this.#findings.push(...verifySegments(body, stored.segments, stored.erased))
    }
  }

  #checkTime(seq: number, micros: number): void {
    if (micros <= this.#lastMicros) {
      this.#report(seq, 'RECORD_TIME', 'the record is not later than the one before it')
    }
    this.#lastMicros = Math.max(this.#lastMicros, micros)
  }

  #checkIndex(body: RecordBody, index: StoredIndex | undefined, hash: Buffer): void {
    const { seq } = body
    if (body.recordId !== recordId(body)) {
      this.#report(seq, 'RECORD_INDEX', 'the record id does not follow from the record')
    } else if (index === undefined) {
      this.#report(seq, 'RECORD_INDEX', 'the record is not in the idempotency index once')
    } else if (
      index.key !== body.recordId ||
      index.seq !== seq ||
      index.taskId !== body.taskId ||
      index.taskSeq !== body.taskSeq ||
      index.recordedAtMicros !== parseInstant(body.recordedAt) ||
      !sameBytes(index.recordHash, hash)
    ) {
      this.#report(seq, 'RECORD_INDEX', 'the idempotency index differs from the record')
    }
  }

  #checkTask(body: RecordBody, hash: Buffer, before: Uint8Array | undefined): void {
    const { taskId, taskSeq } = body
    const known =
      this.#taskHeads.get(taskId) ?? this.#olderTaskHeads.get(taskId) ?? forgotten(taskSeq, before)
    const expectedSeq = known === undefined ? 0 : known.taskSeq + 1
    const expectedHash = known?.hash ?? GENESIS_HASH
    if (taskSeq !== expectedSeq || body.previousTaskRecordHash !== expectedHash.toString('hex')) {
      this.#report(body.seq, 'TASK_LINK', "the record does not follow its task's last record")
    }
    this.#taskHeads.set(taskId, { taskSeq, hash })
    if (this.#taskHeads.size < TASKS_MIN) return
    this.#olderTaskHeads = this.#taskHeads
    this.#taskHeads = new Map()
  }

  #checkBatch(batch: StoredBatch, { seq, hash }: { seq: number; hash: Buffer }): void {
    if (batch.firstSeq !== this.#signedSize) {
      const message = `a batch starts at ${batch.firstSeq}, the signed part ends at ${this.#signedSize}`
      this.#report(seq, 'BATCH_COVER', message)
    }
    this.#signedSize = Math.max(this.#signedSize, batch.lastSeq + 1)
    this.#signedEnd = { size: seq + 1, lastHash: hash, lastMicros: this.#lastMicros }
    if (batch.lastSeq < this.#signaturesFrom && sameBytes(batch.lastHash, hash)) return
    const key = this.#batchKeys.get(batch.keyId)
    if (key === undefined) this.#reportUnknownKey(seq, batch.keyId)
    const { firstSeq, lastSeq } = batch
    const lastHash = hash.toString('hex')
    const statement = { origin: this.#origin, firstSeq, lastSeq, lastHash }
    const isSigned = key === undefined || verifyBatch(statement, batch.signature, key)
    if (sameBytes(batch.lastHash, hash) && isSigned) return
    this.#report(seq, 'BATCH_SIGNATURE', 'the signature of the batch does not fit its last record')
  }

  // Once per key: after a rotation every batch before it would say the same.
  #reportUnknownKey(seq: number, keyId: string): void {
    if (this.#unknownKeys.has(keyId)) return
    this.#unknownKeys.add(keyId)
    this.#report(seq, 'BATCH_KEY', `from here on, batches are signed with an unknown key ${keyId}`)
  }
}

const forgotten = (taskSeq: number, before: Uint8Array | undefined): TaskHead | undefined =>
  before === undefined ? undefined : { taskSeq: taskSeq - 1, hash: Buffer.from(before) }
