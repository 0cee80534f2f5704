// The statements on audit.erasure: how far each has come, what holds it, what proves it, and which are incomplete.
import { DEFAULT_TENANT, uuidBytes } from '@baton/ledger'
import { BINARY, text } from '@baton/postgres'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'
import { anyOf, sql } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { inPages, PAGE_ROWS } from '../pages.ts'
import type { ErasureSignature } from './signed-erasure.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

export type ErasureState = 'PLANNED' | 'DEFERRED' | 'CONFIRMED' | 'ERASED' | 'COMPLETED'

/** How far an erasure has come; names no person. */
export interface Erasure {
  readonly id: string
  readonly state: ErasureState
  readonly basis: string
  readonly requestedBy: string
  readonly requestedAt: Date
  readonly confirmedBy: string | null
  readonly confirmedAt: Date | null
  readonly completedAt: Date | null
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
  readonly receipt: object | null
  /** What the auditor signed of it; null of those planned by versions that did not. */
  readonly signed: ErasureSignature | null
}

const ERASURES = audit
  .selectFrom('audit.erasure')
  .select([
    'id',
    'state',
    'basis',
    'receipt',
    'signed',
    'handoff_ids as handoffIds',
    'task_ids as taskIds',
  ])
  .select(['requested_by as requestedBy', 'requested_at as requestedAt'])
  .select(['confirmed_by as confirmedBy', 'confirmed_at as confirmedAt'])
  .select('completed_at as completedAt')
  .$narrowType<{
    state: ErasureState
    receipt: object | null
    signed: ErasureSignature | null
  }>()

export type NewErasure = Pick<
  Erasure,
  'id' | 'state' | 'basis' | 'requestedBy' | 'handoffIds' | 'taskIds' | 'signed'
>

/** Stores a plan; a repeated one changes nothing. */
export async function addErasure(db: Database, erasure: NewErasure): Promise<void> {
  await run(
    db,
    'add_erasure',
    audit
      .insertInto('audit.erasure')
      .values({
        id: erasure.id,
        state: erasure.state,
        basis: erasure.basis,
        requested_by: erasure.requestedBy,
        handoff_ids: erasure.handoffIds,
        task_ids: erasure.taskIds,
        signed: JSON.stringify(erasure.signed),
      })
      .onConflict((conflict) => conflict.doNothing()),
  )
}

/** How far an erasure has come; undefined where none has this id. */
export async function findErasure(db: Database, id: string): Promise<Erasure | undefined> {
  return (await run(db, 'find_erasure', ERASURES.where('id', '=', id)))[0]
}

export interface ErasureFilter {
  readonly states: readonly ErasureState[]
  /** Only what people of this tenant asked for. */
  readonly tenant?: string | undefined
}

