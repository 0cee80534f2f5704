// Who is to be told of events now: leased to one process at a time, with what waits and what is new, and what came of each try.
import { columns, int4, int8, nullable, text, uuid } from '@baton/postgres'
import { inTransaction, run } from './database.ts'
import type { Database, Pool } from './database.ts'
import type { EventMode } from './event-subscriptions.ts'

export interface DueSubscription {
  readonly id: string
  readonly tenant: string
  readonly url: string
  readonly mode: EventMode
  readonly filters: string
  /** Encrypted. */
  readonly secret: Buffer
  /** Encrypted; null where none signs beside it. */
  readonly earlierSecret: Buffer | null
  /** Tries since the last one that was taken. */
  readonly failures: number
  /** Everything up to there was told, or has a row of its own. */
  readonly position: number
}

const CLAIM = `
with due as (
  select s.id from event_subscription s
  where s.state = 'active' and s.due_at <= clock_timestamp() and (s.lease_until is null or s.lease_until <= clock_timestamp())
    and s.tenant <> all($4::text[])
    and (exists (select from event_delivery d where d.subscription_id = s.id and d.state = 'waiting'
        and (d.due_at <= clock_timestamp() or s.failures >= $5))
      or exists (select from event e where e.tenant = s.tenant and e.position > s.position
        and (e.subscription_id is null or e.subscription_id = s.id)))
  order by s.due_at limit $2 for update of s skip locked
)
update event_subscription s set lease = $1, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
from due where s.id = due.id
returning s.id, s.tenant, s.url, s.mode, s.filters, s.secret,
  case when s.earlier_until > clock_timestamp() then s.earlier_secret end as "earlierSecret", s.failures, s.position`

interface ClaimRequest {
  /** Of this process. */
  readonly lease: string
  readonly leaseMs: number
  readonly limit: number
  /** Tenants that have their share of what this process does at once. */
  readonly without: readonly string[]
  /** From so many failures on, one is tried with whatever waits. */
  readonly awayFrom: number
}

/** Subscriptions that have something to be told; nobody else tells them until the lease ends. */
export function claimSubscriptions(
  db: Database,
  { lease, leaseMs, limit, without, awayFrom }: ClaimRequest,
): Promise<DueSubscription[]> {
  return run(db, 'claim_subscriptions', CLAIM, [lease, limit, leaseMs, without, awayFrom])
}

/** One event that a subscription is to be told. */
export interface DueEvent {
  readonly position: number
  readonly eventId: string
  readonly body: string
  /** Tries before this one. */
  readonly attempts: number
}

const WAITING = `
select d.position, d.event_id as "eventId", e.body, d.attempts from event_delivery d join event e on e.position = d.position
where d.subscription_id = $1 and d.state = 'waiting' and ($2 or d.due_at <= clock_timestamp())
order by case when $2 then d.due_at end, d.position limit $3`

/** What was tried before and is due: the oldest first; with `anyTime` also what is not due yet. */
export function listWaitingEvents(
  db: Database,
  {
    id,
    anyTime,
    limit,
  }: { readonly id: string; readonly anyTime: boolean; readonly limit: number },
): Promise<DueEvent[]> {
  return run(db, 'list_waiting_events', WAITING, [id, anyTime, limit])
}

/** How many wait for another try. */
export async function countWaitingEvents(db: Database, id: string): Promise<number> {
  const text = `select count(*)::int as count from event_delivery where subscription_id = $1 and state = 'waiting'`
  return (await run<{ count: number }>(db, 'count_waiting_events', text, [id]))[0]?.count ?? 0
}

const NEW = `
select e.position, e.id as "eventId", e.body, 0 as attempts from event e
where e.tenant = $1 and e.position > $2 and (e.subscription_id is null or e.subscription_id = $3) order by e.position limit $4`

/** What a subscription was not told of yet, oldest first, whether or not it asks for it. */
export function listNewEvents(
  db: Database,
  {
    tenant,
    position,
    id,
    limit,
  }: Pick<DueSubscription, 'tenant' | 'position' | 'id'> & { readonly limit: number },
): Promise<DueEvent[]> {
  return run(db, 'list_new_events', NEW, [tenant, position, id, limit])
}

export interface Tried {
  readonly position: number
  readonly eventId: string
  /** Null where it was taken. */
  readonly code: string | null
  /** When it is tried again. */
  readonly againInMs: number
  /** Whether it was sent at all; else it only waits for its turn. */
  readonly sent: 0 | 1
}

export interface Round {
  readonly id: string
  readonly tenant: string
  readonly lease: string
  readonly leaseMs: number
  readonly tried: readonly Tried[]
  /** Everything up to there was told, or has a row now. */
  readonly position: number
  /** In a row, now. */
  readonly failures: number
  /** How long nothing more is sent; 0 goes on. */
  readonly waitMs: number
  readonly lastError: string | null
  /** How long one is tried at all. */
  readonly endMs: number
  /** A code, where it is disabled from now on. */
  readonly disabledFor: string | null
  /** Its consumer is back: what waits is due. */
  readonly isBack: boolean
}

