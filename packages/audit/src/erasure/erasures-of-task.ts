// The erasures that a task's records need to be understood: of each subject in them whose key was destroyed.
import { readRecord } from '@baton/ledger'
import type { SegmentPlaceTuple } from '@baton/ledger'
import type { ColdTier } from '../cold/cold-tier.ts'
import { readTierRecords } from '../cold/read-task.ts'
import type { Database } from '../database.ts'
import { findErasuresOf, readErasedLists } from './erased-segments.ts'
import type { RecordRow } from '../read/records.ts'

export interface ErasureOfTask {
  readonly row: RecordRow
  /** Everything that this record erased, also in other tasks: its digest is over the whole list. */
  readonly erased: readonly SegmentPlaceTuple[]
}

/** In order of (chain, seq). */
export async function readErasuresOf(
  db: Database,
  tier: ColdTier,
  rows: readonly RecordRow[],
): Promise<readonly ErasureOfTask[]> {
  const subjects = new Set(
    rows.flatMap(({ body }) => readRecord(body)?.payload.map(({ subjectRef }) => subjectRef) ?? []),
  )
  const found: ErasureOfTask[] = []
  for (const erasureId of await findErasuresOf(db, [...subjects])) {
    const lists = new Map(
      (await readErasedLists(db, erasureId)).map((list) => [list.subjectRef, list.places]),
    )
    // The records of an erasure are a task of their own.
    for (const row of (await readTierRecords(db, tier, erasureId)).rows) {
      const subjectRef = readRecord(row.body)?.erasure?.subjectRef ?? ''
      const erased = lists.get(subjectRef)
      if (subjects.has(subjectRef) && erased !== undefined) found.push({ row, erased })
    }
  }
  return found.toSorted(
    (left, right) => left.row.chain - right.row.chain || left.row.seq - right.row.seq,
  )
}
