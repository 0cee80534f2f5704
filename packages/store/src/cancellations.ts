// Cancellation: what does not execute ends at once; a running execution gets a grace, then it is shut out for good.
import type { ExpiredHandoff } from './ended-outside.ts'
import { sql } from '@baton/postgres/statements'
import { TASK_ENDED } from '@baton/protocol'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { CLEAR_ENDED, CLOSE_APPROVALS, KNOWN, STOP_DUE } from './ended-outside.ts'
import { closeFanOutsOf, END_BRANCHES } from './fan-outs.ts'
import { ENDED_TASK } from './states.ts'

const CANCEL_MAX = 500

// A task has no more that could still end once its last open handoff is canceled.
const END_CANCELED = `
ended as (
  update handoff h set state = 'CANCELED', reason = 'CANCELED', cancel_requested = true,
    ended_at = clock_timestamp(), approval_override_id = null
  from stopped s where h.id = s.handoff_id and h.ended_at is null
  returning h.*, s.fencing_token
), locked as (
  select id from task where id in (select task_id from ended) order by id for no key update
), tasks as (
  update task t set status = 'CANCELED', updated_at = clock_timestamp()
  from locked where t.id = locked.id and t.status not in ('COMPLETED', 'FAILED')
    and (t.cancel_requested or t.fan_outs_open = 0)
    and not exists (select from handoff h where h.task_id = t.id and h.ended_at is null
      and h.id not in (select id from ended))
), ${END_BRANCHES(`select branch_id, id as handoff_id, state as outcome, reason, null::text as result, null::text as mac,
    spent_micro_usd as spent, true as is_over
  from ended where branch_id is not null`)}, ${CLOSE_APPROVALS}, ${CLEAR_ENDED}
select ${KNOWN} from ended e`

const DUE = `
with over as (
  select h.id, h.cancel_grace_until <= clock_timestamp() as late from handoff h
  where h.ended_at is null and h.cancel_grace_until is not null
  order by h.cancel_grace_until limit ${CANCEL_MAX}
), due as (
  select o.id from over o where o.late or not exists (select from execution e where e.handoff_id = o.id
    and e.status = 'EXECUTING' and e.lease_until > clock_timestamp())
), ${STOP_DUE}, ${END_CANCELED}`

/**
 * Ends canceled handoffs whose grace is over, or whose agent has stopped or lost its lease; at most
 * 500 at once. A result that committed before has won and is left alone.
 */
export function endCanceledHandoffs(db: Database): Promise<ExpiredHandoff[]> {
  return run(db, 'end_canceled_handoffs', DUE)
}

/** What a cancellation would reach: one handoff, or all of a task that are open. */
export type CancelTarget =
  | { readonly handoffId: string; readonly taskId?: undefined }
  | { readonly taskId: string; readonly handoffId?: undefined }

const OPEN = `select id from handoff where (id = $1 or task_id = $2) and ended_at is null order by id`

// Executions before handoffs before the task, as every settlement locks them. A claim that begins
// meanwhile finds the row that stands here for the execution it would create.
const RESERVE = `
insert into execution (handoff_id, fencing_token, status, owner, lease_until)
select id, 0, 'ABANDONED', '00000000-0000-0000-0000-000000000000', clock_timestamp()
from unnest($1::uuid[]) as t(id) order by id on conflict (handoff_id) do nothing`
const LOCK_EXECUTIONS = `select from execution where handoff_id = any($1::uuid[]) order by handoff_id for update`
const LOCK_HANDOFFS = `select from handoff where id = any($1::uuid[]) order by id for update`
const LOCK_TASK = `
update task set cancel_requested = true, updated_at = clock_timestamp()
where id = $1 and status not in ${ENDED_TASK}`

// Two cancellations of one task would otherwise meet in the middle of what is sent meanwhile.
const TAKE_TURNS = `select pg_advisory_xact_lock(7246052, hashtext($1::text))`

/**
 * Locks everything that the cancellation of `target` reaches, also what is sent meanwhile; a task
 * takes no further handoffs from here on. Run it in one transaction with `cancelHandoffs`.
 */
export async function lockForCancel(
  db: Database,
  target: CancelTarget,
  taskId: string,
): Promise<readonly string[]> {
  await run(db, 'take_turns', TAKE_TURNS, [taskId])
  const ids = [target.handoffId ?? null, target.taskId ?? null]
  const locked = new Set<string>()
  for (;;) {
    const open = (await run<{ id: string }>(db, 'list_cancelable', OPEN, ids)).map((row) => row.id)
    const fresh = open.filter((id) => !locked.has(id))
    if (fresh.length === 0 && locked.size > 0) return open
    await run(db, 'reserve_executions', RESERVE, [fresh])
    await run(db, 'lock_executions', LOCK_EXECUTIONS, [fresh])
    await run(db, 'lock_handoffs', LOCK_HANDOFFS, [fresh])
    if (target.taskId !== undefined) await run(db, 'lock_task', LOCK_TASK, [target.taskId])
    for (const id of [...fresh, 'task']) locked.add(id)
  }
}

