// Commits what a sender has signed, and says why where it cannot be sent.
import { permanent } from '@baton/runtime'
import { openSentFanOut, sendHandoffs } from '@baton/store'
import type { Database, NewFanOut, NewHandoff, SendOutcome } from '@baton/store'
import { copyIdOf } from './decide/receiver-list.ts'
import type { Branching, Outgoing } from './prepare-fan-out.ts'

/** A receiver's copy of what was sent. */
export interface SentBranch {
  readonly branch: string
  readonly handoffId: string
  readonly toAgent: string
}

/** What a sender gets back once the handoff is durable. */
export interface Sent {
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly state: string
  /** True where the same handoff had been sent before. */
  readonly duplicate: boolean
  readonly traceparent: string
  /** Of several receivers: the copy for each, in their order. */
  readonly branches?: readonly SentBranch[]
}

/**
 * Sends in the caller's transaction, so that it commits with whatever else commits there: one handoff, or the copies for
 * all receivers. Throws where it cannot be sent, which rolls all of it back.
 */
export async function sendOutgoing(
  transaction: Database,
  { handoff, branching }: Outgoing,
): Promise<Sent> {
  if (branching === undefined) return sendOne(transaction, handoff)
  const { fanOut, handoffs, addedCostMicroUSD } = branching
  const { parentId, tenant } = handoff
  const opened = await openSentFanOut(transaction, { fanOut, parentId, addedCostMicroUSD, tenant })
  if (opened.kind === 'refused') throw refusedFanOut(fanOut, opened.outcome)
  const outcomes = await sendHandoffs(transaction, handoffs)
  // All of them are new, or all of them were there before; anything else is another request under the same id.
  const other = opened.kind === 'opened' ? 'duplicate' : 'sent'
  const all = handoffs.map((one, index) => {
    const { [index]: outcome = CONFLICT } = outcomes
    return sentOrRefused(one, outcome.kind === other ? CONFLICT : outcome)
  })
  const first = all.find(({ handoffId }) => handoffId === handoff.handoffId)
  if (first === undefined) throw refusedSend(handoff, CONFLICT)
  return { ...first, branches: branchesOf(branching, first.handoffId) }
}

/** What a fan-out says of the budget is said of the copy for its target. */
const refusedFanOut = (
  { handoffId, taskId, budgetMicroUSD, spentMicroUSD }: NewFanOut,
  outcome: SendOutcome,
): Error =>
  refusedSend(
    { handoffId, taskId, spentMicroUSD, remainingMicroUSD: budgetMicroUSD - spentMicroUSD },
    outcome,
  )

const CONFLICT: SendOutcome = { kind: 'conflict' }

/** Of several receivers, the copy for each, where that for the target has this id: an earlier send of the same may have chosen it. */
export const branchesOf = (
  { fanOut, handoffs }: Branching,
  handoffId: string,
): readonly SentBranch[] =>
  handoffs.map((one, index) => ({
    branch: fanOut.branches[index]?.name ?? one.toAgent,
    handoffId: one.handoffId === fanOut.handoffId ? handoffId : copyIdOf(handoffId, index),
    toAgent: one.toAgent,
  }))

/** Sends one handoff in the caller's transaction. Throws where it cannot be sent, which rolls all of it back. */
export async function sendOne(transaction: Database, handoff: NewHandoff): Promise<Sent> {
  const [outcome = CONFLICT] = await sendHandoffs(transaction, [handoff])
  return sentOrRefused(handoff, outcome)
}

export function sentOrRefused(handoff: NewHandoff, outcome: SendOutcome): Sent {
  if (outcome.kind !== 'sent' && outcome.kind !== 'duplicate') throw refusedSend(handoff, outcome)
  const { handoffId, taskId, traceparent } = handoff
  const { taskSeq, state } = outcome
  return { handoffId, taskId, taskSeq, state, duplicate: outcome.kind === 'duplicate', traceparent }
}

type Refused = Pick<NewHandoff, 'handoffId' | 'taskId' | 'spentMicroUSD' | 'remainingMicroUSD'>

/** Why Postgres refused a handoff, as an error a caller can act on. */
export function refusedSend(handoff: Refused, outcome: SendOutcome): Error {
  if (outcome.kind === 'conflict') {
    return permanent(
      'BATON_HANDOFF_CONFLICT',
      `handoff ${handoff.handoffId} was sent before with other content`,
      {
        fix: 'Use a new handoffId for a new message; repeat the identical message to retry a send.',
      },
    )
  }
  if (outcome.kind === 'task_of_other') {
    return permanent('BATON_TASK_OF_OTHER_TENANT', `task ${handoff.taskId} is not one of yours`, {
      fix: 'Begin a task with an id of its own; a task belongs to the tenant who sent its first handoff.',
    })
  }
  if (outcome.kind === 'agent_of_other') {
    return permanent(
      'BATON_AGENT_OF_OTHER_TENANT',
      `the agent ${outcome.agent} is not one of yours`,
      {
        fix: 'Name an agent of your own tenant (<tenant>/<name>), or have the operator grant you this one: `baton tenants grant`.',
      },
    )
  }
  if (outcome.kind === 'task_ended') {
    return permanent('BATON_TASK_ENDED', `task ${handoff.taskId} has ended`, {
      fix: 'Start a new task; an ended one takes no further handoffs.',
    })
  }
  return permanent('BATON_BUDGET_MISMATCH', describeMismatch(handoff, outcome), {
    fix: 'Carry the budget on from the received message: spent + remaining never changes, remaining never rises.',
  })
}

function describeMismatch(handoff: Refused, outcome: SendOutcome): string {
  const claimed = handoff.spentMicroUSD + handoff.remainingMicroUSD
  const budget = outcome.kind === 'budget_mismatch' ? outcome.budgetMicroUSD : claimed
  return claimed === budget
    ? '/costTracking/costBudgetRemainingUSD is higher than what the parent handoff left over, or the task began with'
    : `/costTracking: spent + remaining is ${claimed} micro-USD, but the task's budget is ${budget}`
}
