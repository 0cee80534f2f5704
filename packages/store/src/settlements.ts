// How an execution ends: with a result, with another attempt, or without an effect. Every statement is fenced
// by the fencing token: a late settlement changes nothing.
import { bool, columns, float8, int4, int8, jsonb, nullable, text, uuid } from '@baton/postgres'
import { EVENTS } from './audit-outbox.ts'
import type { OutboxEvent } from './audit-outbox.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { MAY_GO_ON } from './executions.ts'
import type { Fence } from './executions.ts'
import { END_BRANCHES } from './fan-outs.ts'
import { NOTIFY_SENDER } from './sender-notifications.ts'
import { WAKE_NEXT_IN_TASK } from './publications.ts'
import { LEASED } from './states.ts'

/** Stores the events of what `from` (handoff_id) settled; the set stands behind `after` parameters. */
const STORE_EVENTS = (from: string, after: number): string => `
events as (
  insert into audit_outbox (id, handoff_id, entry)
  select i.id, i.handoff_id, i.entry from ${EVENTS.unnest('i', { after })}
  where i.handoff_id in (select handoff_id from ${from})
)`

export interface Completion extends Fence {
  /** PARTIAL where part of the work was left over, and went on as a handoff of its own; COMPLETED by default. */
  readonly state?: 'COMPLETED' | 'PARTIAL'
  /** How many chunks its stream has: it commits only where exactly these are committed. None by default. */
  readonly chunks?: number
  readonly costMicroUSD: number
  /** JSON of what the agent answered. */
  readonly result: string
  /** JSON of the task's final outcome where this handoff was its last; otherwise null. */
  readonly taskResult: string | null
  /** Of that outcome, where it is the result of a branch: what joins is built from nothing else. */
  readonly mac?: string | null
  /** Ids of people whom the answer names and its message does not: an erasure finds the handoff by them too (I11). */
  readonly named?: readonly string[]
}

const COMPLETED = columns({
  handoffId: uuid,
  fencingToken: int4,
  state: text,
  chunks: int4,
  costMicroUSD: int8,
  result: text,
  taskResult: nullable(text),
  mac: nullable(text),
  named: nullable(text),
})

const COMPLETE = `
with input as (
  select * from ${COMPLETED.unnest('t')}
), done as (
  update execution e set status = 'DONE', result = i.result, named = i.named, cost_micro_usd = i.cost_micro_usd
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status = 'EXECUTING'
    and e.chunks = i.chunks and h.id = e.handoff_id and ${MAY_GO_ON}
  returning e.handoff_id, i.state, i.cost_micro_usd as cost, i.task_result, i.mac, i.named
), named_people as (
  insert into handoff_subject (subject_lookup, handoff_id)
  select distinct subject_lookup(s), d.handoff_id from done d, json_array_elements_text(d.named::json) s
  on conflict do nothing
), ended as (
  update handoff h set state = d.state, reason = null, ended_at = clock_timestamp()
  from done d where h.id = d.handoff_id
  returning h.id, h.task_id, h.task_seq, h.branch_id, h.cancel_requested, h.spent_micro_usd, d.cost, d.task_result, d.mac
), totals as (
  select task_id, sum(cost) as cost, max(task_result) filter (where branch_id is null) as result,
    bool_or(cancel_requested and branch_id is null) as canceled, bool_or(branch_id is not null) as branched
  from ended group by task_id
), locked as (
  select id from task where id in (select task_id from totals) order by id for no key update
), charged as (
  update task t set spent_micro_usd = t.spent_micro_usd + c.cost, updated_at = clock_timestamp(),
    result = coalesce(c.result, t.result),
    status = case
      when (c.result is null and not c.canceled and not c.branched) or exists (select from handoff h
        where h.task_id = t.id and h.ended_at is null and h.id not in (select id from ended)) then t.status
      when c.canceled and c.result is null or c.branched and t.cancel_requested then 'CANCELED'
      when t.fan_outs_open > 0 then 'PENDING_HANDOFF'
      when c.result is null then t.status else 'COMPLETED' end
  from totals c join locked on locked.id = c.task_id where t.id = c.task_id
), ${END_BRANCHES(`select branch_id, id as handoff_id, case when task_result is null then 'CANCELED' else 'COMPLETED' end as outcome,
    null::text as reason, task_result as result, mac, spent_micro_usd + cost as spent, true as is_over
  from ended where branch_id is not null and (task_result is not null or cancel_requested)`)}, ${WAKE_NEXT_IN_TASK}, ${STORE_EVENTS('done', COMPLETED.width)}
select id as "handoffId", cancel_requested as canceled,
  exists (select from fan_out_ends where state = 'READY') as "fannedIn" from ended`

