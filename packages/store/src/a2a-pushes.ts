// Push notifications of A2A: who is told of which task, claimed by one process at a time, and tried until it is told or its time is over.
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export interface A2aPush {
  readonly taskId: string
  readonly id: string
  readonly url: string
  readonly secret: Buffer
}

const COLUMNS = ['task_id as taskId', 'id', 'url', 'secret'] as const

/** The same id again replaces what stood under it, and is told from the beginning. */
export async function putA2aPush(
  db: Database,
  { taskId, id, url, secret, tenant }: A2aPush & { readonly tenant: string },
): Promise<void> {
  const fresh = {
    url,
    secret,
    told: null,
    told_at: null,
    attempts: 0,
    failed_at: null,
    lease_until: null,
    ended_at: null,
    last_error: null,
  }
  const written = tables
    .insertInto('a2a_push')
    .values({ task_id: taskId, id, tenant, ...fresh })
    .onConflict((conflict) => conflict.columns(['task_id', 'id']).doUpdateSet(fresh))
  await run(db, 'put_a2a_push', written)
}

/** Those of a task, by id; at most 100. */
export function listA2aPushes(db: Database, taskId: string): Promise<A2aPush[]> {
  const written = tables
    .selectFrom('a2a_push')
    .select(COLUMNS)
    .where('task_id', '=', taskId)
    .orderBy('id')
    .limit(100)
  return run(db, 'list_a2a_pushes', written)
}

/** Answers whether there was one. */
export async function removeA2aPush(
  db: Database,
  { taskId, id }: Pick<A2aPush, 'taskId' | 'id'>,
): Promise<boolean> {
  const written = tables
    .deleteFrom('a2a_push')
    .where('task_id', '=', taskId)
    .where('id', '=', id)
    .returning('id')
  return (await run(db, 'remove_a2a_push', written)).length > 0
}

export interface DueA2aPush extends A2aPush {
  readonly tenant: string
  readonly told: string | null
  readonly attempts: number
}

const CLAIM = `
with due as (
  select p.task_id, p.id from a2a_push p
  where p.ended_at is null and p.due_at <= clock_timestamp() and p.tenant <> all($3::text[])
    and (p.lease_until is null or p.lease_until <= clock_timestamp())
    and (p.told_at is null
      or exists (select from task t where t.id = p.task_id and t.updated_at > p.told_at)
      or exists (select from handoff h where h.task_id = p.task_id
        and greatest(h.created_at, h.accepted_at, h.ended_at) > p.told_at))
  order by p.due_at limit $1 for update of p skip locked
)
update a2a_push p set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
from due where p.task_id = due.task_id and p.id = due.id
returning p.task_id as "taskId", p.id, p.tenant, p.url, p.secret, p.told, p.attempts`

interface A2aPushClaim {
  readonly limit: number
  readonly leaseMs: number
  /** Tenants that have their share of what this process does at once. */
  readonly without: readonly string[]
}

/** Those whose task has moved since they were told, each for a lease: one gateway tells it at a time. */
export function claimA2aPushes(
  db: Database,
  { limit, leaseMs, without }: A2aPushClaim,
): Promise<DueA2aPush[]> {
  return run<DueA2aPush & object>(db, 'claim_a2a_pushes', CLAIM, [limit, leaseMs, without])
}

/** By its secret, which is encrypted anew each time: what has replaced it meanwhile was not told. */
type TriedA2aPush = Pick<A2aPush, 'taskId' | 'id' | 'secret'>

export interface ToldA2aPush extends TriedA2aPush {
  readonly state: string
  /** To the microsecond: what is rounded down has moved since, for ever. */
  readonly movedAtExact: string
  readonly isEnd: boolean
}

const TELL = `
update a2a_push set told = $3, told_at = $4::timestamptz, attempts = 0, failed_at = null, last_error = null, lease_until = null,
  due_at = clock_timestamp(), ended_at = case when $5 then clock_timestamp() end
where task_id = $1 and id = $2 and secret = $6 and ended_at is null`

/** It is told of this state. */
export async function noteA2aPush(db: Database, told: ToldA2aPush): Promise<void> {
  const { taskId, id, secret, state, movedAtExact, isEnd } = told
  await run(db, 'note_a2a_push', TELL, [taskId, id, state, movedAtExact, isEnd, secret])
}

export interface UntoldA2aPush extends TriedA2aPush {
  readonly code: string
  readonly againInMs: number
  /** How long after its first failure it is tried at all. */
  readonly endMs: number
  /** No further try can help. */
  readonly isGone: boolean
}

const POSTPONE = `
update a2a_push set attempts = attempts + 1, failed_at = coalesce(failed_at, clock_timestamp()), last_error = $3, lease_until = null,
  due_at = clock_timestamp() + $4 * interval '1 millisecond',
  ended_at = case when $6 or failed_at + $5 * interval '1 millisecond' <= clock_timestamp() then clock_timestamp() end
where task_id = $1 and id = $2 and secret = $7 and ended_at is null returning ended_at is not null as over`

/** It could not be told. Answers whether it never will be. */
export async function postponeA2aPush(db: Database, untold: UntoldA2aPush): Promise<boolean> {
  const { taskId, id, secret, code, againInMs, endMs, isGone } = untold
  const values = [taskId, id, code, againInMs, endMs, isGone, secret]
  const [row] = await run<{ over: boolean }>(db, 'postpone_a2a_push', POSTPONE, values)
  return row?.over === true
}

const FORGET = `
delete from a2a_push where (task_id, id) in (
  select p.task_id, p.id from a2a_push p where p.ended_at < clock_timestamp() - interval '30 days' order by p.ended_at limit 500)`

/** Forgets those that ended a month ago. */
export async function forgetA2aPushes(db: Database): Promise<void> {
  await run(db, 'forget_a2a_pushes', FORGET)
}
