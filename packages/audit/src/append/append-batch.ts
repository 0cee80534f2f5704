// The one statement that writes to the log: all chains of a flush in one call and one commit.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY, columns, nullable } from '@baton/postgres'

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

const MOVES = columns({
  chain: BINARY.int2,
  expectedSize: BINARY.int8,
  expectedHash: BINARY.bytea,
  size: BINARY.int8,
  lastHash: BINARY.bytea,
  lastMicros: BINARY.timestamptz,
})
const SIGNATURES = columns({ signature: BINARY.bytea })
const RECORDS = columns({
  chain: BINARY.int2,
  seq: BINARY.int8,
  recordedAtMicros: BINARY.timestamptz,
  taskId: BINARY.uuid,
  handoffId: BINARY.uuid,
  eventNumber: BINARY.int2,
  spentMicroUSD: nullable(BINARY.int8),
  body: BINARY.bytea,
  hash: BINARY.bytea,
  key: BINARY.uuid,
  requestHash: BINARY.bytea,
  taskSeq: BINARY.int4,
})
const SEGMENTS = columns({
  chain: BINARY.int2,
  seq: BINARY.int8,
  segment: BINARY.int2,
  recordedAtMicros: BINARY.timestamptz,
  subjectRef: BINARY.uuid,
  nonce: BINARY.bytea,
  ciphertext: BINARY.bytea,
})

const KEY_ID = MOVES.width + 1
const BEFORE_RECORDS = KEY_ID + SIGNATURES.width
const STATEMENT = `select audit.append(${MOVES.parameters()}, $${KEY_ID}::text,
  ${SIGNATURES.parameters({ after: KEY_ID })}, ${RECORDS.parameters({ after: BEFORE_RECORDS })},
  ${SEGMENTS.parameters({ after: BEFORE_RECORDS + RECORDS.width })}) as appended`

/**
 * Answers false, with nothing written, when another writer moved one of the chains meanwhile. A key
 * that is recorded already is a unique violation, and nothing is written either.
 */
export async function appendBatch(db: Database, batch: NewBatch): Promise<boolean> {
  const rows = await run<{ appended: boolean }>(db, 'append_batch', STATEMENT, [
    ...MOVES.values(batch.moves),
    batch.keyId,
    ...SIGNATURES.values(batch.moves),
    ...RECORDS.values(batch.records),
    ...SEGMENTS.values(batch.segments),
  ])
  return rows[0]?.appended === true
}
