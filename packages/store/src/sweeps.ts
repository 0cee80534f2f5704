// What the sweeper re-drives from Postgres. Any number of sweepers: rows are taken with SKIP LOCKED.
import { columns, int4, uuid } from '@baton/postgres'
import type { ClaimRequest } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { QUEUE, REQUEUE } from './publications.ts'
import { EARLIER_IS_OPEN, IS_HELD, LEASED } from './states.ts'

/** A published handoff that nobody has claimed for a while. */
export interface UndeliveredHandoff extends ClaimRequest {
  readonly queue: string
}

const SWEEP_MAX = 500
const BACKLOG_MAX = 5_000

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

const EXPIRED = `
with taken as (
  update execution set status = 'ABANDONED', lease_expiries = lease_expiries + 1 where handoff_id in (
    select handoff_id from execution
    where status in ${LEASED} and lease_until < clock_timestamp()
    order by lease_until limit ${SWEEP_MAX} for update skip locked)
  returning handoff_id
), ${REQUEUE}`

/** Takes executions away from owners that stopped renewing their lease; answers of which handoffs. */
export async function sweepExpiredLeases(db: Database): Promise<readonly string[]> {
  const rows = await run<{ readonly id: string }>(db, 'sweep_expired_leases', EXPIRED)
  return rows.map(({ id }) => id)
}

const UNDELIVERED = `
select h.id as "handoffId", h.publish_attempt as "publishAttempt", ${QUEUE} as queue from handoff h
where h.ended_at is null and h.state = 'DISPATCHED' and h.dispatched_at < clock_timestamp() - $1 * interval '1 millisecond'
  and not ${IS_HELD}
  and not exists (select from retry r where r.handoff_id = h.id)
  and not ${EARLIER_IS_OPEN}
order by h.dispatched_at limit ${SWEEP_MAX}`

/** Published handoffs that nobody has claimed for `undeliveredMs`: their job may be lost. */
export function listUndelivered(
  db: Database,
  undeliveredMs: number,
): Promise<UndeliveredHandoff[]> {
  return run(db, 'list_undelivered', UNDELIVERED, [undeliveredMs])
}

const LOST = columns({ handoffId: uuid, publishAttempt: int4 })

const REDRIVE = `
with taken as (
  select h.id as handoff_id from ${LOST.unnest('i')}
  join handoff h on h.id = i.handoff_id and h.publish_attempt = i.publish_attempt and h.state = 'DISPATCHED'
  for no key update of h skip locked
), ${REQUEUE}`

/** Publishes lost handoffs again, unless something happened to them meanwhile; answers how many. */
export async function redriveHandoffs(
  db: Database,
  lost: readonly UndeliveredHandoff[],
): Promise<number> {
  return (await run(db, 'redrive_handoffs', REDRIVE, LOST.values(lost))).length
}

// NOT IN is one hashed pass over the outbox, which has no index by handoff. With a longer backlog nothing
// is looked for: rows that wait there are in nobody's way, and the pass would grow with them.
const STUCK = `
with taken as (
  select h.id as handoff_id from handoff h
  where (select count(*) from (select from outbox limit ${BACKLOG_MAX + 1}) waiting) <= ${BACKLOG_MAX}
    and h.ended_at is null and h.state = 'QUEUED'
    and h.queued_at < clock_timestamp() - $1 * interval '1 millisecond'
    and h.id not in (select handoff_id from outbox)
    and not exists (select from retry r where r.handoff_id = h.id)
    and not ${IS_HELD}
    and not ${EARLIER_IS_OPEN}
  limit ${SWEEP_MAX} for no key update of h skip locked
), ${REQUEUE}`

/**
 * Publishes queued handoffs that nothing would publish any more; answers how many. A relay passes over a
 * row that somebody else holds, such as a reviewer deciding twice: that one stays QUEUED though its job
 * went out, and when the job is lost as well nothing else would notice.
 */
export async function sweepStuck(db: Database, undeliveredMs: number): Promise<number> {
  return (await run(db, 'sweep_stuck', STUCK, [undeliveredMs])).length
}
