// Handoffs that end without an effect: rejected, blocked, dead-lettered or rolled back. Fenced by the epoch.
import type { AuditIntent } from './audit-outbox.ts'
import type { Fence } from './executions.ts'
import type { Database } from './database.ts'
import { TELL } from './notices.ts'
import { INTENTS, fenceColumns, intentColumns, settledIds } from './settlement-columns.ts'
import type { HandoffIds } from './settlement-columns.ts'
import { WAKE_SUCCESSORS } from './successors.ts'

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
  readonly artefactId?: string | null
}

const END = `
with input as (
  select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::jsonb[],
    $7::bigint[], $8::boolean[], $9::boolean[], $10::text[], $11::text[])
    as t(handoff_id, epoch, state, task_status, reason, details, cost, alert, escalate, cluster, artefact_id)
), stopped as (
  update execution e set status = 'DONE', cost_micro_usd = i.cost
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.epoch = i.epoch and e.status in ('CLAIMED', 'EXECUTING')
    and h.id = e.handoff_id and not h.cancel_requested
  returning e.handoff_id
), ended as (
  update handoff h set state = i.state, reason = i.reason, last_error = i.details,
    ended_at = clock_timestamp(), release_id = null
  from stopped s join input i on i.handoff_id = s.handoff_id where h.id = s.handoff_id
  returning h.id, h.task_id, h.task_seq, h.attempt, h.checkpoint_id, h.body_sha256,
    h.from_agent, h.revision, i.*
), locked as (
  select id from task where id in (select task_id from ended) order by id for no key update
), tasks as (
  update task t set updated_at = clock_timestamp(),
    status = case when t.cancel_requested then 'CANCELED' else e.task_status end,
    spent_micro_usd = t.spent_micro_usd + e.cost,
    checkpoint_id = case when e.task_status = 'PENDING_HANDOFF' then e.checkpoint_id else t.checkpoint_id end,
    failed_handoffs = t.failed_handoffs + 1
  from ended e join locked on locked.id = e.task_id where t.id = e.task_id
), quarantined as (
  insert into dead_letter as d (handoff_id, task_id, reason, details, epoch, attempt, message_sha256,
    artefact_id, cluster)
  select id, task_id, reason, details, epoch, attempt, body_sha256, artefact_id, cluster
  from ended where state = 'DEAD_LETTERED'
  on conflict (handoff_id) do update set reason = excluded.reason, details = excluded.details,
    epoch = excluded.epoch, attempt = excluded.attempt, message_sha256 = excluded.message_sha256,
    artefact_id = excluded.artefact_id, cluster = excluded.cluster, round = d.round + 1,
    created_at = excluded.created_at, resolved_at = null, resolution = null, asked_at = null
), told as (
  ${TELL('rollback')}
  select id, task_id, from_agent, attempt, revision, reason, details
  from ended where task_status = 'PENDING_HANDOFF') n
), alerts as (
  insert into alert (kind, handoff_id, task_id, reason)
  select 'handoff.' || lower(state), id, task_id, reason from ended where alert
), escalations as (
  insert into escalation (handoff_id, task_id, attempts, reason)
  select id, task_id, attempt, reason from ended where escalate
  on conflict (handoff_id) do update set attempts = excluded.attempts, reason = excluded.reason,
    created_at = excluded.created_at, resolved_at = null
), ${WAKE_SUCCESSORS}, ${INTENTS('stopped', 12)}
select handoff_id as "handoffId" from stopped`

/**
 * Ends handoffs without an effect: rejected, dead-lettered or rolled back to the sender's
 * checkpoint (E15). Answers which of them still held their epoch.
 */
export function endHandoffs(
  db: Database,
  endings: readonly Ending[],
  intents: readonly AuditIntent[],
): Promise<HandoffIds> {
  return settledIds(db, 'end_handoffs', END, [
    ...fenceColumns(endings),
    endings.map((one) => one.state),
    endings.map((one) => one.taskStatus),
    endings.map((one) => one.reason),
    endings.map((one) => one.details),
    endings.map((one) => one.costMicroUSD),
    endings.map((one) => one.alert),
    endings.map((one) => one.escalate),
    endings.map((one) => one.cluster ?? one.reason),
    endings.map((one) => one.artefactId ?? null),
    ...intentColumns(intents),
  ])
}
