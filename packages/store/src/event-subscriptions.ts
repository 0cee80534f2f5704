// Who is told of events: bounded for each tenant, changed by whoever may, and where each stands.
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'
import { sql } from '@baton/postgres/statements'
import { inTransaction, run, tables } from './database.ts'
import type { Database, Pool } from './database.ts'

export type EventMode = 'structured' | 'binary'
export type SubscriptionState = 'active' | 'paused' | 'disabled'

export interface NewSubscription {
  readonly id: string
  readonly tenant: string
  readonly name: string
  readonly url: string
  readonly mode: EventMode
  /** JSON. */
  readonly filters: string
  /** Encrypted. */
  readonly secret: Buffer
  readonly madeBy: string
  /** What was asked for, where the request may be repeated. */
  readonly requestSha256: Uint8Array | null
  /** Told of events behind it. */
  readonly position: number
}

export interface SubscriptionView {
  readonly subscriptionId: string
  /** Where a list goes on behind it. */
  readonly listPosition: string
  readonly name: string
  readonly url: string
  readonly mode: EventMode
  readonly filters: string
  readonly state: SubscriptionState
  readonly reason: string | null
  readonly failures: number
  readonly dueAt: Date
  readonly delivered: number
  readonly deliveredAt: Date | null
  readonly failedAt: Date | null
  readonly lastError: string | null
  readonly earlierUntil: Date | null
  /** Events that were not taken yet and are tried again, and those that are not any more. */
  readonly waiting: number
  readonly dead: number
  readonly madeBy: string
  readonly createdAt: Date
  readonly changedAt: Date
}

const countOf = (state: string) =>
  sql<number>`(select count(*)::int from event_delivery d where d.subscription_id = s.id and d.state = ${sql.lit(state)})`

const VIEW = tables
  .selectFrom('event_subscription as s')
  .select([
    's.id as subscriptionId',
    positionOf('s.id').as('listPosition'),
    's.name',
    's.url',
    sql<EventMode>`s.mode`.as('mode'),
    's.filters',
    sql<SubscriptionState>`s.state`.as('state'),
    's.reason',
    's.failures',
    's.due_at as dueAt',
    's.delivered',
    's.delivered_at as deliveredAt',
    's.failed_at as failedAt',
    's.last_error as lastError',
    's.earlier_until as earlierUntil',
    countOf('waiting').as('waiting'),
    countOf('dead').as('dead'),
    's.made_by as madeBy',
    's.created_at as createdAt',
    's.changed_at as changedAt',
  ])

export type Made = 'made' | 'repeated' | 'other-request' | 'name-taken' | 'full'

const MAKE = `
insert into event_subscription (id, tenant, name, url, mode, filters, secret, made_by, request_sha256, position,
  created_at, changed_at)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now(), now()
where (select count(*) from event_subscription where tenant = $2) < $11
on conflict do nothing returning id`

/** Makes one, and has the events of its tenant kept. Whoever makes another one of the same tenant waits, so that its bound holds. */
export function makeSubscription(
  pool: Pool,
  made: NewSubscription,
  subscriptionsMax: number,
): Promise<Made> {
  const { id, tenant, name, url, mode, filters, secret, madeBy, requestSha256, position } = made
  return inTransaction(pool, async (transaction) => {
    const want = `insert into event_feed (tenant) values ($1) on conflict (tenant) do update set wanted_at = clock_timestamp()`
    await run(transaction, 'want_events_on', want, [tenant])
    const values = [id, tenant, name, url, mode, filters, secret, madeBy, requestSha256, position]
    const rows = await run(transaction, 'make_subscription', MAKE, [...values, subscriptionsMax])
    if (rows.length > 0) return 'made'
    const there = await run<{ id: string; sha256: Buffer | null }>(
      transaction,
      'find_made_subscription',
      `select id, request_sha256 as sha256 from event_subscription where tenant = $1 and (id = $2 or name = $3)
       order by id = $2 desc limit 1`,
      [tenant, id, name],
    )
    const [found] = there
    if (found === undefined) return 'full'
    if (found.id !== id) return 'name-taken'
    return requestSha256 !== null && found.sha256?.equals(requestSha256) === true
      ? 'repeated'
      : 'other-request'
  })
}

export async function findSubscription(
  db: Database,
  id: string,
): Promise<SubscriptionView | undefined> {
  return (await run(db, 'find_subscription', VIEW.where('s.id', '=', id)))[0]
}

