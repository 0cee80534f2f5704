// What the sweeper re-drives from Postgres. Any number of sweepers: rows are taken with SKIP LOCKED.
import type { ClaimRequest } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { QUEUE } from './successors.ts'

/** A published handoff that nobody has claimed for a while. */
export interface QuietHandoff extends ClaimRequest {
  readonly queue: string
}

const SWEEP_MAX = 500
const BACKLOG_MAX = 5_000

// Every re-drive is a new generation, so that an older ring of the doorbell is recognised as stale.
export const REQUEUE = `
queued as (
  update handoff set state = 'QUEUED', generation = generation + 1, queued_at = clock_timestamp()
  where id in (select handoff_id from taken)
    and state in ('QUEUED', 'DISPATCHED', 'ACCEPTED', 'EXECUTING')
  returning id, task_id, generation, ${QUEUE} as queue, priority, body_sha256, body_bytes, traceparent, tracestate
), rung as (
  insert into outbox (handoff_id, task_id, generation, queue, priority, sha256, bytes, traceparent, tracestate)
  select id, task_id, generation, queue, priority, body_sha256, body_bytes, traceparent, tracestate
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
select h.id as "handoffId", h.generation, coalesce(h.routed_to, h.to_agent) as queue from handoff h
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

// NOT IN is one hashed pass over the outbox, which has no index by handoff. With a longer backlog nothing
// is looked for: rows that wait there are in nobody's way, and the pass would grow with them.
const FORGOTTEN = `
with taken as (
  select h.id as handoff_id from handoff h
  where (select count(*) from (select from outbox limit ${BACKLOG_MAX + 1}) waiting) <= ${BACKLOG_MAX}
    and h.ended_at is null and h.state = 'QUEUED'
    and h.queued_at < clock_timestamp() - $1 * interval '1 millisecond'
    and h.id not in (select handoff_id from outbox)
    and not exists (select from retry r where r.handoff_id = h.id)
    and not exists (select from execution e where e.handoff_id = h.id and e.status in ('CLAIMED', 'EXECUTING'))
    and not exists (select from handoff earlier where earlier.task_id = h.task_id
      and earlier.task_seq < h.task_seq and earlier.ended_at is null)
  limit ${SWEEP_MAX} for no key update of h skip locked
), ${REQUEUE}`

/**
 * Publishes queued handoffs for which nothing would ring any more; answers how many. A relay passes over a
 * row that somebody else holds, such as a reviewer deciding twice: that one stays QUEUED though its job
 * went out, and when the job is lost as well nothing else would notice.
 */
export async function sweepForgotten(db: Database, quietMs: number): Promise<number> {
  return (await run(db, 'sweep_forgotten', FORGOTTEN, [quietMs])).length
}
