// Bulk re-drives: their dead letters, their canary and their pace stand in Postgres, so that any sweeper can go on.
import { bool, columns, int4, uuid } from '@baton/postgres'
import { one, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export type RedriveState = 'CANARY' | 'RUNNING' | 'DONE' | 'STOPPED' | 'CANCELED'

export interface NewRedrive {
  readonly id: string
  readonly cluster: string | null
  readonly createdBy: string
  readonly ratePerSecond: number
  readonly deadLetters: readonly RedriveDeadLetter[]
}

export interface RedriveDeadLetter {
  readonly handoffId: string
  readonly quarantineAttempt: number
  /** Goes first, and must complete before any other does. */
  readonly canary: boolean
  readonly actId: string
}

/** A re-drive whose turn has come; nobody else advances it meanwhile. */
export interface HeldRedrive {
  readonly id: string
  readonly state: RedriveState
  readonly createdBy: string
  readonly ratePerSecond: number
  readonly canaryOverdue: boolean
}

/** How a canary fares: not yet sent, passed over, or the state and reason of its handoff. */
export interface CanaryState {
  readonly handoffId: string
  readonly deadLetter: 'WAITING' | 'DRIVEN' | 'SKIPPED'
  readonly state: string
  readonly reason: string | null
  readonly ended: boolean
}

/** Why a re-drive ended early. */
export interface RedriveStop {
  readonly code: 'CANARY_FAILED' | 'CANARY_LATE' | 'CANARY_GONE'
  readonly handoffId?: string
  readonly state?: string
  readonly reason?: string | null
}

const CANARY_MAX_S = 3_600

const DEAD_LETTERS = columns({
  handoffId: uuid,
  quarantineAttempt: int4,
  canary: bool,
  actId: uuid,
})

const ADD = `
with made as (
  insert into redrive (id, state, cluster, created_by, rate_per_second, canary_until)
  values ($1, 'CANARY', $2, $3, $4, clock_timestamp() + interval '${CANARY_MAX_S} seconds')
)
insert into redrive_dead_letter (redrive_id, position, handoff_id, quarantine_attempt, canary, act_id)
select $1, ord, handoff_id, quarantine_attempt, canary, act_id
from ${DEAD_LETTERS.unnest('t', { after: 4, ordinality: 'ord' })}
on conflict (handoff_id) where state = 'WAITING' do nothing
returning handoff_id as "handoffId"`

/** Stores a re-drive; answers which dead letters it took. The others wait in another one already. */
export async function addRedrive(
  db: Database,
  { id, cluster, createdBy, ratePerSecond, deadLetters }: NewRedrive,
): Promise<ReadonlySet<string>> {
  const rows = await run<{ handoffId: string }>(db, 'add_redrive', ADD, [
    id,
    cluster,
    createdBy,
    ratePerSecond,
    ...DEAD_LETTERS.values(deadLetters),
  ])
  return new Set(rows.map((row) => row.handoffId))
}

/** Locks the re-drive that has waited longest for its turn; none where nothing is due. */
export async function holdDueRedrive(db: Database): Promise<HeldRedrive | undefined> {
  const written = tables
    .selectFrom('redrive')
    .select([
      'id',
      'state',
      'created_by as createdBy',
      'rate_per_second as ratePerSecond',
      sql<boolean>`canary_until <= clock_timestamp()`.as('canaryOverdue'),
    ])
    .where('ended_at', 'is', null)
    .where('next_at', '<=', sql<Date>`clock_timestamp()`)
    .orderBy('next_at')
    .limit(one)
    .forUpdate()
    .skipLocked()
  return (await run(db, 'hold_due_redrive', written))[0]
}

/** How the canary of a re-drive fares. */
export function listCanary(db: Database, redriveId: string): Promise<CanaryState[]> {
  const written = tables
    .selectFrom('redrive_dead_letter as l')
    .innerJoin('handoff as h', 'h.id', 'l.handoff_id')
    .select([
      'l.handoff_id as handoffId',
      'l.state as deadLetter',
      'h.state',
      'h.reason',
      sql<boolean>`h.ended_at is not null`.as('ended'),
    ])
    .where('l.redrive_id', '=', redriveId)
    .where('l.canary', '=', true)
    .orderBy('l.position')
  return run(db, 'list_canary', written)
}

export interface WaitingDeadLetter {
  readonly handoffId: string
  readonly quarantineAttempt: number
  readonly actId: string
}

/** The next dead letters of a re-drive, in order. */
export function listWaitingDeadLetters(
  db: Database,
  redriveId: string,
  { canary, limit }: { readonly canary: boolean; readonly limit: number },
): Promise<WaitingDeadLetter[]> {
  const written = tables
    .selectFrom('redrive_dead_letter')
    .select([
      'handoff_id as handoffId',
      'quarantine_attempt as quarantineAttempt',
      'act_id as actId',
    ])
    .where('redrive_id', '=', redriveId)
    .where('state', '=', 'WAITING')
    .where(sql<boolean>`(canary or not ${canary})`)
    .orderBy('position')
    .limit(limit)
  return run(db, 'list_waiting_dead_letters', written)
}

/** Notes which dead letters went back to the queue and which were passed over. */
export async function markDeadLetters(
  db: Database,
  redriveId: string,
  { driven, skipped }: { readonly driven: readonly string[]; readonly skipped: readonly string[] },
): Promise<void> {
  await run(
    db,
    'mark_dead_letters',
    `update redrive_dead_letter set state = case when handoff_id = any($2::uuid[]) then 'DRIVEN' else 'SKIPPED' end
     where redrive_id = $1 and handoff_id = any($2::uuid[] || $3::uuid[])`,
    [redriveId, driven, skipped],
  )
}

/** Sets a held re-drive's state and when its next turn comes. Dead letters of an ended one wait no longer. */
export async function setRedrive(
  db: Database,
  redriveId: string,
  { state, why }: { readonly state: RedriveState; readonly why: RedriveStop | null },
): Promise<void> {
  await run(
    db,
    'set_redrive',
    `with ended as (
       update redrive set state = $2, why = $3, next_at = clock_timestamp() + interval '1 second',
         ended_at = case when $2 in ('CANARY', 'RUNNING') then null else clock_timestamp() end
       where id = $1 returning id, ended_at
     )
     update redrive_dead_letter set state = 'SKIPPED'
     where redrive_id = (select id from ended where ended_at is not null) and state = 'WAITING'`,
    [redriveId, state, why === null ? null : JSON.stringify(why)],
  )
}

/** Ends a re-drive at a person's word; false where it had ended before. */
export async function cancelRedrive(db: Database, redriveId: string, by: string): Promise<boolean> {
  const rows = await run(
    db,
    'cancel_redrive',
    `with ended as (
       update redrive set state = 'CANCELED', stopped_by = $2, ended_at = clock_timestamp()
       where id = $1 and ended_at is null returning id
     ), skipped as (
       update redrive_dead_letter set state = 'SKIPPED'
       where redrive_id in (select id from ended) and state = 'WAITING'
     )
     select id from ended`,
    [redriveId, by],
  )
  return rows.length > 0
}

/** The dead letter at the head of a re-drive; its canary begins with it. */
export async function findFirstDeadLetter(
  db: Database,
  redriveId: string,
): Promise<string | undefined> {
  const written = tables
    .selectFrom('redrive_dead_letter')
    .select('handoff_id as handoffId')
    .where('redrive_id', '=', redriveId)
    .orderBy('position')
    .limit(one)
  return (await run(db, 'find_first_dead_letter', written))[0]?.handoffId
}

export interface RedriveView {
  readonly redriveId: string
  readonly state: RedriveState
  readonly cluster: string | null
  readonly createdBy: string
  readonly stoppedBy: string | null
  readonly why: RedriveStop | null
  readonly ratePerSecond: number
  readonly canaryIds: readonly string[]
  readonly waiting: number
  readonly driven: number
  readonly skipped: number
  readonly completed: number
  readonly createdAt: Date
  readonly endedAt: Date | null
}

/** A re-drive with its counts. */
export async function findRedrive(
  db: Database,
  redriveId: string,
): Promise<RedriveView | undefined> {
  const text = `select r.id as "redriveId", r.state, r.cluster, r.created_by as "createdBy",
      r.stopped_by as "stoppedBy", r.why, r.rate_per_second as "ratePerSecond",
      r.created_at as "createdAt", r.ended_at as "endedAt", l.*
    from redrive r cross join lateral (
      select coalesce(array_agg(l.handoff_id) filter (where l.canary), '{}') as "canaryIds",
        count(*) filter (where l.state = 'WAITING') as waiting,
        count(*) filter (where l.state = 'DRIVEN') as driven,
        count(*) filter (where l.state = 'SKIPPED') as skipped,
        count(*) filter (where l.state = 'DRIVEN' and h.state = 'COMPLETED') as completed
      from redrive_dead_letter l join handoff h on h.id = l.handoff_id where l.redrive_id = r.id) l
    where r.id = $1`
  return (await run<RedriveView & object>(db, 'find_redrive', text, [redriveId]))[0]
}