export interface ErasurePage extends ErasureFilter {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

export interface ListedErasure extends Erasure {
  readonly position: string
}

// Whose an operator is by the name, as `tenantOfOperator` says it.
const isMeant = ({ states, tenant = '' }: ErasureFilter) =>
  sql<boolean>`state = ${anyOf(text, states)} and (${tenant} = ''
    or case when requested_by like '%/%' then split_part(requested_by, '/', 1) else ${DEFAULT_TENANT} end = ${tenant})`

/** The newest first. */
export const listErasures = (
  db: Database,
  { limit, cursor, ...filter }: ErasurePage,
): Promise<ListedErasure[]> =>
  run(
    db,
    'list_erasures',
    ERASURES.select(positionOf('id', 'requested_at').as('position'))
      .where(isMeant(filter))
      .where(behind(cursor ?? null, { id: 'id', createdAt: 'requested_at', newestFirst: true }))
      .orderBy('requested_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit),
  )

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countErasures(db: Database, filter: ErasureFilter): Promise<number> {
  const counted = audit
    .selectFrom('audit.erasure')
    .select('id')
    .where(isMeant(filter))
    .limit(COUNTED_MAX + 1)
  const written = audit
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_erasures', written))[0]?.count ?? 0
}

/** All of them, some at a time. */
export const readErasures = (db: Database): AsyncGenerator<readonly Erasure[]> =>
  inPages((after?: Erasure) =>
    run(
      db,
      'read_erasures',
      ERASURES.where('id', '>', after?.id ?? FIRST_UUID)
        .orderBy('id')
        .limit(sql.lit(PAGE_ROWS)),
    ),
  )

const FIRST_UUID = '00000000-0000-0000-0000-000000000000'

export interface ErasedSubject {
  readonly subjectRef: string
  readonly erasureId: string
  readonly erasedAt: Date
}

/** Every subject that is closed, whatever came of its erasure. */
export const readClosedSubjects = (db: Database): Promise<ErasedSubject[]> =>
  run(
    db,
    'read_closed_subjects',
    audit
      .selectFrom('audit.erased_subject')
      .select(['subject_ref as subjectRef', 'erasure_id as erasureId', 'erased_at as erasedAt']),
  )

/** The second person's confirmation, once. False where the plan is not waiting for it any more. */
export async function confirmErasure(
  db: Database,
  id: string,
  confirmed: Pick<Erasure, 'handoffIds' | 'taskIds' | 'signed'> & { readonly by: string },
): Promise<boolean> {
  const rows = await run(
    db,
    'confirm_erasure',
    audit
      .updateTable('audit.erasure')
      .set({
        state: 'CONFIRMED',
        confirmed_by: confirmed.by,
        confirmed_at: sql<Date>`now()`,
        handoff_ids: confirmed.handoffIds,
        task_ids: confirmed.taskIds,
        signed: JSON.stringify(confirmed.signed),
      })
      .where('id', '=', id)
      .where('state', '=', 'PLANNED')
      .where('requested_by', '<>', confirmed.by)
      .returning('id'),
  )
  return rows.length > 0
}

/** The keys and payloads are gone; changes nothing but a confirmed erasure. */
export async function markErased(db: Database, id: string): Promise<void> {
  await run(
    db,
    'mark_erased',
    audit
      .updateTable('audit.erasure')
      .set({ state: 'ERASED' })
      .where('id', '=', id)
      .where('state', '=', 'CONFIRMED'),
  )
}

/** Ends an erasure with its receipt; changes nothing but one that has erased. */
export async function completeErasure(db: Database, id: string, receipt: object): Promise<void> {
  await run(
    db,
    'complete_erasure',
    audit
      .updateTable('audit.erasure')
      .set({
        state: 'COMPLETED',
        receipt: JSON.stringify(receipt),
        completed_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .where('state', '=', 'ERASED'),
  )
}

/** Where the index of payloads finds a person. */
export interface SubjectPlace {
  readonly origin: string
  readonly seq: number
  readonly taskId: string
  readonly handoffId: string
  readonly eventNumber: number
  readonly segments: readonly number[]
}

/** The records in which subjects have segments, without any text; at most 1,000. */
export const findSubjectRecords = (
  db: Database,
  subjectRefs: readonly string[],
): Promise<SubjectPlace[]> =>
  run(
    db,
    'find_subject_records',
    audit
      .selectFrom('audit.payload as p')
      .innerJoin('audit.record as r', (on) =>
        on
          .onRef('r.chain', '=', 'p.chain')
          .onRef('r.seq', '=', 'p.seq')
          .onRef('r.recorded_at', '=', 'p.recorded_at'),
      )
      .innerJoin('audit.head as h', 'h.chain', 'p.chain')
      .select(['h.origin', 'r.seq', 'r.task_id as taskId', 'r.handoff_id as handoffId'])
      .select('r.event as eventNumber')
      .select(sql<number[]>`array_agg(p.segment order by p.segment)`.as('segments'))
      .where('p.subject_ref', '=', anyOf(BINARY.uuid, subjectRefs.map(uuidBytes)))
      .groupBy(['h.origin', 'r.chain', 'r.seq', 'r.recorded_at'])
      .orderBy('r.recorded_at')
      .limit(sql.lit(1000)),
  )

/** The subjects of erasures past their request: no key of theirs may exist, and no payload. */
const ERASED_SUBJECTS = audit
  .selectFrom('audit.erased_subject as s')
  .innerJoin('audit.erasure as e', 'e.id', 's.erasure_id')
  .where('e.state', 'in', [sql.lit('ERASED' as const), sql.lit('COMPLETED' as const)])

const readErased = (db: Database): Promise<{ subjectRef: string; id: string }[]> =>
  run(
    db,
    'read_erased_subjects',
    ERASED_SUBJECTS.select(['s.subject_ref as subjectRef', 's.erasure_id as id']),
  )

/** Subjects of erasures that are past their request: no key of theirs may exist. */
export const readErasedSubjects = async (db: Database): Promise<string[]> =>
  (await readErased(db)).map(({ subjectRef }) => subjectRef)

/** Erasures past their request of which payloads are stored, as after a restore. */
export async function findUnreflectedErasures(db: Database): Promise<string[]> {
  const rows = await run(
    db,
    'find_unreflected_erasures',
    ERASED_SUBJECTS.innerJoin('audit.payload as p', 'p.subject_ref', 's.subject_ref')
      .select('s.erasure_id as id')
      .distinct(),
  )
  return rows.map((row) => row.id)
}

/** Ids of erasures past their request of which a payload or a key is stored, sorted. As audit_reader. */
export async function findIncompleteErasures(
  db: Database,
  vault: Pick<SubjectVault, 'keysOf'>,
): Promise<string[]> {
  const subjects = await readErased(db)
  const keys = await vault.keysOf(new Set(subjects.map(({ subjectRef }) => subjectRef)))
  const withKey = subjects.filter(({ subjectRef }) => keys.has(subjectRef)).map(({ id }) => id)
  return [...new Set([...withKey, ...(await findUnreflectedErasures(db))])].toSorted()
}

export interface ErasureProof {
  readonly origin: string
  readonly seq: number
  readonly eventNumber: number
  /** Lower-case hex. */
  readonly recordHash: string
}

/** The records that prove an erasure, in order of their chain. */
export const readProofs = (db: Database, erasureId: string): Promise<ErasureProof[]> =>
  run(
    db,
    'read_erasure_proofs',
    audit
      .selectFrom('audit.record as r')
      .innerJoin('audit.head as h', 'h.chain', 'r.chain')
      .select(['h.origin', 'r.seq', 'r.event as eventNumber'])
      .select(sql<string>`encode(r.record_hash, 'hex')`.as('recordHash'))
      .where('r.handoff_id', '=', erasureId)
      .where(({ between }) => between('r.event', FIRST_ERASURE_EVENT, LAST_ERASURE_EVENT))
      .orderBy('r.chain')
      .orderBy('r.seq'),
  )

const FIRST_ERASURE_EVENT = 20
const LAST_ERASURE_EVENT = 22
