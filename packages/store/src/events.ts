// Events as they are kept for who subscribes or reads: one order in which nothing comes up behind what was seen, each event once
// by its id, and only those of tenants that somebody asks for.
import { columns, int2, int8, nullable, text, uuid } from '@baton/postgres'
import { inTransaction, run } from './database.ts'
import type { Database, Pool } from './database.ts'

export interface NewEvent {
  /** Follows from the record or the change that it tells of. */
  readonly id: string
  readonly tenant: string
  /** The CloudEvent as JSON. */
  readonly body: string
  /** For one subscription alone, where it is a test. */
  readonly subscriptionId: string | null
}

export interface StoredEvent extends NewEvent {
  readonly position: number
}

/** How far a chain of the log is followed. */
export interface LogPosition {
  readonly chain: number
  readonly size: number
  /** Of the last record that was followed, in lower-case hex. */
  readonly lastHash: string
}

const WANT = `
insert into event_feed as f (tenant) values ($1)
on conflict (tenant) do update set wanted_at = clock_timestamp() where f.wanted_at < clock_timestamp() - interval '1 minute'`

/** From now on the events of the tenant are kept; of one whose events are, for as long again. */
export async function wantEvents(db: Database, tenant: string): Promise<void> {
  await run(db, 'want_events', WANT, [tenant])
}

/** How long the events of a tenant without subscriptions are kept on after the last time that somebody read them. */
const UNWANTED = `interval '7 days'`

const FOLLOW = `
with unwanted as (
  delete from event_feed f where f.wanted_at < clock_timestamp() - ${UNWANTED}
    and not exists (select from event_subscription s where s.tenant = f.tenant)
), led as (
  update event_head set follower = $1, lease_until = clock_timestamp() + $2 * interval '1 millisecond'
  where exists (select from event_feed) and (lease_until <= clock_timestamp()
    or follower = $1 and lease_until <= clock_timestamp() + $2 * interval '500 microseconds') returning id
), forgotten as (
  delete from event_position where not exists (select from event_feed)
)
select f.tenant, f.since from event_feed f
where (exists (select from led) or exists (select from event_head where follower = $1 and lease_until > clock_timestamp()))
  and (f.wanted_at >= clock_timestamp() - ${UNWANTED} or exists (select from event_subscription s where s.tenant = f.tenant))
order by f.tenant`

export interface FedTenant {
  readonly tenant: string
  /** Since when its events are kept. */
  readonly since: Date
}

/**
 * Whose events are to be kept, where this process follows now; nobody's where another one does. Where nobody asks for events nothing is
 * written, and where following stood is forgotten: with who asks next it begins anew.
 */
export function followFor(
  db: Database,
  { follower, leaseMs }: { readonly follower: string; readonly leaseMs: number },
): Promise<FedTenant[]> {
  return run(db, 'follow_for', FOLLOW, [follower, leaseMs])
}

/** Another process may follow at once. */
export async function leaveFollowing(db: Database, follower: string): Promise<void> {
  const text = `update event_head set lease_until = 'epoch' where follower = $1`
  await run(db, 'leave_following', text, [follower])
}

export function listLogPositions(db: Database): Promise<LogPosition[]> {
  const text = `select chain, size, last_hash as "lastHash" from event_position order by chain`
  return run(db, 'list_log_positions', text)
}

const EVENTS = columns({ id: uuid, tenant: text, body: text, subscriptionId: nullable(uuid) })
const POSITIONS = columns({ chain: int2, size: int8, lastHash: text })

// Whoever adds waits here for whoever adds: positions rise in the order of commits.
const TAKE_HEAD = `select position from event_head for update`

const ADD = `
with given as (
  select g.* from ${EVENTS.unnest('g', { ordinality: 'place' })} where not exists (select from event e where e.id = g.id)
), added as (
  insert into event (position, id, tenant, body, subscription_id)
  select $5::bigint + row_number() over (order by place), id, tenant, body, subscription_id from given
  on conflict (id) do nothing returning position
)
update event_head set position = greatest(event_head.position, (select max(position) from added))
where exists (select from added) returning position`

async function add(db: Database, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const [head] = await run<{ position: number }>(db, 'take_event_head', TAKE_HEAD)
  await run(db, 'add_events', ADD, [...EVENTS.values(events), head?.position ?? 0])
}

/** Adds events that are not there yet. */
export const addEvents = (pool: Pool, events: readonly NewEvent[]): Promise<void> =>
  inTransaction(pool, (transaction) => add(transaction, events))

const MOVE = `
insert into event_position as p (chain, size, last_hash) select m.chain, m.size, m.last_hash from ${POSITIONS.unnest('m')}
on conflict (chain) do update set size = excluded.size, last_hash = excluded.last_hash`

const HOLD = `
select position from event_head where follower = $1
  and $2::text[] = coalesce((select array_agg(f.tenant order by f.tenant) from event_feed f), '{}') for update`

export interface Followed {
  readonly follower: string
  /** Those of whom events were made, in their order. */
  readonly tenants: readonly string[]
  readonly events: readonly NewEvent[]
  readonly positions: readonly LogPosition[]
}

/**
 * What the log says since, and where it was read to: together or not at all, and only while this process follows and no other tenant
 * asks for its events, which would miss what was read before that was seen.
 */
