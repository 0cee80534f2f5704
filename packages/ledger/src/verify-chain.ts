// A chain is re-derived from its stored bytes, record by record; every difference is located.
import type { KeyObject } from 'node:crypto'
import { verifyBatch } from './batch-signature.ts'
import type { Finding, FindingRule } from './finding.ts'
import { parseInstant } from './instant.ts'
import { differingColumns } from './record-columns.ts'
import { GENESIS_HASH, readRecord, recordHash, recordId } from './record.ts'
import type { RecordBody } from './record.ts'
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
  /** Batches that end before this record are under a seal: the sealer knew their key when it signed. */
  readonly sealedTo?: number
  /** What no record may be later than, in microseconds since 1970. Without it times are compared with each other alone. */
  readonly latestMicros?: number
}

interface TaskHead {
  readonly taskSeq: number
  readonly hash: Buffer
}

/** Of this many tasks at least, the last record is remembered; for others the caller gives `taskBefore`. */
const TASKS_MIN = 10_000

const MICROS_PER_SECOND = 1_000_000

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  Buffer.compare(left, right) === 0

/** Takes the records of one chain in order of seq; both answers are what was found in this step. */
export interface ChainVerifier {
  next(stored: StoredRecord): readonly Finding[]
  finish(head: StoredHead): readonly Finding[]
  /** The recomputed hash of the record that was read last. */
  readonly lastHash: Uint8Array
  /** Where the batches end that were read so far; without findings, they and all before are as signed. */
  readonly signedEnd: ChainStart
}

type Report = (seq: number, rule: FindingRule, message: string) => void

const EMPTY: ChainStart = { size: 0, lastHash: GENESIS_HASH, lastMicros: 0 }

/**
 * Verifies one chain (E13, I10): `next` takes the stored records in order of seq, `finish` the
 * stored head. Both answer what they found, so that a caller can stream. Constant in memory: the
 * hashes of the last 10,000 to 20,000 tasks, and the unknown keys.
 */
export function createChainVerifier(options: ChainVerifierOptions): ChainVerifier {
  const { origin, start = EMPTY } = options
  let findings: Finding[] = []
  const report: Report = (seq, rule, message) => findings.push({ origin, seq, rule, message })
  const tasks = createTaskLinks(report)
  const batches = createBatchCover(options, report)
  const times = createTimes(start.lastMicros, options.latestMicros, report)
  let { size } = start
  let lastHash: Buffer = Buffer.from(start.lastHash)

  function checkBody(at: {
    stored: StoredRecord
    body: RecordBody
    hash: Buffer
    linked: boolean
  }) {
    const { stored, body, hash } = at
    const { seq, recordedAtMicros = 0 } = stored.columns
    if (body.origin !== origin) report(seq, 'RECORD_ORIGIN', 'the record names another chain')
    if (at.linked && body.previousRecordHash !== lastHash.toString('hex')) {
      report(seq, 'RECORD_LINK', 'the record does not link to the one before it')
    }
    const differing = differingColumns(body, stored.columns)
    if (differing.length > 0) {
      report(seq, 'RECORD_COLUMNS', `columns differ from the body: ${differing.join(', ')}`)
    }
    times.check(seq, recordedAtMicros)
    batches.names(seq, body.keyIds.batch)
    const indexFault = faultOfIndex(body, stored.index, hash)
    if (indexFault !== undefined) report(body.seq, 'RECORD_INDEX', indexFault)
    tasks.check(body, hash, stored.taskBefore)
    if (stored.segments !== undefined) {
      findings.push(...verifySegments(body, stored.segments, stored.erased))
    }
  }

  return {
    next(stored) {
      findings = []
      const { seq } = stored.columns
      const hash = recordHash(stored.body)
      if (!sameBytes(hash, stored.recordHash)) {
        report(seq, 'RECORD_HASH', 'the stored hash is not the hash of the stored body')
      }
      const body = 'reading' in stored ? stored.reading : readRecord(stored.body)
      const fault = faultOfSeq(seq, size)
      if (fault !== undefined) report(Math.min(seq, size), 'RECORD_SEQ', fault)
      if (body === undefined) report(seq, 'RECORD_UNREADABLE', 'the body is not a record')
      else checkBody({ stored, body, hash, linked: fault === undefined })
      if (stored.batch !== undefined)
        batches.check(stored.batch, { seq, hash, lastMicros: times.lastMicros })
      size = seq + 1
      lastHash = hash
      return findings
    },
    finish(head) {
      findings = []
      if (head.size !== size) {
        const message = `the head counts ${head.size} records, ${size} are stored`
        report(Math.min(head.size, size), 'HEAD', message)
      } else if (!sameBytes(head.lastHash, lastHash)) {
        report(Math.max(0, size - 1), 'HEAD', 'the head is not the last record')
      }
      batches.finish(size)
      return findings
    },
    get lastHash() {
      return lastHash
    },
    get signedEnd() {
      return batches.signedEnd
    },
  }
}

/** Undefined where the record before this one is the one that was seen last. */
function faultOfSeq(seq: number, size: number): string | undefined {
  if (seq === size) return undefined
  if (seq < size) return `record ${seq} stands twice`
  return size === seq - 1
    ? `record ${size} is missing`
    : `records ${size} to ${seq - 1} are missing`
}

