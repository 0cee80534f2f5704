// What a verifier reads about one record: the stored bytes and every row that refers to them.
import type { KeyObject } from 'node:crypto'
import type { RecordColumns } from './record-columns.ts'
import type { SealedSegment } from './segment.ts'

/** The row that makes an append idempotent, as stored. */
export interface StoredIndex {
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

export interface StoredSegment extends SealedSegment {
  readonly segment: number
  readonly subjectRef: string
  /** Undefined when the subject has no key any more. */
  readonly key: KeyObject | undefined
}

export interface StoredRecord {
  readonly body: Uint8Array
  readonly recordHash: Uint8Array
  readonly columns: RecordColumns
  /** Found by the recordId in the body. */
  readonly index: StoredIndex | undefined
  /** The batch that ends in this record, if one does. */
  readonly batch: StoredBatch | undefined
  /** Undefined when payloads are not part of this verification. */
  readonly segments: readonly StoredSegment[] | undefined
}

/** The stored end of a chain. */
export interface StoredHead {
  readonly size: number
  readonly lastHash: Uint8Array
}
