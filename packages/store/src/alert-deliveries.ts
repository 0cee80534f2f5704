// What is told of alerts, and to whom: one row for each change and webhook, tried until it is there, in the order in which
// an alert changed. Any number of processes may deliver: rows are claimed for a lease.
import { sql } from '@baton/postgres/statements'
import type { AlertSeverity, AlertState } from './alerts.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import type { AlertChange } from './handled-alerts.ts'

const ANNOUNCE = `
insert into alert_webhook (name) select name from unnest($1::text[]) as w (name) order by name
on conflict (name) do update set seen_at = clock_timestamp()`

/** Says which webhooks this process delivers to. One that is new is told what happens from now on. */
export async function announceAlertWebhooks(db: Database, names: readonly string[]): Promise<void> {
  await run(db, 'announce_alert_webhooks', ANNOUNCE, [names])
}

/** A webhook that nobody has announced for so long is told nothing new. */
const SEEN_WITHIN = `interval '10 minutes'`

const PLAN = `
with planned as (
  select id, alert_id, at from alert_change where planned_at is null order by at limit 500 for update skip locked
), marked as (
  update alert_change set planned_at = clock_timestamp() where id in (select id from planned)
)
insert into alert_delivery (change_id, webhook, alert_id, changed_at)
select p.id, w.name, p.alert_id, p.at from planned p
join alert_webhook w on w.since <= p.at and (w.name = any($1::text[]) or w.seen_at > clock_timestamp() - ${SEEN_WITHIN})
on conflict do nothing`

/**
 * Decides of every new change to whom it is told, once; only processes that deliver call it, with the webhooks that they
 * deliver to: after an hour without them these are told what happened meanwhile, although nobody has announced them yet.
 */
export async function planAlertDeliveries(db: Database, names: readonly string[]): Promise<void> {
  await run(db, 'plan_alert_deliveries', PLAN, [names])
}

/** One change that a webhook has to be told, with the alert as it stands now. */
export interface AlertDelivery {
  /** The same for every try. */
  readonly changeId: string
  readonly webhook: string
  /** From 1. */
  readonly attempts: number
  readonly change: AlertChange['change']
  readonly changedAt: Date
  readonly actor: string | null
  /** Null where only the way is tested. */
  readonly alert: DeliveredAlert | null
}

/** Times as text, since they come as JSON. */
export interface DeliveredAlert {
  readonly alertId: string
  readonly kind: string
  readonly severity: AlertSeverity
  readonly reason: string
  readonly subject: Readonly<Record<string, string>>
  readonly state: AlertState
  readonly occurrences: number
  readonly escalations: number
  readonly handoffIds: readonly string[]
  readonly firstAt: string
  readonly lastAt: string
}

// The oldest of an alert's changes goes first, and the next only when it is there or given up: who hears that it closed has
// heard that it opened. Of alerts those go first that wake somebody: no crowd of tickets holds them back.
const CLAIM = `
with due as (
  select d.change_id, d.webhook from alert_delivery d left join alert a on a.id = d.alert_id
  where d.webhook = $1 and d.delivered_at is null and d.dead_at is null and d.due_at <= clock_timestamp()
    and (d.lease_until is null or d.lease_until <= clock_timestamp())
    and not exists (select from alert_delivery e where e.webhook = d.webhook and e.alert_id = d.alert_id
      and e.delivered_at is null and e.dead_at is null and (e.changed_at, e.change_id) < (d.changed_at, d.change_id))
  order by a.severity is distinct from 'page', d.due_at limit $2 for update of d skip locked
), claimed as (
  update alert_delivery d set attempts = d.attempts + 1, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
  from due where d.change_id = due.change_id and d.webhook = due.webhook
  returning d.change_id, d.webhook, d.attempts, d.alert_id
)
select c.change_id as "changeId", c.webhook, c.attempts, n.change, n.at as "changedAt", n.actor,
  case when a.id is not null then jsonb_build_object('alertId', a.id, 'kind', a.kind, 'severity', a.severity,
    'reason', a.reason, 'subject', a.subject, 'occurrences', a.occurrences, 'escalations', a.escalations,
    'handoffIds', a.handoff_ids, 'firstAt', to_jsonb(a.first_at), 'lastAt', to_jsonb(a.last_at),
    'state', case when a.closed_at is not null then 'closed' when a.acknowledged_at is not null then 'acknowledged'
      else 'open' end) end as alert
from claimed c join alert_change n on n.id = c.change_id left join alert a on a.id = c.alert_id`