export function addFollowed(
  pool: Pool,
  { follower, tenants, events, positions }: Followed,
): Promise<boolean> {
  return inTransaction(pool, async (transaction) => {
    const held = await run(transaction, 'hold_following', HOLD, [follower, tenants])
    if (held.length === 0) return false
    await add(transaction, events)
    if (positions.length > 0)
      await run(transaction, 'move_log_positions', MOVE, POSITIONS.values(positions))
    return true
  })
}

const TELL_CHANGES = `
with untold as (
  select c.id from alert_change c where c.told_at is null and c.at >= $1 and c.change <> 'test'
  order by c.at limit $2 for update skip locked
), told as (
  update alert_change c set told_at = clock_timestamp() from untold where c.id = untold.id
  returning c.id, c.alert_id, c.change, c.occurrences, c.at
)
select t.id, t.change, t.occurrences, t.at, a.id as "alertId", a.kind, a.severity, a.reason, a.subject, a.escalations,
  a.handoff_ids as "handoffIds"
from told t join alert a on a.id = t.alert_id order by t.at`

export interface ToldChange {
  readonly id: string
  readonly change: string
  readonly occurrences: number
  readonly at: Date
  readonly alertId: string
  readonly kind: string
  readonly severity: string
  readonly reason: string
  readonly subject: Readonly<Record<string, string>>
  readonly escalations: number
  readonly handoffIds: readonly string[]
}

/** Makes events of what became of alerts since then, each change once whenever it was committed. Answers how many there were. */
export function addAlertEvents(
  pool: Pool,
  {
    since,
    limit,
    eventOf,
  }: {
    readonly since: Date
    readonly limit: number
    readonly eventOf: (change: ToldChange) => NewEvent
  },
): Promise<number> {
  return inTransaction(pool, async (transaction) => {
    const changes = await run<ToldChange>(transaction, 'tell_alert_changes', TELL_CHANGES, [
      since,
      limit,
    ])
    await add(transaction, changes.map(eventOf))
    return changes.length
  })
}

/** Where the newest event stands, of whichever tenant. */
export async function eventHead(db: Database): Promise<number> {
  const text = `select position from event_head`
  return (await run<{ position: number }>(db, 'event_head', text))[0]?.position ?? 0
}

const EVENT = `e.position, e.id, e.tenant, e.body, e.subscription_id as "subscriptionId"`

/** A page of one tenant's events, oldest first; not those that test a subscription. */
export function listEvents(
  db: Database,
  {
    tenant,
    after,
    limit,
  }: { readonly tenant: string; readonly after: number; readonly limit: number },
): Promise<StoredEvent[]> {
  const text = `select ${EVENT} from event e where e.tenant = $1 and e.position > $2 and e.subscription_id is null
    order by e.position limit $3`
  return run(db, 'list_events', text, [tenant, after, limit])
}

/** Where an event of a tenant stands; undefined where there is none with this id, any more. */
export async function findEventPosition(
  db: Database,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<number | undefined> {
  const text = `select position from event where tenant = $1 and id = $2`
  return (await run<{ position: number }>(db, 'find_event_position', text, [tenant, id]))[0]
    ?.position
}

/** Behind which position a tenant's events of this time and later stand. */
export async function eventPositionAt(
  db: Database,
  { tenant, at }: { readonly tenant: string; readonly at: Date },
): Promise<number> {
  const text = `select coalesce((select min(e.position) - 1 from event e where e.tenant = $1 and e.created_at >= $2),
    (select max(e.position) from event e where e.tenant = $1), 0) as position`
  return (
    (await run<{ position: number }>(db, 'event_position_at', text, [tenant, at]))[0]?.position ?? 0
  )
}

const FORGET = `
with old as (
  select e.position, e.tenant, e.subscription_id from event e where e.created_at < clock_timestamp() - $1 * interval '1 day'
    and not exists (select from event_delivery d where d.position = e.position and d.state <> 'delivered')
  order by e.created_at limit $2
), missed as (
  update event_subscription s set state = 'disabled', reason = 'EVENTS_FORGOTTEN', changed_at = clock_timestamp()
  where s.state <> 'disabled' and exists (select from old o where o.tenant = s.tenant and o.position > s.position
    and (o.subscription_id is null or o.subscription_id = s.id))
), gone as (
  delete from event where position in (select position from old) returning position
)
select count(*)::int as count from gone`

/** Forgets old events; whoever has not been told of one is disabled and says so. Answers how many there were. */
export async function forgetEvents(
  db: Database,
  { keptDays, limit }: { readonly keptDays: number; readonly limit: number },
): Promise<number> {
  return (
    (await run<{ count: number }>(db, 'forget_events', FORGET, [keptDays, limit]))[0]?.count ?? 0
  )
}

export interface EventFacts {
  readonly tracestate: string | null
  readonly expiresAt: Date | null
}

const FACTS = `
select h.id, h.tracestate, h.expires_at as "expiresAt" from unnest($1::uuid[]) as w (id) join handoff h on h.id = w.id`

/** What is known of these handoffs beside their records, by id. */
export async function findEventFacts(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EventFacts>> {
  const rows = await run<EventFacts & { id: string }>(db, 'find_event_facts', FACTS, [ids])
  return new Map(rows.map(({ id, ...facts }) => [id, facts]))
}
