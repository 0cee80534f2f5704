// Alerts as people handle them: listed, acknowledged, closed with a reason, and forgotten long after that.
import { sql } from '@baton/postgres/statements'
import { meansAlert } from './alert-selections.ts'
import type { AlertSelection } from './alert-selections.ts'
import type { AlertSeverity, AlertState } from './alerts.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'

export interface AlertView {
  readonly alertId: string
  /** Where a list goes on behind it. */
  readonly position: string
  readonly kind: string
  readonly severity: AlertSeverity
  readonly reason: string
  readonly subject: Readonly<Record<string, string>>
  readonly state: AlertState
  readonly occurrences: number
  /** How many of them left a task waiting for a person. */
  readonly escalations: number
  /** The newest of its handoffs, at most 20. */
  readonly handoffIds: readonly string[]
  readonly firstAt: Date
  readonly lastAt: Date
  readonly openedAt: Date
  readonly acknowledgedAt: Date | null
  readonly acknowledgedBy: string | null
  readonly closedAt: Date | null
  /** Null where it closed by itself. */
  readonly closedBy: string | null
  readonly closedWhy: string | null
}

const STATE = sql<AlertState>`case when closed_at is not null then 'closed'
  when acknowledged_at is not null then 'acknowledged' else 'open' end`

const ALERTS = tables
  .selectFrom('alert')
  .select([
    'id as alertId',
    positionOf('id').as('position'),
    'kind',
    'severity',
    'reason',
    sql<AlertView['subject']>`subject`.as('subject'),
    STATE.as('state'),
    'occurrences',
    'escalations',
    'handoff_ids as handoffIds',
    'first_at as firstAt',
    'last_at as lastAt',
    'created_at as openedAt',
    'acknowledged_at as acknowledgedAt',
    'acknowledged_by as acknowledgedBy',
    'closed_at as closedAt',
    'closed_by as closedBy',
    'closed_why as closedWhy',
  ])

interface MeantAlerts extends AlertSelection {
  /** Without it, those that are not closed. */
  readonly state?: AlertState | undefined
}

export interface AlertFilter extends MeantAlerts {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

const ofState = (state: AlertState | null) =>
  sql<boolean>`case when ${state}::text is null then closed_at is null else ${STATE} = ${state} end`

/** Alerts, the newest first. */
export function listAlerts(db: Database, filter: AlertFilter): Promise<AlertView[]> {
  const { limit, state = null, cursor = null, ...selection } = filter
  const written = ALERTS.where(ofState(state))
    .where(meansAlert(selection))
    .where(behind(cursor, { id: 'id', newestFirst: true }))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  return run(db, 'list_alerts', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countListedAlerts(db: Database, filter: MeantAlerts): Promise<number> {
  const { state = null, ...selection } = filter
  const counted = tables
    .selectFrom('alert')
    .select('id')
    .where(ofState(state))
    .where(meansAlert(selection))
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_listed_alerts', written))[0]?.count ?? 0
}

export async function findAlert(db: Database, alertId: string): Promise<AlertView | undefined> {
  return (await run(db, 'find_alert', ALERTS.where('id', '=', alertId)))[0]
}

export interface AlertChange {
  readonly change: 'opened' | 'escalated' | 'repeated' | 'acknowledged' | 'closed' | 'test'
  readonly at: Date
  /** How often it had come by then. */
  readonly occurrences: number
  /** Null where nobody did it. */
  readonly actor: string | null
  readonly why: string | null
}

/** What became of an alert, the newest 100 changes, oldest first. */
export async function listAlertChanges(db: Database, alertId: string): Promise<AlertChange[]> {
  const written = tables
    .selectFrom('alert_change')
    .select(['change', 'at', 'occurrences', 'actor', 'why'])
    .where('alert_id', '=', alertId)
    .orderBy('at', 'desc')
    .limit(100)
  return (await run(db, 'list_alert_changes', written)).toReversed()
}

const ACKNOWLEDGE = `
with done as (
  update alert set acknowledged_at = clock_timestamp(), acknowledged_by = $2
  where id = $1 and acknowledged_at is null and closed_at is null returning id, occurrences
)
insert into alert_change (alert_id, change, occurrences, actor)
select id, 'acknowledged', occurrences, $2 from done returning alert_id as "alertId"`

/** Somebody looks after it. Answers false where somebody did before, and where it is closed or unknown. */
export async function acknowledgeAlert(
  db: Database,
  alertId: string,
  actor: string,
): Promise<boolean> {
  return (await run(db, 'acknowledge_alert', ACKNOWLEDGE, [alertId, actor])).length > 0
}

const CLOSE = `
with closed as (
  update alert set closed_at = clock_timestamp(), closed_by = $2, closed_why = $3
  where id = $1 and closed_at is null returning id, occurrences
)
insert into alert_change (alert_id, change, occurrences, actor, why)
select id, 'closed', occurrences, $2, $3 from closed returning alert_id as "alertId"`

/** Somebody says that it is over, and why. Answers false where it was closed before or is unknown. */
export async function closeAlertById(
  db: Database,
  {
    alertId,
    actor,
    why,
  }: { readonly alertId: string; readonly actor: string; readonly why: string },
): Promise<boolean> {
  return (await run(db, 'close_alert', CLOSE, [alertId, actor, why])).length > 0
}

const FORGET = `
with forgotten as (
  delete from alert where id = any(array(
    select id from alert where closed_at < clock_timestamp() - interval '90 days'
    order by closed_at limit 500 for update skip locked))
  returning id
), tests as (
  delete from alert_change where id = any(array(
    select id from alert_change where alert_id is null and at < clock_timestamp() - interval '7 days'
    order by at limit 500 for update skip locked))
)
delete from alert_change where alert_id = any(array(select id from forgotten))`

/** Forgets those that were closed 90 days ago, with their history, and tests of a week ago. */
export async function forgetAlerts(db: Database): Promise<void> {
  await run(db, 'forget_alerts', FORGET)
}
