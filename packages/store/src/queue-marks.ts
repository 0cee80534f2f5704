// How far relays have come in each queue, and what is published again when a queue lost its tail.
import type { QueueMark } from '@baton/protocol'
import { columns, int8, text, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { QUEUE, REQUEUE } from './publications.ts'
import { EARLIER_IS_OPEN, IS_HELD } from './states.ts'

/** A mark that its queue no longer has, and the one it still has. */
export interface LostMark extends QueueMark {
  readonly survived: number | null
}

/** What a queue may have lost: all it was given from `since` until the loss was seen. */
export interface LostTail {
  readonly queue: string
  readonly since: Date
  readonly seenAt: Date
}

// Jumps from the newest mark of one relay and queue to that of the next, past everything older.
const NEWEST = `
with recursive newest as (
  (select queue, relay, mark from queue_mark order by queue desc, relay desc, mark desc limit 1)
  union all
  select next.queue, next.relay, next.mark from newest cross join lateral (
    select m.queue, m.relay, m.mark from queue_mark m
    where (m.queue, m.relay) < (newest.queue, newest.relay)
    order by m.queue desc, m.relay desc, m.mark desc limit 1) next
)
select queue, relay, mark from newest`

/** The newest mark of each relay in each queue. */
export function listQueueMarks(db: Database): Promise<QueueMark[]> {
  return run(db, 'list_queue_marks', NEWEST)
}

const LOST = columns({ queue: text, relay: uuid, mark: int8, survived: int8 })

// Deleting decides who publishes again: of several that see the same loss, one gets the rows.
const TAKE_LOST = `
with gone as (
  delete from queue_mark m using ${LOST.unnest('i')}
  where m.queue = i.queue and m.relay = i.relay and m.mark <= i.mark
  returning m.queue, m.relay, m.mark, m.marked_at, i.mark as newest, i.survived
), tails as (
  select queue, min(marked_at) filter (where mark = survived) - interval '1 second' as since
  from gone group by queue, relay having bool_or(mark = newest)
)
select queue, min(coalesce(since, 'epoch')) as since, clock_timestamp() as "seenAt"
from tails group by queue`

/** Takes lost tails, so that nobody else does: per queue, when what is lost was published. */
export function takeLostTails(db: Database, lost: readonly LostMark[]): Promise<LostTail[]> {
  const sorted = lost.toSorted((a, b) => (a.queue + a.relay < b.queue + b.relay ? -1 : 1))
  const rows = sorted.map((one) => ({ ...one, survived: one.survived ?? 0 }))
  return run(db, 'take_lost_tails', TAKE_LOST, LOST.values(rows))
}

// What others published meanwhile may ring once more: a second ring changes nothing.
const REDRIVE_TAIL = `
with taken as (
  select h.id as handoff_id from handoff h
  where h.ended_at is null and h.dispatched_at >= $2 and h.dispatched_at <= $3
    and h.state = 'DISPATCHED' and ${QUEUE} = $1
    and not ${IS_HELD}
    and not ${EARLIER_IS_OPEN}
  order by h.dispatched_at limit $4 for no key update of h skip locked
), ${REQUEUE}`

/**
 * Publishes again at most `limit` handoffs of a lost tail that nobody has claimed; answers how
 * many. Repeat until it answers fewer than `limit`.
 */
export async function redriveTail(
  db: Database,
  { queue, since, seenAt }: LostTail,
  limit: number,
): Promise<number> {
  return (await run(db, 'redrive_tail', REDRIVE_TAIL, [queue, since, seenAt, limit])).length
}

const FORGET_OLD = `
delete from queue_mark m where m.marked_at < clock_timestamp() - interval '1 minute'
  and (m.marked_at < clock_timestamp() - interval '1 hour'
    or exists (select from queue_mark newer where newer.queue = m.queue and newer.relay = m.relay
      and newer.mark > m.mark))`

/**
 * Forgets marks older than a minute that have a newer one, and those of relays that published
 * nothing for an hour: what they left is found by the sweeper by its age.
 */
export async function forgetOldMarks(db: Database): Promise<void> {
  await run(db, 'forget_old_marks', FORGET_OLD)
}