/**
 * Commits results and costs (I4, I5). Answers those that still held their fencing token before their deadline,
 * and of each whether it is being canceled: its result stands, what it would hand on must not be sent. `fannedIn` says of
 * all of them together whether a fan-out has become ready to be joined.
 */
export async function completeExecutions(
  db: Database,
  completions: readonly Completion[],
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<string, { readonly canceled: boolean; readonly fannedIn: boolean }>> {
  const completed = completions.map(({ named = [], ...one }) => ({
    state: 'COMPLETED',
    chunks: 0,
    mac: null,
    ...one,
    named: named.length === 0 ? null : JSON.stringify(named),
  }))
  const rows = await run<{ handoffId: string; canceled: boolean; fannedIn: boolean }>(
    db,
    'complete_executions',
    COMPLETE,
    [...COMPLETED.values(completed), ...EVENTS.values(events)],
  )
  return new Map(rows.map((row) => [row.handoffId, row]))
}

export interface Retry extends Fence {
  readonly reason: string
  /** JSON: what was wrong, where, how to mend it. */
  readonly details: string
  readonly delayMs: number
  /** True hands the handoff back to its sender with the details (E09). */
  readonly returned: boolean
}

const RETRIED = columns({
  handoffId: uuid,
  fencingToken: int4,
  reason: text,
  details: jsonb,
  delayMs: float8,
  returned: bool,
})

const RETRY = `
with input as (
  select * from ${RETRIED.unnest('t')}
), stopped as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status in ${LEASED}
    and h.id = e.handoff_id and not h.cancel_requested
  returning e.handoff_id
), returned as (
  insert into handoff_return (handoff_id, attempt, reason, details, retry_at)
  select h.id, h.attempt, i.reason, i.details, clock_timestamp() + i.delay_ms * interval '1 millisecond'
  from stopped s join handoff h on h.id = s.handoff_id join input i on i.handoff_id = h.id
  where i.returned on conflict do nothing
), told as (
  ${NOTIFY_SENDER('return')}
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
), ${STORE_EVENTS('stopped', RETRIED.width)}
select handoff_id as "handoffId" from stopped`

/** Schedules another attempt; answers which of them still held their fencing token. */
export function retryHandoffs(
  db: Database,
  retries: readonly Retry[],
  events: readonly OutboxEvent[],
): Promise<HandoffIds> {
  const values = [...RETRIED.values(retries), ...EVENTS.values(events)]
  return settledIds(db, 'retry_handoffs', RETRY, values)
}

export interface Ending extends Fence {
  readonly state: 'REJECTED' | 'BLOCKED' | 'DEAD_LETTERED' | 'ROLLED_BACK'
  readonly taskStatus: 'PENDING_HANDOFF' | 'AWAITING_HUMAN'
  readonly reason: string
  readonly details: string
  readonly costMicroUSD: number
  readonly alert: boolean
  readonly escalate: boolean
  /** Of a dead letter: what its like have in common, and the scanner that judged it, if one did. */
  readonly cluster?: string
  readonly rulesetVersion?: string | null
}

const ENDED = columns({
  handoffId: uuid,
  fencingToken: int4,
  state: text,
  taskStatus: text,
  reason: text,
  details: jsonb,
  costMicroUSD: int8,
  alert: bool,
  escalate: bool,
  cluster: text,
  rulesetVersion: nullable(text),
})

const END = `
with input as (
  select * from ${ENDED.unnest('t')}
), stopped as (
  update execution e set status = 'DONE', cost_micro_usd = i.cost_micro_usd
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status in ${LEASED}
    and h.id = e.handoff_id and not h.cancel_requested
  returning e.handoff_id
), ended as (
  update handoff h set state = i.state, reason = i.reason, last_error = i.details,
    ended_at = clock_timestamp(), approval_override_id = null
  from stopped s join input i on i.handoff_id = s.handoff_id where h.id = s.handoff_id
  returning h.id, h.task_id, h.task_seq, h.branch_id, h.attempt, h.checkpoint_id, h.body_sha256,
    h.from_agent, h.revision, h.spent_micro_usd, i.*
), totals as (
  select task_id, sum(cost_micro_usd) as cost, count(*)::int as failed,
    (array_agg(task_status order by task_seq desc))[1] as task_status,
    (array_agg(checkpoint_id order by task_seq desc) filter (where task_status = 'PENDING_HANDOFF'))[1] as checkpoint_id
  from ended group by task_id
), locked as (
  select id from task where id in (select task_id from ended) order by id for no key update
), tasks as (
  update task t set updated_at = clock_timestamp(),
    status = case when t.cancel_requested then 'CANCELED' else e.task_status end,
    spent_micro_usd = t.spent_micro_usd + e.cost,
    checkpoint_id = coalesce(e.checkpoint_id, t.checkpoint_id),
    failed_handoffs = t.failed_handoffs + e.failed
  from totals e join locked on locked.id = e.task_id where t.id = e.task_id
), ${END_BRANCHES(`select branch_id, id as handoff_id, state as outcome, reason, null::text as result, null::text as mac,
    spent_micro_usd + cost_micro_usd as spent, false as is_over
  from ended where branch_id is not null`)}, quarantined as (
  insert into dead_letter as d (handoff_id, task_id, reason, details, fencing_token, attempt, message_sha256,
    ruleset_version, cluster)
  select id, task_id, reason, details, fencing_token, attempt, body_sha256, ruleset_version, cluster
  from ended where state = 'DEAD_LETTERED'
  on conflict (handoff_id) do update set reason = excluded.reason, details = excluded.details,
    fencing_token = excluded.fencing_token, attempt = excluded.attempt, message_sha256 = excluded.message_sha256,
    ruleset_version = excluded.ruleset_version, cluster = excluded.cluster, quarantine_attempt = d.quarantine_attempt + 1,
    created_at = excluded.created_at, resolved_at = null, resolution = null, asked_at = null
), told as (
  ${NOTIFY_SENDER('rollback')}
  select id, task_id, from_agent, attempt, revision, reason, details
  from ended where task_status = 'PENDING_HANDOFF') n
), alerts as (
  insert into alert_occurrence (kind, handoff_id, task_id, reason, escalated)
  select 'handoff.' || lower(state), id, task_id, reason, escalate from ended where alert
), escalations as (
  insert into escalation (handoff_id, task_id, attempts, reason)
  select id, task_id, attempt, reason from ended where escalate
  on conflict (handoff_id) do update set attempts = excluded.attempts, reason = excluded.reason,
    created_at = excluded.created_at, acknowledged_at = null, acknowledged_by = null,
    resolved_at = null, resolved_by = null, resolved_why = null
), ${WAKE_NEXT_IN_TASK}, ${STORE_EVENTS('stopped', ENDED.width)}
select handoff_id as "handoffId" from stopped`

/**
 * Ends handoffs without an effect: rejected, dead-lettered or rolled back to the sender's
 * checkpoint (E15). Answers which of them still held their fencing token.
 */
export function endHandoffs(
  db: Database,
  endings: readonly Ending[],
  events: readonly OutboxEvent[],
): Promise<HandoffIds> {
  const ended = endings.map((one) => ({
    ...one,
    cluster: one.cluster ?? one.reason,
    rulesetVersion: one.rulesetVersion ?? null,
  }))
  const values = [...ENDED.values(ended), ...EVENTS.values(events)]
  return settledIds(db, 'end_handoffs', END, values)
}

type HandoffIds = ReadonlySet<string>

/** Answers the handoffs that still held their fencing token. */
async function settledIds(
  db: Database,
  name: string,
  statement: string,
  values: unknown[],
): Promise<HandoffIds> {
  const rows = await run<{ handoffId: string }>(db, name, statement, values)
  return new Set(rows.map((row) => row.handoffId))
}