interface ClaimRequest {
  readonly webhook: string
  readonly limit: number
  /** Longer than a call takes, so that nobody else sends it meanwhile. */
  readonly leaseMs: number
}

/** Claims what this webhook has to be told now. */
export function claimAlertDeliveries(
  db: Database,
  { webhook, limit, leaseMs }: ClaimRequest,
): Promise<AlertDelivery[]> {
  return run(db, 'claim_alert_deliveries', CLAIM, [webhook, limit, leaseMs])
}

type Claimed = Pick<AlertDelivery, 'changeId' | 'webhook' | 'attempts'>

/** The webhook has it: nobody sends it again. */
export async function closeAlertDelivery(
  db: Database,
  { changeId, webhook }: Claimed,
): Promise<void> {
  const written = tables
    .updateTable('alert_delivery')
    .set({ delivered_at: sql<Date>`clock_timestamp()`, lease_until: null, last_error: null })
    .where('change_id', '=', changeId)
    .where('webhook', '=', webhook)
    .where('delivered_at', 'is', null)
  await run(db, 'close_alert_delivery', written)
}

const POSTPONE = `
update alert_delivery set lease_until = null, last_error = $4, due_at = clock_timestamp() + $5 * interval '1 millisecond',
  dead_at = case when created_at + $6 * interval '1 millisecond' <= clock_timestamp() then clock_timestamp() end
where change_id = $1 and webhook = $2 and attempts = $3 and delivered_at is null
returning dead_at is not null as dead`

interface Postponed {
  readonly code: string
  readonly againInMs: number
  /** How long it is tried at all. */
  readonly endMs: number
}

/** The webhook does not have it: tried again later, or given up. Answers whether it is given up. */
export async function postponeAlertDelivery(
  db: Database,
  { changeId, webhook, attempts }: Claimed,
  { code, againInMs, endMs }: Postponed,
): Promise<boolean> {
  const values = [changeId, webhook, attempts, code, againInMs, endMs]
  const [row] = await run<{ dead: boolean }>(db, 'postpone_alert_delivery', POSTPONE, values)
  return row?.dead === true
}

const FORGET = `
delete from alert_delivery where (change_id, webhook) in (
  select change_id, webhook from alert_delivery where created_at < clock_timestamp() - interval '7 days'
  order by created_at limit 500 for update skip locked)`

/** Forgets those of a week ago: what was told, and what nobody will be told any more. */
export async function forgetAlertDeliveries(db: Database): Promise<void> {
  await run(db, 'forget_alert_deliveries', FORGET)
}

/** Has every webhook told something that is no alert. Answers the test's id. */
export async function testAlertWebhooks(db: Database, actor: string): Promise<string> {
  const written = tables
    .insertInto('alert_change')
    .values({ change: 'test', occurrences: 0, actor })
    .returning('id')
  return (await run(db, 'test_alert_webhooks', written))[0]?.id ?? ''
}

export interface TestedWebhook {
  readonly webhook: string
  readonly state: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  /** A code; null where it went well or was not tried yet. */
  readonly lastError: string | null
}

export interface AlertWebhookTest {
  readonly testId: string
  /** False until a process that delivers has taken it up. */
  readonly isPlanned: boolean
  readonly webhooks: readonly TestedWebhook[]
}

/** How a test stands; undefined where there was none. */
export async function findAlertWebhookTest(
  db: Database,
  testId: string,
): Promise<AlertWebhookTest | undefined> {
  const test = tables
    .selectFrom('alert_change')
    .select(sql<boolean>`planned_at is not null`.as('isPlanned'))
    .where('id', '=', testId)
    .where('change', '=', 'test')
  const [found] = await run(db, 'find_alert_test', test)
  if (found === undefined) return undefined
  const told = tables
    .selectFrom('alert_delivery')
    .select([
      'webhook',
      sql<TestedWebhook['state']>`case when delivered_at is not null then 'delivered'
        when last_error is not null then 'failed' else 'waiting' end`.as('state'),
      'attempts',
      'last_error as lastError',
    ])
    .where('change_id', '=', testId)
    .orderBy('webhook')
  return { testId, ...found, webhooks: await run(db, 'find_alert_test_deliveries', told) }
}
