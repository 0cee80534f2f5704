// How an execution ends. Every statement is fenced by the epoch: a late settlement changes nothing.
import type { AuditIntent } from './audit-outbox.ts'
import type { Fence } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { MAY_GO_ON } from './executions.ts'
import { TELL } from './notices.ts'
import { INTENTS, fenceColumns, intentColumns, settledIds } from './settlement-columns.ts'
import type { HandoffIds } from './settlement-columns.ts'
import { WAKE_SUCCESSORS } from './successors.ts'

export interface Completion extends Fence {
  readonly costMicroUSD: number
  /** JSON of what the agent answered. */
  readonly result: string
  /** JSON of the task's final outcome where this handoff was its last; otherwise null. */
  readonly taskResult: string | null
}

export interface Retry extends Fence {
  readonly reason: string
  /** JSON: what was wrong, where, how to mend it. */
  readonly details: string
  readonly delayMs: number
  /** True hands the handoff back to its sender with the details (E09). */
  readonly returned: boolean
}

const COMPLETE = `
with input as (
  select * from unnest($1::uuid[], $2::int[], $3::bigint[], $4::text[], $5::text[])
    as t(handoff_id, epoch, cost, result, task_result)
), done as (
  update execution e set status = 'DONE', result = i.result, cost_micro_usd = i.cost
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.epoch = i.epoch and e.status = 'EXECUTING'
    and h.id = e.handoff_id and ${MAY_GO_ON}
  returning e.handoff_id, i.cost, i.task_result
), ended as (
  update handoff h set state = 'COMPLETED', reason = null, ended_at = clock_timestamp()
  from done d where h.id = d.handoff_id
  returning h.id, h.task_id, h.task_seq, h.cancel_requested, d.cost, d.task_result
), totals as (
  select task_id, sum(cost) as cost, max(task_result) as result, bool_or(cancel_requested) as canceled
  from ended group by task_id
), locked as (
  select id from task where id in (select task_id from totals) order by id for no key update
), charged as (
  update task t set spent_micro_usd = t.spent_micro_usd + c.cost, updated_at = clock_timestamp(),
    result = coalesce(c.result, t.result),
    status = case when (c.result is null and not c.canceled) or exists (select from handoff h where h.task_id = t.id
        and h.ended_at is null and h.id not in (select id from ended))
      then t.status when c.result is null then 'CANCELED' else 'COMPLETED' end
  from totals c join locked on locked.id = c.task_id where t.id = c.task_id
), ${WAKE_SUCCESSORS}, ${INTENTS('done', 6)}
select id as "handoffId", cancel_requested as canceled from ended`

/**
 * Commits results and costs (I4, I5). Answers those that still held their epoch before their deadline,
 * and of each whether it is being canceled: its result stands, what it would hand on must not be sent.
 */
export async function completeExecutions(
  db: Database,
  completions: readonly Completion[],
  intents: readonly AuditIntent[],
): Promise<ReadonlyMap<string, { readonly canceled: boolean }>> {
  const rows = await run<{ handoffId: string; canceled: boolean }>(
    db,
    'complete_executions',
    COMPLETE,
    [
      ...fenceColumns(completions),
      completions.map((one) => one.costMicroUSD),
      completions.map((one) => one.result),
      completions.map((one) => one.taskResult),
      ...intentColumns(intents),
    ],
  )
  return new Map(rows.map((row) => [row.handoffId, row]))
}

const RETRY = `
with input as (
  select * from unnest($1::uuid[], $2::int[], $3::text[], $4::jsonb[], $5::float8[], $6::boolean[])
    as t(handoff_id, epoch, reason, details, delay_ms, returned)
), stopped as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.epoch = i.epoch and e.status in ('CLAIMED', 'EXECUTING')
    and h.id = e.handoff_id and not h.cancel_requested
  returning e.handoff_id
), returned as (
  insert into handoff_return (handoff_id, attempt, reason, details, retry_at)
  select h.id, h.attempt, i.reason, i.details, clock_timestamp() + i.delay_ms * interval '1 millisecond'
  from stopped s join handoff h on h.id = s.handoff_id join input i on i.handoff_id = h.id
  where i.returned on conflict do nothing
), told as (
  ${TELL('return')}
  select h.id, h.task_id, h.from_agent, h.attempt, h.revision, i.reason, i.details
  from stopped s join handoff h on h.id = s.handoff_id join input i on i.handoff_id = h.id
  where i.returned) n
), waiting as (
  update handoff h set state = 'QUEUED', attempt = h.attempt + 1, reason = i.reason, last_error = i.details
  from stopped s join input i on i.handoff_id = s.handoff_id where h.id = s.handoff_id
  returning h.id, h.task_id, i.delay_ms
), paused as (
  update task set status = 'PENDING_HANDOFF', updated_at = clock_timestamp()
  where id in (select id from task where id in (select task_id from waiting) order by id
               for no key update) and status = 'RUNNING'
), scheduled as (
  insert into retry (handoff_id, due)
  select id, clock_timestamp() + delay_ms * interval '1 millisecond' from waiting
  on conflict (handoff_id) do update set due = excluded.due
), ${INTENTS('stopped', 7)}
select handoff_id as "handoffId" from stopped`

/** Schedules another attempt; answers which of them still held their epoch. */
export function retryHandoffs(
  db: Database,
  retries: readonly Retry[],
  intents: readonly AuditIntent[],
): Promise<HandoffIds> {
  return settledIds(db, 'retry_handoffs', RETRY, [
    ...fenceColumns(retries),
    retries.map((one) => one.reason),
    retries.map((one) => one.details),
    retries.map((one) => one.delayMs),
    retries.map((one) => one.returned),
    ...intentColumns(intents),
  ])
}
