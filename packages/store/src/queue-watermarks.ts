// How far relays have come in each queue, and what is published again when a queue lost its suffix.
import type { QueueWatermark } from '@baton/protocol'
import { columns, int8, text, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { QUEUE, REQUEUE } from './publications.ts'
import { EARLIER_IS_OPEN, IS_HELD } from './states.ts'

/** A watermark that its queue no longer has, and the one it still has. */
export interface LostWatermark extends QueueWatermark {
  readonly survived: number | null
}

/** What a queue may have lost: all it was given from `since` until the loss was seen. */
export interface LostSuffix {
  readonly queue: string
  readonly since: Date
  readonly seenAt: Date
}

// Jumps from the newest watermark of one relay and queue to that of the next, past everything older.
const NEWEST = `
with recursive newest as (
  (select queue, relay, watermark from queue_watermark order by queue desc, relay desc, watermark desc limit 1)
  union all
  select next.queue, next.relay, next.watermark from newest cross join lateral (
    select m.queue, m.relay, m.watermark from queue_watermark m
    where (m.queue, m.relay) < (newest.queue, newest.relay)
    order by m.queue desc, m.relay desc, m.watermark desc limit 1) next
)
select queue, relay, watermark from newest`

/** The newest watermark of each relay in each queue. */
export function listQueueWatermarks(db: Database): Promise<QueueWatermark[]> {
  return run(db, 'list_queue_watermarks', NEWEST)
}

const LOST = columns({ queue: text, relay: uuid, watermark: int8, survived: int8 })

// Deleting decides who publishes again: of several that see the same loss, one gets the rows.
const TAKE_LOST = `
with gone as (
  delete from queue_watermark m using ${LOST.unnest('i')}
  where m.queue = i.queue and m.relay = i.relay and m.watermark <= i.watermark
  returning m.queue, m.relay, m.watermark, m.written_at, i.watermark as newest, i.survived
), suffixes as (
  select queue, min(written_at) filter (where watermark = survived) - interval '1 second' as since
  from gone group by queue, relay having bool_or(watermark = newest)
)
select queue, min(coalesce(since, 'epoch')) as since, clock_timestamp() as "seenAt"
from suffixes group by queue`

/** Takes lost suffixes, so that nobody else does: per queue, when what is lost was published. */
export function takeLostSuffixes(
  db: Database,
  lost: readonly LostWatermark[],
): Promise<LostSuffix[]> {
  const sorted = lost.toSorted((a, b) => (a.queue + a.relay < b.queue + b.relay ? -1 : 1))
  const rows = sorted.map((one) => ({ ...one, survived: one.survived ?? 0 }))
  return run(db, 'take_lost_suffixes', TAKE_LOST, LOST.values(rows))
}

// What others published meanwhile may be published once more: a second queue message changes nothing.
const REDRIVE_LOST_SUFFIX = `
with taken as (
  select h.id as handoff_id from handoff h
  where h.ended_at is null and h.dispatched_at >= $2 and h.dispatched_at <= $3
    and h.state = 'DISPATCHED' and ${QUEUE} = $1
    and not ${IS_HELD}
    and not ${EARLIER_IS_OPEN}
  order by h.dispatched_at limit $4 for no key update of h skip locked
), ${REQUEUE}`

/**
 * Publishes again at most `limit` handoffs of a lost suffix that nobody has claimed; answers how
 * many. Repeat until it answers fewer than `limit`.
 */
export async function redriveLostSuffix(
  db: Database,
  { queue, since, seenAt }: LostSuffix,
  limit: number,
): Promise<number> {
  return (await run(db, 'redrive_lost_suffix', REDRIVE_LOST_SUFFIX, [queue, since, seenAt, limit]))
    .length
}

const FORGET_OLD = `
delete from queue_watermark m where m.written_at < clock_timestamp() - interval '1 minute'
  and (m.written_at < clock_timestamp() - interval '1 hour'
    or exists (select from queue_watermark newer where newer.queue = m.queue and newer.relay = m.relay
      and newer.watermark > m.watermark))`

/**
 * Forgets watermarks older than a minute that have a newer one, and those of relays that published
 * nothing for an hour: what they left is found by the sweeper by its age.
 */
export async function forgetOldWatermarks(db: Database): Promise<void> {
  await run(db, 'forget_old_watermarks', FORGET_OLD)
}