const TRIED = columns({
  position: int8,
  eventId: uuid,
  code: nullable(text),
  againInMs: int8,
  sent: int4,
})

const MOVE = `
update event_subscription set position = greatest(position, $3), failures = $4,
  due_at = clock_timestamp() + $5 * interval '1 millisecond',
  delivered = delivered + $6, delivered_at = case when $6 > 0 then clock_timestamp() else delivered_at end,
  failed_at = case when $7::text is not null then clock_timestamp() else failed_at end, last_error = coalesce($7, last_error),
  state = case when $8::text is not null then 'disabled' else state end, reason = coalesce($8, reason),
  lease_until = clock_timestamp() + $9 * interval '1 millisecond'
where id = $1 and lease = $2 and lease_until > clock_timestamp() returning id`

const NOTE = `
with tried as (select * from ${TRIED.unnest('t')}), taken as (
  update event_delivery d set state = 'delivered', attempts = d.attempts + 1, ended_at = clock_timestamp(), last_error = null
  from tried t where t.code is null and d.subscription_id = $6 and d.position = t.position and d.state <> 'delivered'
), failed as (
  insert into event_delivery as d (subscription_id, position, event_id, tenant, attempts, due_at, last_error)
  select $6, t.position, t.event_id, $7, t.sent, clock_timestamp() + t.again_in_ms * interval '1 millisecond', nullif(t.code, 'UNSENT')
  from tried t where t.code is not null
  on conflict (subscription_id, position) do update set attempts = d.attempts + excluded.attempts,
    due_at = excluded.due_at, last_error = coalesce(excluded.last_error, d.last_error),
    -- One that had ended was told again by a replay, and begins anew.
    first_at = case when d.state = 'waiting' then d.first_at else clock_timestamp() end,
    state = case when d.state = 'waiting' and excluded.attempts > 0
      and d.first_at + $8 * interval '1 millisecond' <= clock_timestamp() then 'dead' else 'waiting' end,
    ended_at = case when d.state = 'waiting' and excluded.attempts > 0
      and d.first_at + $8 * interval '1 millisecond' <= clock_timestamp() then clock_timestamp() end
  returning state
)
select count(*) filter (where state = 'dead')::int as dead from failed`

const BACK = `update event_delivery set due_at = clock_timestamp() where subscription_id = $1 and state = 'waiting'`

/** Notes what came of a round. Undefined, with nothing noted, where the lease has ended: another process tells the same again. */
export function noteRound(
  pool: Pool,
  round: Round,
): Promise<{ readonly dead: number } | undefined> {
  const { id, tenant, lease, tried, position, failures, waitMs, lastError, endMs, disabledFor } =
    round
  const { leaseMs } = round
  const taken = tried.filter(({ code }) => code === null).length
  return inTransaction(pool, async (transaction) => {
    const moved = [id, lease, position, failures, waitMs, taken, lastError, disabledFor, leaseMs]
    if ((await run(transaction, 'move_subscription', MOVE, moved)).length === 0) return undefined
    if (round.isBack) await run(transaction, 'subscription_is_back', BACK, [id])
    if (tried.length === 0) return { dead: 0 }
    const noted = [...TRIED.values(tried), id, tenant, endMs]
    const [row] = await run<{ dead: number }>(transaction, 'note_event_deliveries', NOTE, noted)
    return { dead: row?.dead ?? 0 }
  })
}

/** Ends the lease: another process may go on, after `restMs`. */
export async function leaveSubscription(
  db: Database,
  { id, lease, restMs }: { readonly id: string; readonly lease: string; readonly restMs: number },
): Promise<void> {
  const text = `update event_subscription set lease_until = null,
    due_at = case when $3 = 0 then due_at else greatest(due_at, clock_timestamp() + $3 * interval '1 millisecond') end
    where id = $1 and lease = $2`
  await run(db, 'leave_subscription', text, [id, lease, restMs])
}

const FORGET = `
delete from event_delivery where (subscription_id, position) in (
  select subscription_id, position from event_delivery
  where ended_at < clock_timestamp() - case when state = 'dead' then interval '30 days' else interval '7 days' end
  order by ended_at limit 500)`

/** Forgets what was taken a week ago, and what was given up a month ago. */
export async function forgetEventDeliveries(db: Database): Promise<void> {
  await run(db, 'forget_event_deliveries', FORGET)
}

const WAIT = `
select count(*) filter (where d.state = 'waiting')::int as waiting, count(*) filter (where d.state = 'dead')::int as dead
from event_delivery d where d.state <> 'delivered'`

/** How many events wait for another try, and how many were given up and wait for a person. */
export async function measureEventDeliveries(
  db: Database,
): Promise<{ readonly waiting: number; readonly dead: number }> {
  return (
    (await run<{ waiting: number; dead: number }>(db, 'measure_event_deliveries', WAIT))[0] ?? {
      waiting: 0,
      dead: 0,
    }
  )
}
