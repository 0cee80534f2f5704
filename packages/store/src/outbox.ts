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
  /** Whose handoff it is. */
  readonly tenant: string
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

/** How much of one tenant's waits for one agent type, and whether a live receiver hosts it. */
export interface QueueDepth extends OutboxDepth {
  readonly queue: string
  readonly tenant: string
  readonly hosted: boolean
  /** How much of it is of priority 0. */
  readonly criticalDepth: number
  /** How much of that tenant's waits in all. */
  readonly tenantDepth: number
}

/** Rows of one tenant, queue and priority. */
export interface PriorityClass {
  readonly tenant: string
  readonly queue: string
  readonly priority: number
}

/** A class as it is listed. */
export interface WaitingClass extends PriorityClass {
  /** Whether its agent type is another tenant's, which let this one send to it. */
  readonly granted: boolean
}

/** Which part of a priority class to claim. */
export interface ClaimQuota extends PriorityClass {
  /** Low-water hint that keeps the scan off dead rows; correctness never depends on it. */
  readonly afterSeq: number
  readonly limit: number
}

// Jumps from one tenant to the next, and of each from one (queue, priority) to the next, along the index instead of reading every row.
const CLASSES = `
with recursive sender as (
  (select tenant from outbox order by tenant limit 1)
  union all
  select next.tenant from sender cross join lateral (
    select o.tenant from outbox o where o.tenant > sender.tenant order by o.tenant limit 1) next
)
select sender.tenant, found.queue, found.priority,
  case when sender.tenant = 'default' and strpos(found.queue, '/') = 0 then false
    else tenant_of_agent(found.queue) <> sender.tenant end as granted
from sender left join unnest($1::text[], $2::text[]) as last(tenant, queue) using (tenant)
cross join lateral (
  with recursive class as (
    (select o.queue, o.priority, 1 as nth from outbox o where o.tenant = sender.tenant and o.queue > coalesce(last.queue, '')
     order by o.queue, o.priority limit 1)
    union all
    select next.queue, next.priority, class.nth + 1 from class cross join lateral (
      select o.queue, o.priority from outbox o
      where o.tenant = sender.tenant and (o.queue, o.priority) > (class.queue, class.priority)
      order by o.queue, o.priority limit 1) next
    where class.nth < $3
  )
  select queue, priority from class) found`

/** Which classes to list. */
export interface ClassListing {
  /** Of each tenant, at most so many. */
  readonly perTenantMax: number
  /** Of these tenants, only queues whose names come after these. */
  readonly after: ReadonlyMap<string, string>
}

const WHOLE_LIST: ClassListing = { perTenantMax: 2_147_483_647, after: new Map() }

/** What there is to publish: of each tenant in the order of queue and priority. All of it where nothing else is asked for. */
export function listPriorityClasses(
  db: Database,
  { perTenantMax, after }: ClassListing = WHOLE_LIST,
): Promise<WaitingClass[]> {
  const values = [[...after.keys()], [...after.values()], perTenantMax]
  return run(db, 'list_priority_classes', CLASSES, values)
}

// For whoever relays for a few queues, however many others have something.
const CLASSES_OF_QUEUES = `
with recursive sender as (
  (select tenant from outbox order by tenant limit 1)
  union all
  select next.tenant from sender cross join lateral (
    select o.tenant from outbox o where o.tenant > sender.tenant order by o.tenant limit 1) next
)
select sender.tenant, asked.queue, p.priority,
  case when sender.tenant = 'default' and strpos(asked.queue, '/') = 0 then false
    else tenant_of_agent(asked.queue) <> sender.tenant end as granted
from sender cross join unnest($1::text[]) as asked(queue) cross join unnest('{0,1,2,3}'::smallint[]) as p(priority)
cross join lateral (select from outbox o
  where (o.tenant, o.queue, o.priority) >= (sender.tenant, asked.queue, p.priority)
    and (o.tenant, o.queue, o.priority) <= (sender.tenant, asked.queue, p.priority)
  order by o.tenant, o.queue, o.priority, o.seq limit 1) found`

