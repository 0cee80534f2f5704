// Which segments an erasure closes, lists and deletes: the statements.
import { uuidBytes } from '@baton/ledger'
import type { SegmentPlaceTuple } from '@baton/ledger'
import { BINARY, columns } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'

/** Where a segment stands, and whose it is. */
export interface SegmentAt {
  readonly chain: number
  readonly seq: number
  readonly segment: number
  readonly subjectRef: string
}

/** The segments of subjects that the hot store holds. */
export const findSegmentsOf = (
  db: Database,
  subjectRefs: readonly string[],
): Promise<SegmentAt[]> =>
  run(
    db,
    'find_segments_of',
    audit
      .selectFrom('audit.payload')
      .select(['chain', 'seq', 'segment', 'subject_ref as subjectRef'])
      .where('subject_ref', '=', anyOf(BINARY.uuid, subjectRefs.map(uuidBytes)))
      .orderBy('chain')
      .orderBy('seq')
      .orderBy('segment'),
  )

const SEGMENTS = columns({
  chain: BINARY.int2,
  seq: BINARY.int8,
  segment: BINARY.int2,
  subjectRef: BINARY.uuid,
})
const CLOSE_SUBJECTS = `select audit.close_subjects($1, $2, ${SEGMENTS.parameters({ after: 2 })})`

/** No segment can be added to the subjects any more, and the list of those they have is final. */
export async function closeSubjects(
  db: Database,
  erasureId: string,
  closing: { readonly subjectRefs: readonly string[]; readonly cold: readonly SegmentAt[] },
): Promise<void> {
  const { subjectRefs, cold } = closing
  await run(db, 'close_subjects', CLOSE_SUBJECTS, [
    erasureId,
    BINARY.uuid.encode(subjectRefs.map(uuidBytes)),
    ...SEGMENTS.values(cold.map((at) => ({ ...at, subjectRef: uuidBytes(at.subjectRef) }))),
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

/** The erasures of which one of these subjects is, in order of their ids. */
export async function findErasuresOf(
  db: Database,
  subjectRefs: readonly string[],
): Promise<string[]> {
  const rows = await run(
    db,
    'find_erasures_of',
    audit
      .selectFrom('audit.erased_subject')
      .select('erasure_id as id')
      .distinct()
      .where('subject_ref', '=', anyOf(BINARY.uuid, subjectRefs.map(uuidBytes)))
      .orderBy('erasure_id'),
  )
  return rows.map(({ id }) => id)
}

/** The final list of each subject of an erasure, subjects and places in order. */
export async function readErasedLists(db: Database, erasureId: string): Promise<ErasedList[]> {
  const rows = await run(
    db,
    'read_erased_lists',
    audit
      .selectFrom('audit.erased_subject as e')
      .leftJoin('audit.erased_segment as s', 's.subject_ref', 'e.subject_ref')
      .leftJoin('audit.head as h', 'h.chain', 's.chain')
      .select(['e.subject_ref as subjectRef', 'h.origin', 's.seq', 's.segment'])
      .where('e.erasure_id', '=', erasureId)
      .orderBy('e.subject_ref')
      .orderBy(sql`h.origin collate "C"`)
      .orderBy('s.seq')
      .orderBy('s.segment'),
  )
  return listsOf(rows)
}

/** The lists of subjects, whichever erasure they are of; places in no order. */
export async function readListsOf(
  db: Database,
  subjectRefs: readonly string[],
): Promise<ErasedList[]> {
  const rows = await run(
    db,
    'read_lists_of_subjects',
    audit
      .selectFrom('audit.erased_segment as s')
      .innerJoin('audit.head as h', 'h.chain', 's.chain')
      .select(['s.subject_ref as subjectRef', 'h.origin', 's.seq', 's.segment'])
      .where('s.subject_ref', '=', anyOf(BINARY.uuid, subjectRefs.map(uuidBytes))),
  )
  return listsOf(rows)
}

interface PlaceRow {
  readonly subjectRef: string
  readonly origin: string | null
  readonly seq: number | null
  readonly segment: number | null
}

function listsOf(rows: readonly PlaceRow[]): ErasedList[] {
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

const erasedOf = (erasureId: string) =>
  audit
    .selectFrom('audit.erased_subject as e')
    .innerJoin('audit.erased_segment as s', 's.subject_ref', 'e.subject_ref')
    .where('e.erasure_id', '=', erasureId)

/** The records of which an erasure erased segments, wherever they stand, in order. */
export const findErasedPlaces = (db: Database, erasureId: string): Promise<RecordAt[]> =>
  run(
    db,
    'find_erased_places',
    erasedOf(erasureId).select(['s.chain', 's.seq']).distinct().orderBy('s.chain').orderBy('s.seq'),
  )

export interface ErasedRecord extends RecordAt {
  readonly body: Buffer
  /** Numbers of its erased segments. */
  readonly segments: readonly number[]
}

/** The records of the hot store of which an erasure erased segments. */
export const readErasedRecords = (db: Database, erasureId: string): Promise<ErasedRecord[]> =>
  run(
    db,
    'read_erased_records',
    erasedOf(erasureId)
      .innerJoin('audit.record as r', (on) =>
        on.onRef('r.chain', '=', 's.chain').onRef('r.seq', '=', 's.seq'),
      )
      .select(['r.chain', 'r.seq', 'r.body'])
      .select(sql<number[]>`array_agg(s.segment order by s.segment)`.as('segments'))
      .groupBy(['r.chain', 'r.seq', 'r.recorded_at'])
      .orderBy('r.chain')
      .orderBy('r.seq'),
  )
