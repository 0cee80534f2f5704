// What people and the gateway ask: one task, one handoff, lists for a screen. Never on the hot path.
import { run } from './database.ts'
import type { Database } from './database.ts'

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

const TASK_COLUMNS = `
  t.id as "taskId", t.status, t.budget_micro_usd as "budgetMicroUSD",
  t.spent_micro_usd as "spentMicroUSD", t.failed_handoffs as "failedHandoffs",
  (select count(*) from handoff h where h.task_id = t.id) as handoffs,
  t.checkpoint_id as "checkpointId", t.result::json as result, t.created_at as "createdAt",
  t.updated_at as "updatedAt"`

export async function findTask(db: Database, taskId: string): Promise<TaskView | undefined> {
  const text = `select ${TASK_COLUMNS} from task t where t.id = $1`
  return (await run<TaskView & object>(db, 'find_task', text, [taskId]))[0]
}

interface TaskFilter {
  readonly status?: string | undefined
  /** The first hexadecimal digits of their ids, with or without dashes. */
  readonly idPrefix?: string | undefined
  readonly limit: number
}

/** Newest tasks first, at most `limit`. */
export function listTasks(db: Database, filter: TaskFilter): Promise<TaskView[]> {
  const digits = filter.idPrefix?.replaceAll('-', '') ?? ''
  const text = `select ${TASK_COLUMNS} from task t where ($1::text is null or t.status = $1)
      and t.id between $3::uuid and $4::uuid
    order by t.created_at desc limit $2`
  const range = [digits.padEnd(32, '0'), digits.padEnd(32, 'f')]
  return run(db, 'list_tasks', text, [filter.status ?? null, filter.limit, ...range])
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
  readonly cancelRequested: boolean
  /** Until when a result of its execution still commits although it is being canceled. */
  readonly cancelGraceUntil: Date | null
}

const HANDOFF_COLUMNS = `
  h.id as "handoffId", h.task_id as "taskId", h.task_seq as "taskSeq",
  h.parent_id as "parentHandoffId", h.from_agent as "fromAgent", h.to_agent as "toAgent", h.state,
  h.reason, h.last_error as details, h.attempt, h.attempts_max as "attemptsMax", h.priority, h.revision, h.resumes_id as "resumesHandoffId",
  h.traceparent, h.spent_micro_usd as "spentMicroUSD", h.remaining_micro_usd as "remainingMicroUSD",
  e.cost_micro_usd as "costMicroUSD", e.result::json as result, h.created_at as "createdAt",
  h.accepted_at as "acceptedAt", h.ended_at as "endedAt", h.expires_at as "expiresAt",
  h.routed_to as "routedTo", h.cancel_requested as "cancelRequested",
  h.cancel_grace_until as "cancelGraceUntil", case when a.handoff_id is not null
    then json_build_object('decision', a.decision, 'decidedBy', a.decided_by) end as approval`
const HANDOFF_FROM = `from handoff h left join execution e on e.handoff_id = h.id
  left join approval a on a.handoff_id = h.id`

export async function findHandoff(
  db: Database,
  handoffId: string,
): Promise<HandoffView | undefined> {
  const text = `select ${HANDOFF_COLUMNS} ${HANDOFF_FROM} where h.id = $1`
  return (await run<HandoffView & object>(db, 'find_handoff', text, [handoffId]))[0]
}

/** A task's handoffs in the order they were sent; at most 1,000. */
export function listTaskHandoffs(db: Database, taskId: string): Promise<HandoffView[]> {
  const text = `select ${HANDOFF_COLUMNS} ${HANDOFF_FROM} where h.task_id = $1
    order by h.task_seq limit 1000`
  return run(db, 'list_task_handoffs', text, [taskId])
}

/** What a task's first handoff was sent under; undefined where nothing of the task was sent. */
export async function findTaskTraceparent(
  db: Database,
  taskId: string,
): Promise<string | undefined> {
  const text = 'select traceparent from handoff where task_id = $1 order by task_seq limit 1'
  const rows = await run<{ traceparent: string }>(db, 'find_task_traceparent', text, [taskId])
  return rows[0]?.traceparent
}

/** The exact bytes the sender saved before the handoff; undefined where there is no such task. */
export async function findTaskCheckpoint(
  db: Database,
  taskId: string,
): Promise<{ body: Buffer; sha256: Buffer } | undefined> {
  const text = `select c.body, c.sha256 from task t join checkpoint c on c.id = t.checkpoint_id
    where t.id = $1`
  return (await run<{ body: Buffer; sha256: Buffer }>(db, 'find_checkpoint', text, [taskId]))[0]
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
  const text = `select handoff_id as "handoffId", attempt, reason, details, retry_at as "retryAt",
    created_at as "createdAt" from handoff_return where handoff_id = $1 order by attempt`
  return run(db, 'list_returns', text, [handoffId])
}

export interface AlertView {
  readonly kind: string
  readonly handoffId: string
  readonly taskId: string
  readonly reason: string
  readonly createdAt: Date
}

/** Newest alerts first. */
export function listAlerts(db: Database, limit: number): Promise<AlertView[]> {
  const text = `select kind, handoff_id as "handoffId", task_id as "taskId", reason,
    created_at as "createdAt" from alert order by id desc limit $1`
  return run(db, 'list_alerts', text, [limit])
}

export interface EscalationView {
  readonly handoffId: string
  readonly taskId: string
  readonly attempts: number
  readonly reason: string
  readonly createdAt: Date
}

/** Escalations that wait for a person, oldest first. */
export function listEscalations(db: Database, limit: number): Promise<EscalationView[]> {
  const text = `select handoff_id as "handoffId", task_id as "taskId", attempts, reason,
    created_at as "createdAt" from escalation where resolved_at is null order by created_at limit $1`
  return run(db, 'list_escalations', text, [limit])
}

/** How many handoffs stand in each state. */
export function countHandoffStates(
  db: Database,
): Promise<{ state: string; reason: string | null; count: number }[]> {
  return run(
    db,
    'count_handoff_states',
    'select state, reason, count(*) as count from handoff group by state, reason',
  )
}
