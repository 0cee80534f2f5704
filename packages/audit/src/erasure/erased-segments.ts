// Which segments an erasure closes, lists and deletes: the statements.
import { uuidBytes } from '@baton/ledger'
import type { SegmentPlaceTuple } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

/** Where a segment stands, and whose it is. */
export interface SegmentAt {
  readonly chain: number
  readonly seq: number
  readonly segment: number
  readonly subjectRef: string
}

/** The segments of subjects that the hot store holds. */
export function findSegmentsOf(db: Database, subjectRefs: readonly string[]): Promise<SegmentAt[]> {
  return run<SegmentAt & object>(
    db,
    'find_segments_of',
    `select chain, seq, segment, subject_ref as "subjectRef" from audit.payload
     where subject_ref = any($1::uuid[]) order by chain, seq, segment`,
    [BINARY.uuid.encode(subjectRefs.map(uuidBytes))],
  )
}

/** No segment can be added to the subjects any more, and the list of those they have is final. */
export async function closeSubjects(
  db: Database,
  erasureId: string,
  closing: { readonly subjectRefs: readonly string[]; readonly cold: readonly SegmentAt[] },
): Promise<void> {
  const { subjectRefs, cold } = closing
  await run(db, 'close_subjects', `select audit.close_subjects($1, $2, $3, $4, $5, $6)`, [
    erasureId,
    BINARY.uuid.encode(subjectRefs.map(uuidBytes)),
    BINARY.int2.encode(cold.map(({ chain }) => chain)),
    BINARY.int8.encode(cold.map(({ seq }) => seq)),
    BINARY.int2.encode(cold.map(({ segment }) => segment)),
    BINARY.uuid.encode(cold.map(({ subjectRef }) => uuidBytes(subjectRef))),
  ])
}

/** Deletes the listed payloads of the hot store; answers how many there were. */
export async function erasePayload(db: Database, erasureId: string): Promise<number> {
  const rows = await run<{ deleted: number }>(
    db,
    'erase_payload',
    `select audit.erase_payload($1) as deleted`,
    [erasureId],
  )
  return rows[0]?.deleted ?? 0
}

export interface ErasedList {
  readonly subjectRef: string
  readonly places: readonly SegmentPlaceTuple[]
}

/** The final list of each subject of an erasure, subjects and places in order. */
export async function readErasedLists(db: Database, erasureId: string): Promise<ErasedList[]> {
  const rows = await run<PlaceRow>(
    db,
    'read_erased_lists',
    `select e.subject_ref as "subjectRef", h.origin, s.seq, s.segment
     from audit.erased_subject e
     left join audit.erased_segment s on s.subject_ref = e.subject_ref
     left join audit.head h on h.chain = s.chain
     where e.erasure_id = $1 order by e.subject_ref, h.origin collate "C", s.seq, s.segment`,
    [erasureId],
  )
  return listsOf(rows)
}

interface PlaceRow {
  readonly subjectRef: string
  readonly origin: string | null
  readonly seq: number | null
  readonly segment: number | null
}

export function listsOf(rows: readonly PlaceRow[]): ErasedList[] {
  const lists = new Map<string, SegmentPlaceTuple[]>()
  for (const { subjectRef, origin, seq, segment } of rows) {
    const places = lists.get(subjectRef) ?? []
    if (origin !== null && seq !== null && segment !== null) places.push([origin, seq, segment])
    lists.set(subjectRef, places)
  }
  return [...lists].map(([subjectRef, places]) => ({ subjectRef, places }))
}

export interface RecordAt {
  readonly chain: number
  readonly seq: number
}

/** The records of which an erasure erased segments, wherever they stand, in order. */
export function findErasedPlaces(db: Database, erasureId: string): Promise<RecordAt[]> {
  return run<RecordAt & object>(
    db,
    'find_erased_places',
    `select distinct s.chain, s.seq
     from audit.erased_subject e join audit.erased_segment s on s.subject_ref = e.subject_ref
     where e.erasure_id = $1 order by s.chain, s.seq`,
    [erasureId],
  )
}

export interface ErasedRecord extends RecordAt {
  readonly body: Buffer
  /** Numbers of its erased segments. */
  readonly segments: readonly number[]
}

/** The records of the hot store of which an erasure erased segments. */
export function readErasedRecords(db: Database, erasureId: string): Promise<ErasedRecord[]> {
  return run<ErasedRecord & object>(
    db,
    'read_erased_records',
    `select r.chain, r.seq, r.body, array_agg(s.segment order by s.segment) as segments
     from audit.erased_subject e join audit.erased_segment s on s.subject_ref = e.subject_ref
     join audit.record r on r.chain = s.chain and r.seq = s.seq
     where e.erasure_id = $1 group by r.chain, r.seq, r.recorded_at order by r.chain, r.seq`,
    [erasureId],
  )
}
