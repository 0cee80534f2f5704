// What is asked about a set of tasks, such as the ones that one command sent. Never on the hot path.
import { uuid } from '@baton/postgres'
import { anyOf } from '@baton/postgres/statements'
import type { NotNull } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/** Those of `taskIds` of which no handoff is under way any more. */
export async function findEndedTasks(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const text = `select i.id from unnest($1::uuid[]) as i(id)
    where exists (select from task t where t.id = i.id)
      and not exists (select from handoff h where h.task_id = i.id and h.ended_at is null)`
  const rows = await run<{ id: string }>(db, 'find_ended_tasks', text, [taskIds])
  return new Set(rows.map((row) => row.id))
}

export interface HandoffFigures {
  readonly handoffs: number
  /** Handoffs whose execution was allowed at least once. */
  readonly accepted: number
  readonly deadLettered: number
  readonly rolledBack: number
}

/** How the handoffs of the tasks went. */
export async function countTaskSetHandoffs(
  db: Database,
  taskIds: readonly string[],
): Promise<HandoffFigures> {
  const written = tables
    .selectFrom('handoff')
    .select(({ fn }) => [
      fn.countAll<number>().as('handoffs'),
      fn.count<number>('accepted_at').as('accepted'),
      fn.countAll<number>().filterWhere('state', '=', 'DEAD_LETTERED').as('deadLettered'),
      fn.countAll<number>().filterWhere('state', '=', 'ROLLED_BACK').as('rolledBack'),
    ])
    .where('task_id', '=', anyOf(uuid, taskIds))
  const [row] = await run(db, 'count_task_set_handoffs', written)
  return row ?? { handoffs: 0, accepted: 0, deadLettered: 0, rolledBack: 0 }
}

/** How many handoffs of the tasks ended for each reason, without having been accepted last. */
export async function countTaskSetReasons(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const written = tables
    .selectFrom('handoff')
    .select(({ fn }) => ['reason', fn.countAll<number>().as('count')])
    .where('task_id', '=', anyOf(uuid, taskIds))
    .where('reason', 'is not', null)
    .where('state', 'in', ['REJECTED', 'DEAD_LETTERED', 'ROLLED_BACK'])
    .groupBy('reason')
    .orderBy('reason')
    .$narrowType<{ reason: NotNull }>()
  const rows = await run(db, 'count_task_set_reasons', written)
  return new Map(rows.map((row) => [row.reason, row.count]))
}

export interface AcceptLatencies {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** Milliseconds from the send's commit to the first acceptance, of handoffs accepted at first try. */
export async function measureAcceptLatencies(
  db: Database,
  taskIds: readonly string[],
): Promise<AcceptLatencies> {
  const text = `select coalesce(percentile_disc(0.5) within group (order by ms), 0) as p50,
      coalesce(percentile_disc(0.95) within group (order by ms), 0) as p95,
      coalesce(percentile_disc(0.99) within group (order by ms), 0) as p99,
      coalesce(max(ms), 0) as max
    from (select extract(epoch from accepted_at - created_at)::float8 * 1000 as ms from handoff
      where task_id = any($1::uuid[]) and accepted_at is not null and attempt = 1) latency`
  const [row] = await run<AcceptLatencies & object>(db, 'measure_accept_latencies', text, [taskIds])
  return row ?? { p50: 0, p95: 0, p99: 0, max: 0 }
}

export interface TaskOutcome {
  readonly taskId: string
  readonly status: string
  readonly result: unknown
  readonly spentMicroUSD: number
  /** What the task's handoffs add up to: brought along by the first one, plus each execution. */
  readonly hopsMicroUSD: number
  /** State and reason of the task's last handoff. */
  readonly state: string
  readonly reason: string | null
}

/** How each task stands, with its cost as booked and as added up; no order. */
export function listTaskOutcomes(
  db: Database,
  taskIds: readonly string[],
): Promise<readonly TaskOutcome[]> {
  const text = `select t.id as "taskId", t.status, t.result::json as result,
      t.spent_micro_usd as "spentMicroUSD", last.state, last.reason,
      (first.spent_micro_usd + coalesce((select sum(e.cost_micro_usd) from execution e
        join handoff h on h.id = e.handoff_id where h.task_id = t.id), 0))::bigint as "hopsMicroUSD"
    from task t
    join lateral (select spent_micro_usd from handoff h where h.task_id = t.id
      order by task_seq limit 1) first on true
    join lateral (select state, reason from handoff h where h.task_id = t.id
      order by task_seq desc limit 1) last on true
    where t.id = any($1::uuid[])`
  return run(db, 'list_task_outcomes', text, [taskIds])
}

/** Lifecycle events of the tasks that the audit store has not acknowledged yet. */
export async function countUnshippedEvents(
  db: Database,
  taskIds: readonly string[],
): Promise<number> {
  const written = tables
    .selectFrom('audit_outbox as a')
    .innerJoin('handoff as h', 'h.id', 'a.handoff_id')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('h.task_id', '=', anyOf(uuid, taskIds))
  return (await run(db, 'count_unshipped_events', written))[0]?.count ?? 0
}
