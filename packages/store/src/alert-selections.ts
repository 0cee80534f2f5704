// Alerts and escalations that somebody means all at once: found, counted and handled by the same words.
import { sql } from '@baton/postgres/statements'
import type { RawBuilder } from '@baton/postgres/statements'
import type { AlertSeverity } from './alerts.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/** So many at once are acknowledged, closed or resolved by one call. */
export const HANDLED_MAX = 1_000

export interface EscalationSelection {
  readonly reason?: string | undefined
  /** How the agent types begin that handed on, and that were handed to. */
  readonly fromPrefix?: string | undefined
  readonly toPrefix?: string | undefined
  /** Alerts that came last, and escalations that were opened, before this moment; RFC 3339. */
  readonly before?: string | undefined
}

export interface AlertSelection extends EscalationSelection {
  readonly kind?: string | undefined
  readonly severity?: AlertSeverity | undefined
  /** Whose handoffs opened it: the operator of the key, or else the agent. */
  readonly sender?: string | undefined
}

/** For `where` on alerts. */
export function meansAlert(selection: AlertSelection): RawBuilder<boolean> {
  const { kind = null, severity = null, reason = null, sender = null } = selection
  const { fromPrefix = null, toPrefix = null, before = null } = selection
  return sql`(${kind}::text is null or kind = ${kind})
    and (${severity}::text is null or severity = ${severity})
    and (${reason}::text is null or reason = ${reason})
    and (${sender}::text is null or sender = ${sender} or subject ->> 'sender' = ${sender})
    and (${fromPrefix}::text is null or starts_with(subject ->> 'fromAgent', ${fromPrefix}))
    and (${toPrefix}::text is null or starts_with(subject ->> 'toAgent', ${toPrefix}))
    and (${before}::timestamptz is null or last_at < ${before})`
}

/** For `where` on escalations. */
export function meansEscalation(selection: EscalationSelection): RawBuilder<boolean> {
  const { reason = null, fromPrefix = null, toPrefix = null, before = null } = selection
  return sql`(${reason}::text is null or reason = ${reason})
    and (${before}::timestamptz is null or escalation.created_at < ${before})
    and (coalesce(${fromPrefix}::text, ${toPrefix}) is null or exists (
      select from handoff h where h.id = escalation.handoff_id
        and (${fromPrefix}::text is null or starts_with(h.from_agent, ${fromPrefix}))
        and (${toPrefix}::text is null or starts_with(coalesce(h.routed_to, h.to_agent), ${toPrefix}))))`
}

/** What is done to what is meant: somebody looks after it, or says that it is over. */
export type Handling =
  | { readonly act: 'acknowledge'; readonly actor: string }
  | { readonly act: 'close'; readonly actor: string; readonly why: string }

const COUNT = sql<number>`count(*)::int`.as('count')

/** How many are meant that this can still be done to. */
export async function countMeantAlerts(
  db: Database,
  selection: AlertSelection,
  act: Handling['act'],
): Promise<number> {
  const written = meantAlerts(selection, act).select(COUNT)
  return (await run(db, `count_alerts_to_${act}`, written))[0]?.count ?? 0
}

const meantAlerts = (selection: AlertSelection, act: Handling['act']) =>
  tables
    .selectFrom('alert')
    .where('closed_at', 'is', null)
    .where(sql<boolean>`(${act === 'close'} or acknowledged_at is null)`)
    .where(meansAlert(selection))

// In the order of their keys, as they are counted up: two who lock the same ones wait for each other and never in a circle.
/** Handles at most 1,000 of those that are meant, and notes it in the history of each; answers how many. */
export async function handleAlerts(
  db: Database,
  selection: AlertSelection,
  handling: Handling,
): Promise<number> {
  const { act, actor } = handling
  const why = act === 'close' ? handling.why : null
  const now = sql<Date>`clock_timestamp()`
  const written = tables
    .with('meant', () =>
      meantAlerts(selection, act).select('id').orderBy('key').limit(HANDLED_MAX).forUpdate(),
    )
    .with('done', (db) =>
      db
        .updateTable('alert')
        .from('meant')
        .set(
          act === 'close'
            ? { closed_at: now, closed_by: actor, closed_why: why }
            : { acknowledged_at: now, acknowledged_by: actor },
        )
        .whereRef('alert.id', '=', 'meant.id')
        .returning(['alert.id', 'alert.occurrences']),
    )
    .with('told', (db) =>
      db
        .insertInto('alert_change')
        .columns(['alert_id', 'change', 'occurrences', 'actor', 'why'])
        .expression((from) =>
          from
            .selectFrom('done')
            .select([
              'id',
              sql<string>`${act === 'close' ? 'closed' : 'acknowledged'}::text`.as('change'),
              'occurrences',
              sql<string>`${actor}::text`.as('actor'),
              sql<string | null>`${why}::text`.as('why'),
            ]),
        ),
    )
    .selectFrom('done')
    .select(COUNT)
  return (await run(db, `${act}_alerts`, written))[0]?.count ?? 0
}

const meantEscalations = (selection: EscalationSelection, act: Handling['act']) =>
  tables
    .selectFrom('escalation')
    .where('resolved_at', 'is', null)
    .where(sql<boolean>`(${act === 'close'} or acknowledged_at is null)`)
    .where(meansEscalation(selection))

/** How many are meant that this can still be done to. */
export async function countMeantEscalations(
  db: Database,
  selection: EscalationSelection,
  act: Handling['act'],
): Promise<number> {
  const written = meantEscalations(selection, act).select(COUNT)
  return (await run(db, `count_escalations_to_${act}`, written))[0]?.count ?? 0
}

/** Handles at most 1,000 of those that are meant, the oldest first; answers how many. */
export async function handleEscalations(
  db: Database,
  selection: EscalationSelection,
  handling: Handling,
): Promise<number> {
  const { act, actor } = handling
  const now = sql<Date>`clock_timestamp()`
  const written = tables
    .with('meant', () =>
      meantEscalations(selection, act)
        .select('handoff_id')
        .orderBy('created_at')
        .orderBy('handoff_id')
        .limit(HANDLED_MAX)
        .forUpdate(),
    )
    .with('done', (db) =>
      db
        .updateTable('escalation')
        .from('meant')
        .set(
          act === 'close'
            ? { resolved_at: now, resolved_by: actor, resolved_why: handling.why }
            : { acknowledged_at: now, acknowledged_by: actor },
        )
        .whereRef('escalation.handoff_id', '=', 'meant.handoff_id')
        .returning('escalation.handoff_id'),
    )
    .selectFrom('done')
    .select(COUNT)
  return (await run(db, `${act}_escalations`, written))[0]?.count ?? 0
}
