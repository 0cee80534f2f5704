// The statements on audit.erasure: how far each has come, what holds it, and what proves it.
import { uuidBytes } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

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
}

const COLUMNS = `id, state, basis, requested_by as "requestedBy", requested_at as "requestedAt",
  confirmed_by as "confirmedBy", confirmed_at as "confirmedAt", completed_at as "completedAt",
  handoff_ids as "handoffIds", task_ids as "taskIds", receipt`

export type NewErasure = Pick<
  Erasure,
  'id' | 'state' | 'basis' | 'requestedBy' | 'handoffIds' | 'taskIds'
>

/** Stores a plan; a repeated one changes nothing. */
export async function addErasure(db: Database, erasure: NewErasure): Promise<void> {
  await run(
    db,
    'add_erasure',
    `insert into audit.erasure (id, state, basis, requested_by, handoff_ids, task_ids)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      erasure.id,
      erasure.state,
      erasure.basis,
      erasure.requestedBy,
      erasure.handoffIds,
      erasure.taskIds,
    ],
  )
}

export async function findErasure(db: Database, id: string): Promise<Erasure | undefined> {
  const text = `select ${COLUMNS} from audit.erasure where id = $1`
  return (await run<Erasure & object>(db, 'find_erasure', text, [id]))[0]
}

/** Those in one of `states`, oldest first; at most 1,000. */
export function listErasures(db: Database, states: readonly ErasureState[]): Promise<Erasure[]> {
  return run<Erasure & object>(
    db,
    'list_erasures',
    `select ${COLUMNS} from audit.erasure where state = any($1::text[])
     order by requested_at limit 1000`,
    [states],
  )
}

/** The second person's confirmation, once. False where the plan is not waiting for it any more. */
export async function confirmErasure(
  db: Database,
  id: string,
  confirmed: Pick<Erasure, 'handoffIds' | 'taskIds'> & { readonly by: string },
): Promise<boolean> {
  const rows = await run(
    db,
    'confirm_erasure',
    `update audit.erasure set state = 'CONFIRMED', confirmed_by = $2, confirmed_at = now(),
       handoff_ids = $3, task_ids = $4
     where id = $1 and state = 'PLANNED' and requested_by <> $2 returning id`,
    [id, confirmed.by, confirmed.handoffIds, confirmed.taskIds],
  )
  return rows.length > 0
}

/** Moves an erasure on; never back. */
export async function advanceErasure(
  db: Database,
  id: string,
  to: { readonly state: 'ERASED' | 'COMPLETED'; readonly receipt?: object },
): Promise<void> {
  await run(
    db,
    'advance_erasure',
    `update audit.erasure set state = $2, receipt = coalesce($3, receipt),
       completed_at = case when $2 = 'COMPLETED' then now() end
     where id = $1 and (state, $2) in (('CONFIRMED', 'ERASED'), ('ERASED', 'COMPLETED'))`,
    [id, to.state, to.receipt === undefined ? null : JSON.stringify(to.receipt)],
  )
}

/** Those of `taskIds` that must not be erased now. */
export async function findHeldTasks(db: Database, taskIds: readonly string[]): Promise<string[]> {
  const rows = await run<{ taskId: string }>(
    db,
    'find_held_tasks',
    `select task_id as "taskId" from audit.legal_hold where task_id = any($1::uuid[])
     order by task_id`,
    [BINARY.uuid.encode(taskIds.map(uuidBytes))],
  )
  return rows.map((row) => row.taskId)
}

export interface SubjectRecord {
  readonly origin: string
  readonly seq: number
  readonly taskId: string
  readonly handoffId: string
  readonly eventNumber: number
  readonly segments: readonly number[]
}

/** The records in which subjects have segments, without any text; at most 1,000. */
export function findSubjectRecords(
  db: Database,
  subjectRefs: readonly string[],
): Promise<SubjectRecord[]> {
  return run<SubjectRecord & object>(
    db,
    'find_subject_records',
    `select h.origin, r.seq, r.task_id as "taskId", r.handoff_id as "handoffId",
       r.event as "eventNumber", array_agg(p.segment order by p.segment) as segments
     from audit.payload p
     join audit.record r on r.chain = p.chain and r.seq = p.seq and r.recorded_at = p.recorded_at
     join audit.head h on h.chain = p.chain
     where p.subject_ref = any($1::uuid[])
     group by h.origin, r.chain, r.seq, r.recorded_at order by r.recorded_at limit 1000`,
    [BINARY.uuid.encode(subjectRefs.map(uuidBytes))],
  )
}

/** Subjects of erasures that are past their request: no key of theirs may exist. */
export async function readErasedSubjects(db: Database): Promise<string[]> {
  const rows = await run<{ subjectRef: string }>(
    db,
    'read_erased_subjects',
    `select s.subject_ref as "subjectRef" from audit.erased_subject s
     join audit.erasure e on e.id = s.erasure_id where e.state in ('ERASED', 'COMPLETED')`,
  )
  return rows.map((row) => row.subjectRef)
}

/** Erasures past their request of which payloads are stored, as after a restore. */
export async function findUnreflectedErasures(db: Database): Promise<string[]> {
  const rows = await run<{ id: string }>(
    db,
    'find_unreflected_erasures',
    `select distinct s.erasure_id as id from audit.erased_subject s
     join audit.payload p on p.subject_ref = s.subject_ref
     join audit.erasure e on e.id = s.erasure_id where e.state in ('ERASED', 'COMPLETED')`,
  )
  return rows.map((row) => row.id)
}

export interface ErasureProof {
  readonly origin: string
  readonly seq: number
  readonly eventNumber: number
  /** Lower-case hex. */
  readonly recordHash: string
}

/** The records that prove an erasure, in order of their chain. */
export function readProofs(db: Database, erasureId: string): Promise<ErasureProof[]> {
  return run(
    db,
    'read_erasure_proofs',
    `select h.origin, r.seq, r.event as "eventNumber", encode(r.record_hash, 'hex') as "recordHash"
     from audit.record r join audit.head h on h.chain = r.chain
     where r.handoff_id = $1 and r.event between 20 and 22 order by r.chain, r.seq`,
    [erasureId],
  )
}
