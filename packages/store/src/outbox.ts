// The outbox: rows wait here until a relay has published them; claiming deletes (no flag, no lease).
import type { Priority, QueueWatermark } from '@baton/protocol'
import { columns, int2, int4, int8, listen, text, uuid } from '@baton/postgres'
import type { Listener } from '@baton/postgres'
import { LIVE } from './agent-registrations.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** A row of the outbox: everything a queue message needs, so that publishing reads no other table. */
export interface OutboxRow {
  readonly seq: number
  readonly handoffId: string
  readonly taskId: string
  readonly publishAttempt: number
  readonly queue: string
  readonly priority: Priority
  readonly sha256: Uint8Array
  readonly bytes: number
  readonly traceparent: string
  readonly tracestate: string | null
  readonly createdAt: Date
}

/** How much waits for a relay. */
export interface OutboxDepth {
  readonly depth: number
  readonly oldestAgeSeconds: number
}

/** How much waits for one agent type, and whether a live receiver hosts it. */
export interface QueueDepth extends OutboxDepth {
  readonly queue: string
  readonly hosted: boolean
}

/** Rows of one queue and priority. */
export interface PriorityClass {
  readonly queue: string
  readonly priority: number
}

/** Which part of a priority class to claim. */
export interface ClaimQuota extends PriorityClass {
  /** Low-water hint that keeps the scan off dead rows; correctness never depends on it. */
  readonly afterSeq: number
  readonly limit: number
}

// Jumps from one (queue, priority) to the next along the index instead of reading every row.
const CLASSES = `
with recursive priority_class as (
  (select queue, priority from outbox order by queue, priority limit 1)
  union all
  select next.queue, next.priority from priority_class cross join lateral (
    select o.queue, o.priority from outbox o where (o.queue, o.priority) > (priority_class.queue, priority_class.priority)
    order by o.queue, o.priority limit 1) next
)
select queue, priority from priority_class`

/** The queues and priorities that have something to publish. */
export function listPriorityClasses(db: Database): Promise<PriorityClass[]> {
  return run(db, 'list_priority_classes', CLASSES)
}

const QUOTAS = columns({ queue: text, priority: int2, afterSeq: int8, quota: int4 })

const CLAIM = `
delete from outbox where seq = any(array(
  select claimed.seq
  from ${QUOTAS.unnest('asked')}
  cross join lateral (
    select o.seq from outbox o
    where o.queue = asked.queue and o.priority = asked.priority and o.seq > asked.after_seq
    order by o.seq limit asked.quota for update skip locked) claimed))
returning seq, handoff_id as "handoffId", task_id as "taskId", publish_attempt as "publishAttempt", queue, priority, sha256,
  bytes, traceparent, tracestate, created_at as "createdAt"`

/** Deletes and returns rows; they are back if the transaction does not commit. */
export function claimOutbox(db: Database, classes: readonly ClaimQuota[]): Promise<OutboxRow[]> {
  const quotas = classes.map((priorityClass) => ({ ...priorityClass, quota: priorityClass.limit }))
  return run(db, 'claim_outbox', CLAIM, QUOTAS.values(quotas))
}

const WATERMARKS = columns({ queue: text, relay: uuid, watermark: int8 })

// Rows that somebody holds are skipped, never waited for: a receiver's are past DISPATCHED, a person's
// stay QUEUED and are found by sweepStuck should their job get lost.
const MARK_DISPATCHED = `
with dispatched as (
  update handoff set state = 'DISPATCHED', dispatched_at = clock_timestamp()
  where id in (select id from handoff where id = any($1::uuid[]) and state = 'QUEUED'
               for no key update skip locked)
)
insert into queue_watermark (queue, relay, watermark)
select queue, relay, watermark from ${WATERMARKS.unnest('m', { after: 1 })}`

/** Marks published handoffs as dispatched and keeps how far the relay has come; run in the claim's transaction. */
export async function markDispatched(
  db: Database,
  handoffIds: readonly string[],
  watermarks: readonly QueueWatermark[] = [],
): Promise<void> {
  await run(db, 'mark_dispatched', MARK_DISPATCHED, [handoffIds, ...WATERMARKS.values(watermarks)])
}

const DEPTH = `
select (select count(*) from (select from outbox order by seq limit $1) counted) as depth,
  coalesce((select extract(epoch from clock_timestamp() - created_at)::float8 from outbox
    order by seq limit 1), 0) as "oldestAgeSeconds"`

/** Twice what the whole outbox may hold at most: the most that a setting lets wait. */
const COUNTED_MAX = 400_000

/** How much waits in all, counted up to one more than `countMax`, and how long the oldest has waited. */
export async function outboxDepth(db: Database, countMax = COUNTED_MAX): Promise<OutboxDepth> {
  const [row] = await run<OutboxDepth>(db, 'outbox_depth', DEPTH, [countMax + 1])
  return row ?? { depth: 0, oldestAgeSeconds: 0 }
}

// Each count stays within its queue's part of the index; a queue's oldest row is the first of one of its priority classes.
const QUEUE_DEPTHS = `
select asked.queue,
  (select count(*) from (select from outbox o where o.queue = asked.queue limit $2) counted) as depth,
  coalesce((select extract(epoch from clock_timestamp() - min(first.created_at))::float8
    from unnest('{0,1,2,3}'::smallint[]) as priority_class(priority) cross join lateral (
      select o.created_at from outbox o where o.queue = asked.queue and o.priority = priority_class.priority
      order by o.seq limit 1) first), 0) as "oldestAgeSeconds",
  exists (select from agent_registration a where a.type = asked.queue and a.${LIVE}) as hosted
from unnest($1::text[]) as asked(queue)`

/** The same for each of these queues, and whether a live receiver hosts its agent type; in no order. */
export function outboxQueueDepths(
  db: Database,
  queues: readonly string[],
  countMax: number,
): Promise<QueueDepth[]> {
  return run(db, 'outbox_queue_depths', QUEUE_DEPTHS, [queues, countMax + 1])
}

/** Wakes relays. Sent outside the writing transaction, because NOTIFY serialises commits. */
export async function notifyOutbox(db: Database): Promise<void> {
  await run(db, 'notify_outbox', `select pg_notify('baton_outbox', '')`)
}

/** Hears `notifyOutbox` on a connection of its own, until closed. */
export const listenToOutbox = (heard: {
  readonly url: string
  readonly onWake: () => void
}): Listener => listen({ ...heard, channel: 'baton_outbox' })
