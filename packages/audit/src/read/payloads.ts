// The reading statement on audit.payload: sealed segments as stored.
import type { SealedSegment } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'

interface SeqRange {
  readonly chain: number
  readonly firstSeq: number
  readonly lastSeq: number
}

export interface SegmentRow extends SealedSegment {
  readonly seq: number
  readonly segment: number
  readonly subjectRef: string
}

/** The segments of the records of a range. */
export function readSegments(db: Database, range: SeqRange): Promise<SegmentRow[]> {
  return run<SegmentRow>(
    db,
    'read_segments',
    `select seq, segment, subject_ref as "subjectRef", nonce, ciphertext
     from audit.payload where chain = $1 and seq between $2 and $3`,
    [range.chain, range.firstSeq, range.lastSeq],
  )
}
