// The one statement that writes to the log: all chains of a flush in one call and one commit.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import {
  BIGINT,
  BYTEA,
  encodeArray,
  INTEGER,
  SMALLINT,
  TIMESTAMPTZ,
  UUID,
} from './postgres-binary.ts'

/** How one chain moves. The call changes nothing unless every chain is still as expected. */
export interface ChainMove {
  readonly chain: number
  readonly expectedSize: number
  readonly expectedHash: Buffer
  readonly size: number
  readonly lastHash: Buffer
  readonly lastMicros: number
  readonly signature: Buffer
}

export interface NewSegment {
  readonly chain: number
  readonly seq: number
  readonly segment: number
  readonly recordedAtMicros: number
  readonly subjectRef: Buffer
  readonly nonce: Buffer
  readonly ciphertext: Buffer
}

export interface NewRecord {
  readonly chain: number
  readonly seq: number
  readonly recordedAtMicros: number
  readonly taskId: Buffer
  readonly handoffId: Buffer
  readonly eventNumber: number
  readonly spentMicroUSD: number | null
  readonly body: Buffer
  readonly hash: Buffer
  readonly key: Buffer
  readonly requestHash: Buffer
  readonly taskSeq: number
}

export interface NewBatch {
  readonly keyId: string
  readonly moves: readonly ChainMove[]
  readonly records: readonly NewRecord[]
  readonly segments: readonly NewSegment[]
}

const TYPES = [
  'smallint[], bigint[], bytea[], bigint[], bytea[], timestamptz[], text, bytea[]',
  'smallint[], bigint[], timestamptz[], uuid[], uuid[], smallint[], bigint[]',
  'bytea[], bytea[], uuid[], bytea[], integer[]',
  'smallint[], bigint[], smallint[], timestamptz[], uuid[], bytea[], bytea[]',
]
const PARAMETERS = TYPES.join(', ')
  .split(', ')
  .map((type, index) => `$${index + 1}::${type}`)
const STATEMENT = `select audit.append(${PARAMETERS.join(', ')}) as appended`

/**
 * Answers false, with nothing written, when another writer moved one of the chains meanwhile. A key
 * that is recorded already is a unique violation, and nothing is written either.
 */
export async function appendBatch(db: Database, batch: NewBatch): Promise<boolean> {
  const values = [...moveValues(batch), ...recordValues(batch), ...segmentValues(batch)]
  const rows = await run<{ appended: boolean }>(db, 'append_batch', STATEMENT, values)
  return rows[0]?.appended === true
}

const moveValues = ({ moves, keyId }: NewBatch): unknown[] => [
  encodeArray(
    SMALLINT,
    moves.map((move) => move.chain),
  ),
  encodeArray(
    BIGINT,
    moves.map((move) => move.expectedSize),
  ),
  encodeArray(
    BYTEA,
    moves.map((move) => move.expectedHash),
  ),
  encodeArray(
    BIGINT,
    moves.map((move) => move.size),
  ),
  encodeArray(
    BYTEA,
    moves.map((move) => move.lastHash),
  ),
  encodeArray(
    TIMESTAMPTZ,
    moves.map((move) => move.lastMicros),
  ),
  keyId,
  encodeArray(
    BYTEA,
    moves.map((move) => move.signature),
  ),
]

const recordValues = ({ records }: NewBatch): unknown[] => [
  encodeArray(
    SMALLINT,
    records.map((record) => record.chain),
  ),
  encodeArray(
    BIGINT,
    records.map((record) => record.seq),
  ),
  encodeArray(
    TIMESTAMPTZ,
    records.map((record) => record.recordedAtMicros),
  ),
  encodeArray(
    UUID,
    records.map((record) => record.taskId),
  ),
  encodeArray(
    UUID,
    records.map((record) => record.handoffId),
  ),
  encodeArray(
    SMALLINT,
    records.map((record) => record.eventNumber),
  ),
  encodeArray(
    BIGINT,
    records.map((record) => record.spentMicroUSD),
  ),
  encodeArray(
    BYTEA,
    records.map((record) => record.body),
  ),
  encodeArray(
    BYTEA,
    records.map((record) => record.hash),
  ),
  encodeArray(
    UUID,
    records.map((record) => record.key),
  ),
  encodeArray(
    BYTEA,
    records.map((record) => record.requestHash),
  ),
  encodeArray(
    INTEGER,
    records.map((record) => record.taskSeq),
  ),
]

const segmentValues = ({ segments }: NewBatch): unknown[] => [
  encodeArray(
    SMALLINT,
    segments.map((segment) => segment.chain),
  ),
  encodeArray(
    BIGINT,
    segments.map((segment) => segment.seq),
  ),
  encodeArray(
    SMALLINT,
    segments.map((segment) => segment.segment),
  ),
  encodeArray(
    TIMESTAMPTZ,
    segments.map((segment) => segment.recordedAtMicros),
  ),
  encodeArray(
    UUID,
    segments.map((segment) => segment.subjectRef),
  ),
  encodeArray(
    BYTEA,
    segments.map((segment) => segment.nonce),
  ),
  encodeArray(
    BYTEA,
    segments.map((segment) => segment.ciphertext),
  ),
]
