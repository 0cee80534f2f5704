// What a verifier reads about one record: the stored bytes and every row that refers to them.
import type { KeyObject } from 'node:crypto'
import type { RecordColumns } from './record-columns.ts'
import type { RecordBody } from './record.ts'
import type { EncryptedSegment } from './segment.ts'

/** The row that makes an append idempotent, as stored. */
export interface StoredIndex {
  /** The record id under which it stands. */
  readonly key: string
  readonly seq: number
  readonly recordHash: Uint8Array
  readonly taskId: string
  readonly taskSeq: number
  readonly recordedAtMicros: number
}

export interface StoredBatch {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly lastHash: Uint8Array
  readonly keyId: string
  readonly signature: Uint8Array
}

export interface StoredSegment extends EncryptedSegment {
  readonly segment: number
  readonly subjectRef: string
  /** Undefined when the subject has no key any more. */
  readonly key: KeyObject | undefined
}

export interface StoredRecord {
  readonly body: Uint8Array
  /** What `readRecord(body)` says, where the caller has asked already; left out otherwise. */
  readonly reading?: RecordBody | undefined
  readonly recordHash: Uint8Array
  readonly columns: RecordColumns
  /** Found by the task and its count in the body; undefined unless there is exactly one. */
  readonly index: StoredIndex | undefined
  /** The hash of the task's record before this one, where the verifier may have forgotten it. */
  readonly taskBefore?: Uint8Array | undefined
  /** The batch that ends in this record, if one does. */
  readonly batch: StoredBatch | undefined
  /** Undefined when payloads are not part of this verification. */
  readonly segments: readonly StoredSegment[] | undefined
  /** The subject of each segment that an authenticated erasure record names, by segment number. */
  readonly erased?: ReadonlyMap<number, string> | undefined
}

/** Where a verification that knows the records before begins. */
export interface ChainStart {
  readonly size: number
  readonly lastHash: Uint8Array
  /** The time of the last record, in microseconds since 1970. */
  readonly lastMicros: number
}

/** The stored end of a chain. */
export interface StoredHead {
  readonly size: number
  readonly lastHash: Uint8Array
}