function faultOfIndex(
  body: RecordBody,
  index: StoredIndex | undefined,
  hash: Buffer,
): string | undefined {
  if (body.recordId !== recordId(body)) return 'the record id does not follow from the record'
  if (index === undefined) return 'the record is not in the idempotency index once'
  const isSame =
    index.key === body.recordId &&
    index.seq === body.seq &&
    index.taskId === body.taskId &&
    index.taskSeq === body.taskSeq &&
    index.recordedAtMicros === parseInstant(body.recordedAt) &&
    sameBytes(index.recordHash, hash)
  return isSame ? undefined : 'the idempotency index differs from the record'
}

/** Whether times rise, and none is later than it can be. */
function createTimes(startMicros: number, latestMicros: number | undefined, report: Report) {
  let lastMicros = startMicros
  let isAhead = false
  return {
    check(seq: number, micros: number): void {
      if (micros <= lastMicros) {
        report(seq, 'RECORD_TIME', 'the record is not later than the one before it')
      }
      lastMicros = Math.max(lastMicros, micros)
      if (latestMicros === undefined || isAhead || micros <= latestMicros) return
      // Once: every record after it follows it.
      isAhead = true
      const seconds = Math.ceil((micros - latestMicros) / MICROS_PER_SECOND)
      report(
        seq,
        'CLOCK',
        `from here on, records are dated later than now: this one by ${seconds} s`,
      )
    },
    get lastMicros() {
      return lastMicros
    },
  }
}

/** Whether each record follows the last one of its task. */
function createTaskLinks(report: Report) {
  let heads = new Map<string, TaskHead>()
  let olderHeads = new Map<string, TaskHead>()
  return {
    check(body: RecordBody, hash: Buffer, before: Uint8Array | undefined): void {
      const { taskId, taskSeq } = body
      const known = heads.get(taskId) ?? olderHeads.get(taskId) ?? forgotten(taskSeq, before)
      const expectedSeq = known === undefined ? 0 : known.taskSeq + 1
      const expectedHash = known?.hash ?? GENESIS_HASH
      if (taskSeq !== expectedSeq || body.previousTaskRecordHash !== expectedHash.toString('hex')) {
        report(body.seq, 'TASK_LINK', "the record does not follow its task's last record")
      }
      heads.set(taskId, { taskSeq, hash })
      if (heads.size < TASKS_MIN) return
      olderHeads = heads
      heads = new Map()
    },
  }
}

interface BatchEnd {
  readonly seq: number
  readonly hash: Buffer
  readonly lastMicros: number
}

/** Whether every record stands in one batch that a known key signed. */
function createBatchCover(options: ChainVerifierOptions, report: Report) {
  const { origin, batchKeys, start, signaturesFrom = 0, sealedTo = 0 } = options
  /** The key ids that the records since the last batch name, with the first record of each. */
  let named = new Map<string, number>()
  const unknownKeys = new Set<string>()
  let signedSize = start === undefined ? 0 : (options.signedFrom ?? start.size)
  let signedEnd = start ?? EMPTY

  // Once per key: after a rotation every batch before it would say the same.
  function reportUnknownKey(seq: number, keyId: string): void {
    // Where no key is given at all, nobody can be told from the auditor.
    const isForged = seq >= sealedTo && batchKeys.size > 0
    const rule = isForged ? 'BATCH_FORGED' : 'BATCH_KEY'
    if (unknownKeys.has(`${rule} ${keyId}`)) return
    unknownKeys.add(`${rule} ${keyId}`)
    report(seq, rule, `from here on, batches are signed with an unknown key ${keyId}`)
  }

  function compareNames(keyId: string): void {
    for (const [name, seq] of named) {
      if (name === keyId) continue
      report(seq, 'BATCH_KEY_ID', 'the record names another key than its batch')
    }
    named = new Map()
  }

  return {
    names(seq: number, keyId: string): void {
      if (!named.has(keyId)) named.set(keyId, seq)
    },
    check(batch: StoredBatch, { seq, hash, lastMicros }: BatchEnd): void {
      const { firstSeq, lastSeq } = batch
      compareNames(batch.keyId)
      if (firstSeq !== signedSize) {
        const message = `a batch starts at ${firstSeq}, the signed part ends at ${signedSize}`
        report(seq, 'BATCH_COVER', message)
      }
      signedSize = Math.max(signedSize, lastSeq + 1)
      signedEnd = { size: seq + 1, lastHash: hash, lastMicros }
      if (lastSeq < signaturesFrom && sameBytes(batch.lastHash, hash)) return
      const key = batchKeys.get(batch.keyId)
      if (key === undefined) reportUnknownKey(seq, batch.keyId)
      const statement = { origin, firstSeq, lastSeq, lastHash: hash.toString('hex') }
      const isSigned = key === undefined || verifyBatch(statement, batch.signature, key)
      if (sameBytes(batch.lastHash, hash) && isSigned) return
      report(seq, 'BATCH_SIGNATURE', 'the signature of the batch does not fit its last record')
    },
    finish(size: number): void {
      if (signedSize >= size) return
      report(signedSize, 'BATCH_COVER', 'records from here on are in no signed batch')
    },
    get signedEnd() {
      return signedEnd
    },
  }
}

const forgotten = (taskSeq: number, before: Uint8Array | undefined): TaskHead | undefined =>
  before === undefined ? undefined : { taskSeq: taskSeq - 1, hash: Buffer.from(before) }
