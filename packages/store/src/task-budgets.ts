// Whether a message from outside may carry on a task: what the task is worth, and whether anything of it is under way.
import { run } from './database.ts'
import type { Database } from './database.ts'

/** What is known of a task that a message names. */
export interface TaskBudgetView {
  readonly budgetMicroUSD: number
  readonly spentMicroUSD: number
  /** What is left of it by the message that was given the least. */
  readonly remainingMicroUSD: number
  /** It waits for its next handoff: nothing of it is under way, waits for a person or has ended it. */
  readonly isIdle: boolean
  /** Of its first handoff. */
  readonly traceparent: string
}

const FIND = `
select t.budget_micro_usd as "budgetMicroUSD", t.spent_micro_usd as "spentMicroUSD",
  least(t.budget_micro_usd - t.spent_micro_usd, t.budget_micro_usd - root.spent_micro_usd) as "remainingMicroUSD",
  t.status = 'PENDING_HANDOFF' and not t.cancel_requested and t.fan_outs_open = 0 and not exists (
    select from handoff h where h.task_id = t.id and h.ended_at is null) as "isIdle",
  root.traceparent
from task t join handoff root on root.task_id = t.id and root.task_seq = 1
where t.id = $1`

/** What a task is worth; undefined where there is none of this id yet. */
export async function findTaskBudget(
  db: Database,
  taskId: string,
): Promise<TaskBudgetView | undefined> {
  return (await run<TaskBudgetView & object>(db, 'find_task_budget', FIND, [taskId]))[0]
}

/**
 * Holds everybody else who asks for the same task here until the caller's transaction ends, also where the task is
 * not there yet: what was found of it afterwards still holds when the caller commits.
 */
export async function lockTaskBudget(transaction: Database, taskId: string): Promise<void> {
  const text = `select pg_advisory_xact_lock(hashtextextended('task budget ' || $1, 0))`
  await run(transaction, 'lock_task_budget', text, [taskId])
}