/** The same, of these queues only. */
export function listClassesOf(db: Database, queues: readonly string[]): Promise<WaitingClass[]> {
  return run(db, 'list_classes_of_queues', CLASSES_OF_QUEUES, [queues])
}

const QUOTAS = columns({ tenant: text, queue: text, priority: int2, afterSeq: int8, quota: int4 })

// Compared and ordered as the index of claims is: by number alone a claim might go through all that others have waiting, where
// Postgres has not yet counted that there are several.
const CLAIM = `
delete from outbox where seq = any(array(
  select claimed.seq
  from ${QUOTAS.unnest('asked')}
  cross join lateral (
    select o.seq from outbox o
    where (o.tenant, o.queue, o.priority, o.seq) > (asked.tenant, asked.queue, asked.priority, asked.after_seq)
      and (o.tenant, o.queue, o.priority) <= (asked.tenant, asked.queue, asked.priority)
    order by o.tenant, o.queue, o.priority, o.seq limit asked.quota for update skip locked) claimed))
returning seq, handoff_id as "handoffId", tenant, task_id as "taskId", publish_attempt as "publishAttempt", queue, priority, sha256,
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

// Each count stays within its tenant's or queue's part of the index; a queue's oldest row is the first of one of its priority classes.
const QUEUE_DEPTHS = `
with asked as materialized (
  select a.queue, coalesce(a.tenant, tenant_of_agent(a.queue)) as tenant, a.nth
  from unnest($1::text[], $2::text[]) with ordinality as a(queue, tenant, nth)
), sender as materialized (
  select s.tenant, (select count(*) from (select from outbox o where o.tenant = s.tenant limit $4) counted) as depth
  from (select distinct tenant from asked) s
)
select asked.queue, asked.tenant, sender.depth as "tenantDepth",
  (select count(*) from (select from outbox o where o.tenant = asked.tenant and o.queue = asked.queue limit $3) counted) as depth,
  (select count(*) from (select from outbox o where o.tenant = asked.tenant and o.queue = asked.queue and o.priority = 0 limit $5) counted)
    as "criticalDepth",
  coalesce((select extract(epoch from clock_timestamp() - min(first.created_at))::float8
    from unnest('{0,1,2,3}'::smallint[]) as priority_class(priority) cross join lateral (
      select o.created_at from outbox o
      where (o.tenant, o.queue, o.priority) >= (asked.tenant, asked.queue, priority_class.priority)
        and (o.tenant, o.queue, o.priority) <= (asked.tenant, asked.queue, priority_class.priority)
      order by o.tenant, o.queue, o.priority, o.seq limit 1) first), 0) as "oldestAgeSeconds",
  exists (select from agent_registration a where a.type = asked.queue and a.${LIVE}) as hosted
from asked join sender using (tenant) order by asked.nth`

/** An agent type, and whose handoffs to it are counted; null is for those of the tenant whose type it is. */
export interface AskedQueue {
  readonly queue: string
  readonly tenant: string | null
}

/** How far to count what waits for one agent type, and of one tenant. */
export interface CountBounds {
  readonly queueMax: number
  /** The same of priority 0 alone. */
  readonly criticalMax: number
  readonly tenantMax: number
}

/** How much of a tenant's waits for each of these agent types, and whether a live receiver hosts it; in order. */
export function outboxQueueDepths(
  db: Database,
  asked: readonly AskedQueue[],
  { queueMax, criticalMax, tenantMax }: CountBounds,
): Promise<QueueDepth[]> {
  const queues = asked.map(({ queue }) => queue)
  const tenants = asked.map(({ tenant }) => tenant)
  return run(db, 'outbox_queue_depths', QUEUE_DEPTHS, [
    queues,
    tenants,
    queueMax + 1,
    tenantMax + 1,
    criticalMax,
  ])
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
