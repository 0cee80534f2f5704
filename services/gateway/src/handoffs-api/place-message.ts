// Which task a message of the Handoffs API belongs to, and what it may cost there: one line of handoffs at a time.
import { randomUUID } from 'node:crypto'
import { ProblemError } from '@baton/http/server'
import { HANDOFFS_API } from '@baton/protocol/dialects/handoffs-api'
import type { Placement } from '@baton/protocol/dialects/handoffs-api'
import { foreignUuid, kindOf } from '@baton/protocol/dialects/foreign-id'
import { findTaskBudget, lockTaskBudget } from '@baton/store'
import type { Database, ForeignHandoff, NewHandoff, Pool } from '@baton/store'
import { idOwner } from '../acting.ts'

export interface Placed extends Placement {
  /** The trace that the task, or else the parent, has had since its beginning. */
  readonly traceparent: string | undefined
  /** Whether the task was there before. */
  readonly joins: boolean
}

interface Wanted {
  /** Two tenants may call two tasks the same. */
  readonly tenant: string
  readonly sourceTaskId: string | null
  readonly parent: ForeignHandoff | undefined
  readonly budgetMicroUSD: number
}

/**
 * A message is the next of the task that it names, or of its parent's, where that task waits for its next handoff:
 * then it has what is left of the budget. A task that there is not yet begins with it. While anything of the task is
 * under way or waits for a person, and once it has ended, the message is a task of its own: two messages that each had
 * what is left could together spend it twice.
 */
export async function placeMessage(
  pool: Pool,
  { tenant, sourceTaskId, parent, budgetMicroUSD }: Wanted,
): Promise<Placed> {
  const depth = parent === undefined ? 0 : parent.depth + 1
  const named =
    sourceTaskId === null
      ? parent?.taskId
      : foreignUuid(HANDOFFS_API, kindOf('task', idOwner({ tenant })), sourceTaskId)
  const known = named === undefined ? undefined : await findTaskBudget(pool, named)
  const traceparent = known?.traceparent ?? parent?.traceparent
  const own = { ...ownTask(budgetMicroUSD), depth, traceparent }
  if (named === undefined || (known !== undefined && !known.isIdle)) return own
  if (known === undefined) return { ...own, taskId: named }
  return {
    taskId: named,
    parentHandoffId: parent?.taskId === named ? parent.handoffId : null,
    spentMicroUSD: known.budgetMicroUSD - known.remainingMicroUSD,
    remainingMicroUSD: known.remainingMicroUSD,
    depth,
    traceparent,
    joins: true,
  }
}

const ownTask = (remainingMicroUSD: number) => ({
  taskId: randomUUID(),
  parentHandoffId: null,
  spentMicroUSD: 0,
  remainingMicroUSD,
  joins: false,
})

/** Where the message goes when the task that it was placed in has gone on meanwhile. */
export const placeApart = (placed: Placed, budgetMicroUSD: number): Placed => ({
  ...placed,
  ...ownTask(budgetMicroUSD),
})

/** In the sending transaction: throws TASK_WENT_ON where the task is not any more as the handoff was placed in it. */
export async function requirePlace(transaction: Database, handoff: NewHandoff): Promise<void> {
  const { taskId, spentMicroUSD, remainingMicroUSD } = handoff
  await lockTaskBudget(transaction, taskId)
  const known = await findTaskBudget(transaction, taskId)
  if (known === undefined) return
  const isSame =
    known.remainingMicroUSD === remainingMicroUSD &&
    known.budgetMicroUSD === spentMicroUSD + remainingMicroUSD
  if (!known.isIdle || !isSame) throw TASK_WENT_ON
}

export const TASK_WENT_ON = new ProblemError({
  status: 409,
  code: 'BATON_HANDOFF_CONFLICT',
  detail: 'the task went on while the message was being sent',
  fix: 'Send it again.',
})
