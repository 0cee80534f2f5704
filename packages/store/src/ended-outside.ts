// Ending handoffs from outside their executions, by deadline or by a person: nothing of them can go on afterwards.
import type { Fence } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { END_BRANCHES } from './fan-outs.ts'
import { NOTIFY_SENDER } from './sender-notifications.ts'
import { WAKE_NEXT_IN_TASK } from './publications.ts'

/** What an event names of a handoff that was ended, approved or canceled from outside an execution. */
export interface ExpiredHandoff extends Fence {
  readonly taskId: string
  readonly parentId: string | null
  readonly attempt: number
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
  /** Whose task it is in. */
  readonly tenant: string
}

/**
 * Shuts the execution of every row of `due` (id) for good, so that no claim, start or result of it is
 * possible any more; where there is none yet, a shut one takes its place. Executions are locked before
 * handoffs, as every settlement does. What somebody settles at this moment is left out of `stopped`.
 */
export const STOP_DUE = `
free as (
  select e.handoff_id from execution e where e.handoff_id in (select id from due)
  order by e.handoff_id for update skip locked
), busy as (
  select e.handoff_id from execution e where e.handoff_id in (select id from due)
    and e.handoff_id not in (select handoff_id from free)
), stopped as (
  insert into execution as e (handoff_id, fencing_token, status, owner, lease_until)
  select d.id, 0, 'DONE', '00000000-0000-0000-0000-000000000000', clock_timestamp()
  from due d where d.id not in (select handoff_id from busy) order by d.id
  on conflict (handoff_id) do update set status = 'DONE' where e.status <> 'DONE'
  returning e.handoff_id, e.fencing_token
)`

/** Takes what has `ended` out of every place where it waited; rows a relay holds now are refused by the claim. */
export const CLEAR_ENDED = `
unscheduled as (
  delete from retry where handoff_id in (select id from ended)
), unpublished as (
  delete from outbox where seq = any(array(select o.seq from outbox o
    where exists (select from ended) and o.handoff_id = any(array(select id from ended)) for update skip locked))
), ${WAKE_NEXT_IN_TASK}`

/** What has `ended` without a decision waits for none any more. */
export const CLOSE_APPROVALS = `
closed as (
  update approval set closed_at = clock_timestamp()
  where handoff_id in (select id from ended) and closed_at is null
)`

/** Columns of `ended e` that an event about it names. */
export const KNOWN = `e.id as "handoffId", e.task_id as "taskId", e.parent_id as "parentId", e.fencing_token as "fencingToken",
  e.attempt, e.from_agent as "fromAgent", e.from_version as "fromVersion",
  e.from_execution as "fromExecution", coalesce(e.routed_to, e.to_agent) as "toAgent",
  case when e.routed_to is null then e.to_version end as "toVersion", e.traceparent, e.tenant`

const EXPIRE_MAX = 500

const EXPIRED = `
with due as (
  select h.id from handoff h where h.ended_at is null and h.expires_at <= clock_timestamp()
  order by h.expires_at limit ${EXPIRE_MAX}
), ${STOP_DUE}, ended as (
  update handoff h set state = 'EXPIRED', reason = 'EXPIRED', ended_at = clock_timestamp(),
    approval_override_id = null
  from stopped s where h.id = s.handoff_id and h.ended_at is null
  returning h.*, s.fencing_token
), latest as (
  select task_id, (array_agg(checkpoint_id order by task_seq desc))[1] as checkpoint_id from ended group by task_id
), locked as (
  select id from task where id in (select task_id from ended) order by id for no key update
), tasks as (
  update task t set updated_at = clock_timestamp(), checkpoint_id = e.checkpoint_id,
    status = case when t.cancel_requested then 'CANCELED' else 'PENDING_HANDOFF' end
  from latest e join locked on locked.id = e.task_id where t.id = e.task_id
), ${END_BRANCHES(`select branch_id, id as handoff_id, state as outcome, reason, null::text as result, null::text as mac,
    spent_micro_usd as spent, false as is_over
  from ended where branch_id is not null`)}, told as (
  ${NOTIFY_SENDER('rollback')}
  select id, task_id, from_agent, attempt, revision, reason, coalesce(last_error, '[]') from ended) n
), alerts as (
  insert into alert_occurrence (kind, handoff_id, task_id, reason)
  select 'handoff.expired', id, task_id, 'EXPIRED' from ended
), ${CLOSE_APPROVALS}, ${CLEAR_ENDED}
select ${KNOWN} from ended e`

/**
 * Ends handoffs whose deadline or expiry has passed, at most 500 at once; they never execute
 * afterwards, and a result that is still being worked on no longer commits (S12, R16).
 */
export function expireHandoffs(db: Database): Promise<ExpiredHandoff[]> {
  return run(db, 'expire_handoffs', EXPIRED)
}