const GRACE = `
update handoff h set cancel_requested = true,
  cancel_grace_until = coalesce(h.cancel_grace_until, clock_timestamp() + $2 * interval '1 millisecond')
from execution e
where h.id = any($1::uuid[]) and h.ended_at is null and e.handoff_id = h.id
  and e.status = 'EXECUTING' and e.lease_until > clock_timestamp() and $2 > 0
returning h.id as "handoffId", h.task_id as "taskId", h.parent_id as "parentId", e.fencing_token as "fencingToken", h.attempt,
  h.from_agent as "fromAgent", h.from_version as "fromVersion", h.from_execution as "fromExecution",
  coalesce(h.routed_to, h.to_agent) as "toAgent",
  case when h.routed_to is null then h.to_version end as "toVersion", h.traceparent, h.tenant,
  h.cancel_grace_until as "graceUntil"`

const AT_ONCE = `
with due as (
  select id from unnest($1::uuid[]) as t(id) order by id
), ${STOP_DUE}, ${END_CANCELED}`

export interface StoppingHandoff extends ExpiredHandoff {
  /** Until when a result of the running execution still commits. */
  readonly graceUntil: Date
}

/** Gives running executions their grace; the first one that was given stands. */
export function graceExecutions(
  db: Database,
  handoffIds: readonly string[],
  graceMs: number,
): Promise<StoppingHandoff[]> {
  return run(db, 'grace_executions', GRACE, [handoffIds, graceMs])
}

/** Ends handoffs that do not execute, or shall get no grace. */
export function cancelAtOnce(
  db: Database,
  handoffIds: readonly string[],
): Promise<ExpiredHandoff[]> {
  return run(db, 'cancel_at_once', AT_ONCE, [handoffIds])
}

/** Nothing of a canceled task waits any more: its dead letters and escalations are put away, its fan-outs closed. */
export async function closeCanceledTask(db: Database, taskId: string): Promise<void> {
  const text = `with dead_letters as (
      update dead_letter set resolved_at = clock_timestamp(), resolution = 'CANCELED'
      where resolved_at is null and handoff_id in (select id from handoff where task_id = $1)
    )
    update escalation set resolved_at = clock_timestamp()
    where resolved_at is null and handoff_id in (select id from handoff where task_id = $1)`
  await run(db, 'close_canceled_task', text, [taskId])
  await closeFanOutsOf(db, taskId)
}

/** Ends a task of which nothing is open; answers whether it is CANCELED now. */
export async function cancelIdleTask(db: Database, taskId: string): Promise<boolean> {
  const written = tables
    .updateTable('task')
    .set({ status: 'CANCELED', updated_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', taskId)
    .where('cancel_requested', '=', true)
    .where('status', 'not in', TASK_ENDED)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('handoff').where('task_id', '=', taskId).where('ended_at', 'is', null)),
      ),
    )
    .returning('id')
  return (await run(db, 'cancel_idle_task', written)).length > 0
}

export interface CancelState {
  readonly taskId: string
  readonly taskStatus: string
  readonly taskCancelRequested: boolean
  /** Of the handoff asked for, or of the task's last one. */
  readonly state: string
  readonly cancelRequested: boolean
  readonly graceUntil: Date | null
  readonly known: ExpiredHandoff
}

/** How a handoff, or the last one of a task, and its task stand; undefined where there is none. */
export async function findCancelState(
  db: Database,
  target: CancelTarget,
): Promise<CancelState | undefined> {
  const where = target.handoffId === undefined ? 'h.task_id = $1' : 'h.id = $1'
  const name = target.handoffId === undefined ? 'find_cancel_task' : 'find_cancel_handoff'
  const text = `select ${KNOWN}, e.state, e.cancel_requested as "cancelRequested",
      e.cancel_grace_until as "graceUntil", t.status as "taskStatus",
      t.cancel_requested as "taskCancelRequested"
    from (select h.*, coalesce(x.fencing_token, 0) as fencing_token from handoff h
      left join execution x on x.handoff_id = h.id where ${where} order by h.task_seq desc limit 1) e
    join task t on t.id = e.task_id`
  const rows = await run<Omit<CancelState, 'known'> & ExpiredHandoff & object>(db, name, text, [
    target.handoffId ?? target.taskId,
  ])
  const [row] = rows
  if (row === undefined) return undefined
  const { state, cancelRequested, graceUntil, taskStatus, taskCancelRequested, ...known } = row
  return {
    taskId: row.taskId,
    taskStatus,
    taskCancelRequested,
    state,
    cancelRequested,
    graceUntil,
    known,
  }
}
