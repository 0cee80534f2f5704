// What people and the gateway ask: one task, one handoff, lists for a screen. Never on the hot path.
import { BRANCH_PLACE } from './branch-places.ts'
import type { BranchPlace } from './branch-places.ts'
import { one, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'

export interface TaskView {
  readonly taskId: string
  readonly status: string
  readonly budgetMicroUSD: number
  readonly spentMicroUSD: number
  readonly failedHandoffs: number
  readonly handoffs: number
  readonly checkpointId: string | null
  readonly result: unknown
  readonly createdAt: Date
  readonly updatedAt: Date
}

const TASKS = tables
  .selectFrom('task as t')
  .select(({ selectFrom, fn }) => [
    't.id as taskId',
    't.status',
    't.budget_micro_usd as budgetMicroUSD',
    't.spent_micro_usd as spentMicroUSD',
    't.failed_handoffs as failedHandoffs',
    selectFrom('handoff as h')
      .whereRef('h.task_id', '=', 't.id')
      .select(fn.countAll<number>().as('handoffs'))
      .$asScalar()
      .$notNull()
      .as('handoffs'),
    't.checkpoint_id as checkpointId',
    sql<unknown>`t.result::json`.as('result'),
    't.created_at as createdAt',
    't.updated_at as updatedAt',
  ])

export async function findTask(db: Database, taskId: string): Promise<TaskView | undefined> {
  return (await run(db, 'find_task', TASKS.where('t.id', '=', taskId)))[0]
}

interface TaskFilter {
  readonly status?: string | undefined
  /** The first hexadecimal digits of their ids, with or without dashes. */
  readonly idPrefix?: string | undefined
}

interface TaskPage extends TaskFilter {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

export interface ListedTask extends TaskView {
  readonly position: string
}

const meansTask = ({ status, idPrefix }: TaskFilter) => {
  const ofStatus = status ?? null
  const digits = idPrefix?.replaceAll('-', '') ?? ''
  return sql<boolean>`(${ofStatus}::text is null or t.status = ${ofStatus})
    and t.id >= ${digits.padEnd(32, '0')}::uuid and t.id <= ${digits.padEnd(32, 'f')}::uuid`
}

/** Newest tasks first, at most `limit`. */
export function listTasks(db: Database, asked: TaskPage): Promise<ListedTask[]> {
  const { limit, cursor = null, ...filter } = asked
  const written = TASKS.select(positionOf('t.id', 't.created_at').as('position'))
    .where(meansTask(filter))
    .where(behind(cursor, { id: 't.id', createdAt: 't.created_at', newestFirst: true }))
    .orderBy('t.created_at', 'desc')
    .orderBy('t.id', 'desc')
    .limit(limit)
  return run(db, 'list_tasks', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countTasks(db: Database, filter: TaskFilter): Promise<number> {
  const counted = tables
    .selectFrom('task as t')
    .select('t.id')
    .where(meansTask(filter))
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_tasks', written))[0]?.count ?? 0
}

export interface HandoffView {
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly parentHandoffId: string | null
  readonly fromAgent: string
  readonly toAgent: string
  readonly state: string
  readonly reason: string | null
  readonly details: unknown
  readonly attempt: number
  readonly attemptsMax: number
  /** 1 as it was first sent; one more with every correction. */
  readonly revision: number
  /** The rolled-back or expired handoff that it takes up again. */
  readonly resumesHandoffId: string | null
  readonly priority: number
  readonly traceparent: string
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  readonly costMicroUSD: number | null
  readonly result: unknown
  readonly createdAt: Date
  readonly acceptedAt: Date | null
  readonly endedAt: Date | null
  readonly expiresAt: Date | null
  /** The agent type whose queue gets it instead, after it was blocked at `toAgent`. */
  readonly routedTo: string | null
  /** Null where it was never held for a person; undecided while `decision` is null. */
  readonly approval: { readonly decision: string | null; readonly decidedBy: string | null } | null
  /** Lower-case hex digest of the signed bytes: what an approval is about. */
  readonly sha256: string
  readonly cancelRequested: boolean
  /** Until when a result of its execution still commits although it is being canceled. */
  readonly cancelGraceUntil: Date | null
  /** Null on the task’s own way. */
  readonly branch: BranchPlace | null
}

const HANDOFFS = tables
  .selectFrom('handoff as h')
  .leftJoin('execution as e', 'e.handoff_id', 'h.id')
  .leftJoin('approval as a', 'a.handoff_id', 'h.id')
  .select([
    'h.id as handoffId',
    'h.task_id as taskId',
    'h.task_seq as taskSeq',
    'h.parent_id as parentHandoffId',
    'h.from_agent as fromAgent',
    'h.to_agent as toAgent',
    sql<string>`encode(h.body_sha256, 'hex')`.as('sha256'),
    'h.state',
    'h.reason',
    'h.last_error as details',
    'h.attempt',
    'h.attempts_max as attemptsMax',
    'h.revision',
    'h.resumes_id as resumesHandoffId',
    'h.priority',
    'h.traceparent',
    'h.spent_micro_usd as spentMicroUSD',
    'h.remaining_micro_usd as remainingMicroUSD',
    'e.cost_micro_usd as costMicroUSD',
    sql<unknown>`e.result::json`.as('result'),
    'h.created_at as createdAt',
    'h.accepted_at as acceptedAt',
    'h.ended_at as endedAt',
    'h.expires_at as expiresAt',
    'h.routed_to as routedTo',
    sql<HandoffView['approval']>`case when a.handoff_id is not null
      then json_build_object('decision', a.decision, 'decidedBy', a.decided_by) end`.as('approval'),
    'h.cancel_requested as cancelRequested',
    'h.cancel_grace_until as cancelGraceUntil',
    sql<BranchPlace | null>`${sql.raw(BRANCH_PLACE)}`.as('branch'),
  ])

export async function findHandoff(
  db: Database,
  handoffId: string,
): Promise<HandoffView | undefined> {
  return (await run(db, 'find_handoff', HANDOFFS.where('h.id', '=', handoffId)))[0]
}

/** A task's handoffs in the order they were sent; at most 1,000. */
export function listTaskHandoffs(db: Database, taskId: string): Promise<HandoffView[]> {
  const written = HANDOFFS.where('h.task_id', '=', taskId)
    .orderBy('h.task_seq')
    .limit(sql.lit(1_000))
  return run(db, 'list_task_handoffs', written)
}

/** What a task's first handoff was sent under; undefined where nothing of the task was sent. */
export async function findTaskTraceparent(
  db: Database,
  taskId: string,
): Promise<string | undefined> {
  const written = tables
    .selectFrom('handoff')
    .select('traceparent')
    .where('task_id', '=', taskId)
    .orderBy('task_seq')
    .limit(one)
  return (await run(db, 'find_task_traceparent', written))[0]?.traceparent
}

/** The exact bytes the sender saved before the handoff; undefined where there is no such task. */
export async function findTaskCheckpoint(
  db: Database,
  taskId: string,
): Promise<{ body: Buffer; sha256: Buffer } | undefined> {
  const written = tables
    .selectFrom('task as t')
    .innerJoin('checkpoint as c', 'c.id', 't.checkpoint_id')
    .select(['c.body', 'c.sha256'])
    .where('t.id', '=', taskId)
  return (await run(db, 'find_checkpoint', written))[0]
}

export interface ReturnView {
  readonly handoffId: string
  readonly attempt: number
  readonly reason: string
  readonly details: unknown
  readonly retryAt: Date | null
  readonly createdAt: Date
}

/** Every time a handoff was handed back to its sender, first attempt first. */
export function listReturns(db: Database, handoffId: string): Promise<ReturnView[]> {
  const written = tables
    .selectFrom('handoff_return')
    .select([
      'handoff_id as handoffId',
      'attempt',
      'reason',
      'details',
      'retry_at as retryAt',
      'created_at as createdAt',
    ])
    .where('handoff_id', '=', handoffId)
    .orderBy('attempt')
  return run(db, 'list_returns', written)
}
