// Ending handoffs from outside their executions, by deadline or by a person: nothing of them can go on afterwards.
import type { Fence } from './executions.ts'
import { WAKE_SUCCESSORS } from './successors.ts'

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
  insert into execution as e (handoff_id, epoch, status, owner, lease_until)
  select d.id, 0, 'DONE', '00000000-0000-0000-0000-000000000000', clock_timestamp()
  from due d where d.id not in (select handoff_id from busy) order by d.id
  on conflict (handoff_id) do update set status = 'DONE' where e.status <> 'DONE'
  returning e.handoff_id, e.epoch
)`

/** Takes what has `ended` out of every place where it waited; rows a relay holds now are refused by the claim. */
export const CLEAR_ENDED = `
unscheduled as (
  delete from retry where handoff_id in (select id from ended)
), unpublished as (
  delete from outbox where seq = any(array(select o.seq from outbox o
    where exists (select from ended) and o.handoff_id = any(array(select id from ended)) for update skip locked))
), ${WAKE_SUCCESSORS}`

/** What has `ended` without a decision waits for none any more. */
export const CLOSE_APPROVALS = `
closed as (
  update approval set closed_at = clock_timestamp()
  where handoff_id in (select id from ended) and closed_at is null
)`

/** Columns of `ended e` that an event about it names. */
export const KNOWN = `e.id as "handoffId", e.task_id as "taskId", e.parent_id as "parentId", e.epoch,
  e.attempt, e.from_agent as "fromAgent", e.from_version as "fromVersion",
  e.from_execution as "fromExecution", coalesce(e.routed_to, e.to_agent) as "toAgent",
  case when e.routed_to is null then e.to_version end as "toVersion", e.traceparent`