export interface SubscriptionPage {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Those of the tenant that a session acts for, oldest first. */
export const listSubscriptions = (
  db: Database,
  { limit, cursor }: SubscriptionPage,
): Promise<SubscriptionView[]> =>
  run(
    db,
    'list_subscriptions',
    VIEW.where(
      behind(cursor ?? null, { id: 's.id', createdAt: 's.created_at', newestFirst: false }),
    )
      .orderBy('s.created_at')
      .orderBy('s.id')
      .limit(limit),
  )

export async function countSubscriptions(db: Database): Promise<number> {
  const text = `select count(*)::int as count from (select from event_subscription limit $1) as counted`
  const rows = await run<{ count: number }>(db, 'count_subscriptions', text, [COUNTED_MAX + 1])
  return rows[0]?.count ?? 0
}

export interface SubscriptionChange {
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly mode?: EventMode | undefined
  readonly filters?: string | undefined
}

const CHANGE = `
update event_subscription s set name = coalesce($2, s.name), url = coalesce($3, s.url), mode = coalesce($4, s.mode),
  filters = coalesce($5, s.filters), changed_at = clock_timestamp()
where s.id = $1 and not exists (select from event_subscription o where o.tenant = s.tenant and o.name = $2 and o.id <> s.id)
returning s.id`

/** Answers false where there is none, or another one has the name. What is under way is still told as it was. */
export async function changeSubscription(
  db: Database,
  id: string,
  { name, url, mode, filters }: SubscriptionChange,
): Promise<boolean> {
  const values = [id, name ?? null, url ?? null, mode ?? null, filters ?? null]
  return (await run(db, 'change_subscription', CHANGE, values)).length > 0
}

export async function deleteSubscription(db: Database, id: string): Promise<boolean> {
  const text = `delete from event_subscription where id = $1 returning id`
  return (await run(db, 'delete_subscription', text, [id])).length > 0
}

const ROTATE = `
update event_subscription set earlier_secret = case when $3 > 0 then secret end,
  earlier_until = case when $3 > 0 then clock_timestamp() + $3 * interval '1 second' end,
  secret = $2, changed_at = clock_timestamp() where id = $1 returning earlier_until as "earlierUntil"`

/** The secret of before signs beside the new one for so long. Undefined where there is no such subscription. */
export async function rotateSubscription(
  db: Database,
  {
    id,
    secret,
    overlapS,
  }: { readonly id: string; readonly secret: Buffer; readonly overlapS: number },
): Promise<{ readonly earlierUntil: Date | null } | undefined> {
  return (
    await run<{ earlierUntil: Date | null }>(db, 'rotate_subscription', ROTATE, [
      id,
      secret,
      overlapS,
    ])
  )[0]
}

/** The encrypted secret of a subscription that was made within a day and not changed since, for who repeats the request. */
export async function findSubscriptionSecret(
  db: Database,
  id: string,
): Promise<Buffer | undefined> {
  const text = `select secret from event_subscription where id = $1 and changed_at = created_at
    and created_at > clock_timestamp() - interval '1 day'`
  return (await run<{ secret: Buffer }>(db, 'find_subscription_secret', text, [id]))[0]?.secret
}

const PAUSE = `
update event_subscription set state = 'paused', changed_at = clock_timestamp() where id = $1 and state = 'active' returning id`

/** Nothing is sent until it is resumed; what happens meanwhile waits. */
export async function pauseSubscription(db: Database, id: string): Promise<boolean> {
  return (await run(db, 'pause_subscription', PAUSE, [id])).length > 0
}

const RESUME = `
with resumed as (
  update event_subscription set state = 'active', reason = null, failures = 0, due_at = clock_timestamp(),
    changed_at = clock_timestamp() where id = $1 returning id
)
update event_delivery d set due_at = clock_timestamp() from resumed r where d.subscription_id = r.id and d.state = 'waiting'`

/** Everything that waits is sent at once. */
export async function resumeSubscription(db: Database, id: string): Promise<void> {
  await run(db, 'resume_subscription', RESUME, [id])
}

const REPLAY = `
update event_subscription set position = least(position, $2), due_at = clock_timestamp(), changed_at = clock_timestamp()
where id = $1 returning id`

/** Tells everything behind this position again, under the same ids. */
export async function replaySubscription(
  db: Database,
  { id, position }: { readonly id: string; readonly position: number },
): Promise<boolean> {
  return (await run(db, 'replay_subscription', REPLAY, [id, position])).length > 0
}

export type DeliveryState = 'waiting' | 'delivered' | 'dead'

export interface DeliveryView {
  readonly eventId: string
  /** Where it stands among the events. */
  readonly position: number
  readonly state: DeliveryState
  readonly attempts: number
  readonly firstAt: Date
  readonly dueAt: Date
  readonly endedAt: Date | null
  readonly lastError: string | null
  /** The event itself; null where it is not kept any more. */
  readonly body: string | null
}

const LIST_DELIVERIES = `
select d.event_id as "eventId", d.position, d.state, d.attempts, d.first_at as "firstAt", d.due_at as "dueAt",
  d.ended_at as "endedAt", d.last_error as "lastError", e.body
from event_delivery d left join event e on e.position = d.position
where d.subscription_id = $1 and ($2::text is null or d.state = $2) and ($3::bigint is null or d.position < $3)
order by d.position desc limit $4`

export interface DeliveryFilter {
  readonly id: string
  readonly state?: DeliveryState | undefined
  readonly before?: number | undefined
  readonly limit: number
}

/** Events that were not taken at the first try, the newest first. */
export const listEventDeliveries = (
  db: Database,
  { id, state, before, limit }: DeliveryFilter,
): Promise<DeliveryView[]> =>
  run(db, 'list_event_deliveries', LIST_DELIVERIES, [id, state ?? null, before ?? null, limit])

export async function countEventDeliveries(
  db: Database,
  { id, state }: Pick<DeliveryFilter, 'id' | 'state'>,
): Promise<number> {
  const text = `select count(*)::int as count from (select from event_delivery where subscription_id = $1
    and ($2::text is null or state = $2) limit $3) as counted`
  const values = [id, state ?? null, COUNTED_MAX + 1]
  return (await run<{ count: number }>(db, 'count_event_deliveries', text, values))[0]?.count ?? 0
}

const REDRIVE = `
update event_delivery set state = 'waiting', attempts = 0, first_at = clock_timestamp(), due_at = clock_timestamp(), ended_at = null
where subscription_id = $1 and state = 'dead' and ($2::uuid[] is null or event_id = any($2)) returning event_id as "eventId"`

/** Tries again what was given up: these, or all. Answers how many there were. */
export async function redriveEventDeliveries(
  db: Database,
  { id, eventIds }: { readonly id: string; readonly eventIds: readonly string[] | null },
): Promise<number> {
  return (await run(db, 'redrive_event_deliveries', REDRIVE, [id, eventIds])).length
}
