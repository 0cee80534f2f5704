// What the sweeper re-drives from Postgres. Any number of sweepers: rows are taken with SKIP LOCKED.
import type { ExpiredHandoff, QuietHandoff } from '@baton/protocol/delivery'
import { type Database, run } from './database.ts'
import { WAKE_SUCCESSORS } from './successors.ts'

const SWEEP_MAX = 500

// Every re-drive is a new generation, so that an older ring of the doorbell is recognised as stale.
export const REQUEUE = `
queued as (
  update handoff set state = 'QUEUED', generation = generation + 1, queued_at = clock_timestamp()
  where id in (select handoff_id from taken)
    and state in ('QUEUED', 'DISPATCHED', 'ACCEPTED', 'EXECUTING')
  returning id, task_id, generation, to_agent, priority, body_sha256, body_bytes, traceparent, tracestate
), rung as (
  insert into outbox (handoff_id, task_id, generation, queue, priority, sha256, bytes, traceparent, tracestate)
  select id, task_id, generation, to_agent, priority, body_sha256, body_bytes, traceparent, tracestate
  from queued
)
select id from queued`

const RETRIES = `
with taken as (
  delete from retry where handoff_id in (
    select handoff_id from retry where due <= clock_timestamp() order by due limit ${SWEEP_MAX}
    for update skip locked)
  returning handoff_id
), ${REQUEUE}`

/** Puts retries whose time has come back into the outbox; answers how many. */
export async function sweepRetries(db: Database): Promise<number> {
  return (await run(db, 'sweep_retries', RETRIES)).length
}

const LAPSED = `
with taken as (
  update execution set status = 'ABANDONED', lapses = lapses + 1 where handoff_id in (
    select handoff_id from execution
    where status in ('CLAIMED', 'EXECUTING') and lease_until < clock_timestamp()
    order by lease_until limit ${SWEEP_MAX} for update skip locked)
  returning handoff_id
), ${REQUEUE}`

/** Takes executions away from owners that stopped renewing their lease; answers how many. */
export async function sweepLapsedLeases(db: Database): Promise<number> {
  return (await run(db, 'sweep_lapsed_leases', LAPSED)).length
}

const QUIET = `
select h.id as "handoffId", h.generation, h.to_agent as queue from handoff h
where h.ended_at is null and h.state = 'DISPATCHED' and h.dispatched_at < clock_timestamp() - $1 * interval '1 millisecond'
  and not exists (select from execution e where e.handoff_id = h.id and e.status in ('CLAIMED', 'EXECUTING'))
  and not exists (select from retry r where r.handoff_id = h.id)
  and not exists (select from handoff earlier where earlier.task_id = h.task_id
    and earlier.task_seq < h.task_seq and earlier.ended_at is null)
order by h.dispatched_at limit ${SWEEP_MAX}`

/** Published handoffs that nobody has claimed for `quietMs`: their job may be lost. */
export function listQuietHandoffs(db: Database, quietMs: number): Promise<QuietHandoff[]> {
  return run(db, 'list_quiet_handoffs', QUIET, [quietMs])
}

const REDRIVE = `
with taken as (
  select h.id as handoff_id from unnest($1::uuid[], $2::int[]) as i(id, generation)
  join handoff h on h.id = i.id and h.generation = i.generation and h.state = 'DISPATCHED'
  for no key update of h skip locked
), ${REQUEUE}`

/** Publishes lost handoffs again, unless something happened to them meanwhile; answers how many. */
export async function redriveHandoffs(
  db: Database,
  lost: readonly QuietHandoff[],
): Promise<number> {
  const rows = await run(db, 'redrive_handoffs', REDRIVE, [
    lost.map((one) => one.handoffId),
    lost.map((one) => one.generation),
  ])
  return rows.length
}

// The outbox has no index by handoff, which would cost every send; it is read only where something expired.
const EXPIRED = `
with due as (
  select h.id from handoff h
  where h.ended_at is null and h.expires_at <= clock_timestamp()
    and h.state in ('QUEUED', 'AWAITING_APPROVAL', 'DISPATCHED')
    and not exists (select from execution e where e.handoff_id = h.id
      and e.status in ('CLAIMED', 'EXECUTING') and e.lease_until > clock_timestamp())
  order by h.expires_at limit ${SWEEP_MAX} for update of h skip locked
), ended as (
  update handoff set state = 'EXPIRED', reason = 'EXPIRED', ended_at = clock_timestamp(),
    release_id = null
  where id in (select id from due)
  returning *
), stopped as (
  update execution set status = 'DONE' where handoff_id in (select id from ended) returning handoff_id, epoch
), tasks as (
  update task t set status = 'PENDING_HANDOFF', checkpoint_id = e.checkpoint_id,
    updated_at = clock_timestamp() from ended e where t.id = e.task_id
), alerts as (
  insert into alert (kind, handoff_id, task_id, reason)
  select 'handoff.expired', id, task_id, 'EXPIRED' from ended
), unscheduled as (
  delete from retry where handoff_id in (select id from ended)
), unpublished as (
  delete from outbox where exists (select from ended) and handoff_id = any(array(select id from ended))
), ${WAKE_SUCCESSORS}
select e.id as "handoffId", e.task_id as "taskId", e.parent_id as "parentId",
  coalesce(s.epoch, 0) as epoch, e.attempt, e.from_agent as "fromAgent",
  e.from_version as "fromVersion", e.from_execution as "fromExecution", e.to_agent as "toAgent",
  e.to_version as "toVersion", e.traceparent
from ended e left join stopped s on s.handoff_id = e.id`

/** Ends handoffs whose deadline or expiry has passed; they never execute afterwards. */
export function expireHandoffs(db: Database): Promise<ExpiredHandoff[]> {
  return run(db, 'expire_handoffs', EXPIRED)
}
