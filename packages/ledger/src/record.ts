// Version 1 of the record: allow-listed structural fields, integers only, no message text. Made, named,
// hashed and read here.
import { hash } from 'node:crypto'
import type {
  AuditEntry,
  EntryAct,
  EntryClassifier,
  EntryCost,
  EntryFanOut,
  EntryOperation,
  EntryStream,
  EntryVerdicts,
  SegmentInput,
} from './audit-entry.ts'
import type { AuditEvent } from './audit-event.ts'
import { canonicalBytes } from './canonical-json.ts'
import { isRecordBody } from './check-entry.ts'
import type { RecordErasure } from './erasure-list.ts'
import { formatInstant } from './instant.ts'
import { LedgerError } from './ledger-error.ts'
import { RecordReader } from './record-reader.ts'
import { uuidBytes, uuidOfDigest } from './uuid.ts'

/** The largest body: the entry length of C2SP tlog-tiles is a uint16. */
const BODY_BYTES_MAX = 65_535

/** What a record says about one encrypted segment. `bytes` is the length of its text in UTF-8. */
export interface PayloadReference {
  readonly segment: number
  readonly kind: SegmentInput['kind']
  readonly subjectRef: string
  /** Lower-case hex. */
  readonly commitment: string
  readonly bytes: number
  /** The length of its compressed text, where it was compressed before it was encrypted. */
  readonly zstdBytes?: number
}

/** The parsed form of a stored body. Its bytes are what is hashed; this is only a reading of them. */
export interface RecordBody {
  readonly v: 1
  readonly origin: string
  readonly seq: number
  readonly previousRecordHash: string
  readonly recordId: string
  readonly recordedAt: string
  readonly event: AuditEvent
  readonly taskId: string
  /** Counts the task's own records from 0, so that a trace alone shows a missing middle. */
  readonly taskSeq: number
  readonly previousTaskRecordHash: string
  readonly handoffId: string
  readonly parentHandoffId: string | null
  readonly attempt: number
  readonly epoch: number
  readonly fromAgent: AuditEntry['fromAgent']
  readonly toAgent: AuditEntry['toAgent']
  readonly traceparent: string
  readonly verdicts: EntryVerdicts | null
  readonly reason: string | null
  readonly cost: EntryCost | null
  readonly tenant?: string
  readonly sentBy?: string
  readonly act?: EntryAct
  readonly classifier?: EntryClassifier
  readonly exemptions?: readonly string[]
  readonly policy?: string
  readonly release?: string
  readonly model?: string
  readonly times?: number
  readonly joins?: readonly string[]
  readonly fanOut?: EntryFanOut
  readonly stream?: EntryStream
  readonly operation?: EntryOperation
  readonly erasure?: RecordErasure
  readonly payload: readonly PayloadReference[]
  readonly keyIds: RecordKeys
}

/** The keys in force when the record was made: the batch signer's and the one that wraps keys. */
export interface RecordKeys {
  readonly batch: string
  readonly wrap: string
}

/** Where a record comes to stand: in its chain and among its task's records. */
export interface RecordPlace {
  readonly origin: string
  readonly seq: number
  readonly previousRecordHash: Uint8Array
  readonly taskSeq: number
  readonly previousTaskRecordHash: Uint8Array
  /** Microseconds since 1970; larger than that of the record before it in the chain. */
  readonly recordedAtMicros: number
}

export interface BuiltRecord {
  readonly recordedAt: string
  readonly body: Buffer
  readonly hash: Buffer
}

/** What the first record of a chain, and the first record of a task, link to. */
export const GENESIS_HASH = Buffer.alloc(32)

/** Its first byte stays 0; the rest is written anew for each record. */
const LEAF = new Uint8Array(65_536)

/**
 * SHA-256(0x00 || body): 32 bytes. It is also the RFC 6962 leaf hash of the record: one hash serves the
 * chain and the tree.
 */
export function recordHash(body: Uint8Array): Buffer {
  const leaf = body.length < LEAF.length ? LEAF : new Uint8Array(1 + body.length)
  leaf.set(body, 1)
  // Node makes a text much faster than a new Buffer.
  return Buffer.from(hash('sha256', leaf.subarray(0, 1 + body.length), 'latin1'), 'latin1')
}

type Identity = Pick<AuditEntry, 'handoffId' | 'event' | 'epoch' | 'act'>

/**
 * The idempotency key of an entry, the same on every machine: the UUIDv8 made from
 * SHA-256(handoffId | event | epoch), and | act where a person acted.
 */
export function recordId({ handoffId, event, epoch, act }: Identity): string {
  const identity = `${handoffId}|${event}|${epoch}`
  return uuidOfDigest(hash('sha256', act === undefined ? identity : `${identity}|${act.id}`, 'hex'))
}

/** The same key as 16 bytes. */
export const recordIdBytes = (entry: Identity): Buffer => uuidBytes(recordId(entry))

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/**
 * The exact bytes of a record and their hash (E11, E13). Pure: the same arguments give the same
 * bytes. Throws BATON_RECORD_TOO_LARGE beyond 65,535 bytes.
 */
export function buildRecord(
  entry: AuditEntry,
  place: RecordPlace,
  rest: { readonly payload: readonly PayloadReference[]; readonly keyIds: RecordKeys },
): BuiltRecord {
  const record = recordBody(entry, place, rest)
  const body = canonicalBytes(record)
  if (body.length > BODY_BYTES_MAX) {
    const message = `a record of ${body.length} bytes is larger than ${BODY_BYTES_MAX}`
    throw new LedgerError('BATON_RECORD_TOO_LARGE', message)
  }
  return { recordedAt: record.recordedAt, body, hash: recordHash(body) }
}

function recordBody(
  entry: AuditEntry,
  place: RecordPlace,
  rest: { readonly payload: readonly PayloadReference[]; readonly keyIds: RecordKeys },
): RecordBody {
  const { segments: _, ...structural } = entry
  return {
    v: 1,
    ...structural,
    origin: place.origin,
    seq: place.seq,
    previousRecordHash: hex(place.previousRecordHash),
    recordId: recordId(entry),
    recordedAt: formatInstant(place.recordedAtMicros),
    taskSeq: place.taskSeq,
    previousTaskRecordHash: hex(place.previousTaskRecordHash),
    payload: rest.payload,
    keyIds: rest.keyIds,
  }
}

/** Reads a stored body; undefined when it is not a version 1 record. Does not verify anything. */
export function readRecord(body: Uint8Array): RecordBody | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
  return new RecordReader(body, text).read(0, body.length) ?? readByRules(body)
}

function readByRules(body: Uint8Array): RecordBody | undefined {
  try {
    const value: unknown = JSON.parse(UTF_8.decode(body))
    return isRecordBody(value) ? (value as RecordBody) : undefined
  } catch {
    return undefined
  }
}
