// Escalations: tasks that wait for a person after their handoffs came to nothing. Opened by the settlement, resolved by
// whoever looked after it, or when the task goes on or is canceled.
import { sql } from '@baton/postgres/statements'
import { meansEscalation } from './alert-selections.ts'
import type { EscalationSelection } from './alert-selections.ts'
import type { AlertState } from './alerts.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'

/** As alerts stand; one that is closed is resolved. */
export const ESCALATION_STATES = ['open', 'acknowledged', 'resolved'] as const
export type EscalationState = Exclude<AlertState, 'closed'> | 'resolved'

export interface EscalationView {
  /** Of the handoff that came to nothing; the escalation goes by the same id. */
  readonly handoffId: string
  /** Where a list goes on behind it. */
  readonly position: string
  readonly taskId: string
  readonly attempts: number
  readonly reason: string
  readonly state: EscalationState
  readonly createdAt: Date
  readonly acknowledgedAt: Date | null
  readonly acknowledgedBy: string | null
  readonly resolvedAt: Date | null
  /** Null where its task went on or was canceled. */
  readonly resolvedBy: string | null
  readonly resolvedWhy: string | null
}

const STATE = sql<EscalationState>`case when resolved_at is not null then 'resolved'
  when acknowledged_at is not null then 'acknowledged' else 'open' end`

const ESCALATIONS = tables
  .selectFrom('escalation')
  .select([
    'handoff_id as handoffId',
    positionOf('handoff_id').as('position'),
    'task_id as taskId',
    'attempts',
    'reason',
    STATE.as('state'),
    'created_at as createdAt',
    'acknowledged_at as acknowledgedAt',
    'acknowledged_by as acknowledgedBy',
    'resolved_at as resolvedAt',
    'resolved_by as resolvedBy',
    'resolved_why as resolvedWhy',
  ])

interface MeantEscalations extends EscalationSelection {
  /** Without it, those that wait for a person. */
  readonly state?: EscalationState | undefined
}

export interface EscalationFilter extends MeantEscalations {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

/** In words that the index of those that wait is found by. */
const ofState = (state: EscalationState | null) =>
  state === 'resolved'
    ? sql<boolean>`resolved_at is not null`
    : sql<boolean>`resolved_at is null and (${state}::text is null or ${STATE} = ${state})`

/** Escalations, oldest first. */
export function listEscalations(db: Database, filter: EscalationFilter): Promise<EscalationView[]> {
  const { limit, state = null, cursor = null, ...selection } = filter
  const written = ESCALATIONS.where(ofState(state))
    .where(meansEscalation(selection))
    .where(behind(cursor, { id: 'handoff_id', newestFirst: false }))
    .orderBy('created_at')
    .orderBy('handoff_id')
    .limit(limit)
  return run(db, state === 'resolved' ? 'list_resolved_escalations' : 'list_escalations', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countEscalations(db: Database, filter: MeantEscalations): Promise<number> {
  const { state = null, ...selection } = filter
  const counted = tables
    .selectFrom('escalation')
    .select('handoff_id')
    .where(ofState(state))
    .where(meansEscalation(selection))
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  const name = state === 'resolved' ? 'count_resolved_escalations' : 'count_escalations'
  return (await run(db, name, written))[0]?.count ?? 0
}

export async function findEscalation(
  db: Database,
  handoffId: string,
): Promise<EscalationView | undefined> {
  return (await run(db, 'find_escalation', ESCALATIONS.where('handoff_id', '=', handoffId)))[0]
}

/** Somebody looks after it. Answers false where somebody did before, and where it is resolved or unknown. */
export async function acknowledgeEscalation(
  db: Database,
  handoffId: string,
  actor: string,
): Promise<boolean> {
  const written = tables
    .updateTable('escalation')
    .set({ acknowledged_at: sql<Date>`clock_timestamp()`, acknowledged_by: actor })
    .where('handoff_id', '=', handoffId)
    .where('acknowledged_at', 'is', null)
    .where('resolved_at', 'is', null)
    .returning('handoff_id')
  return (await run(db, 'acknowledge_escalation', written)).length > 0
}

/** Somebody says that the task needs nobody any more, and why. Answers false where it was resolved before or is unknown. */
export async function resolveEscalation(
  db: Database,
  {
    handoffId,
    actor,
    why,
  }: { readonly handoffId: string; readonly actor: string; readonly why: string },
): Promise<boolean> {
  const written = tables
    .updateTable('escalation')
    .set({ resolved_at: sql<Date>`clock_timestamp()`, resolved_by: actor, resolved_why: why })
    .where('handoff_id', '=', handoffId)
    .where('resolved_at', 'is', null)
    .returning('handoff_id')
  return (await run(db, 'resolve_escalation', written)).length > 0
}
