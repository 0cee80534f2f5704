// One message for several receivers (E28): a full copy for each, as a branch of its own, and what joins them.
import { microUSD, usdFromMicro } from '@baton/protocol'
import type { AgentState, HandoffMessage, Receiver } from '@baton/protocol'
import type { JoinHandoff } from '@baton/protocol/settlement'
import type { FanOutBounds, NewBranch, NewFanOut } from '@baton/store'
import { FAN_OUT_BOUNDS } from '../fan-out-bounds.ts'
import type { HandoffRequest } from '../prepare-handoff.ts'
import { branchNames, divideBudget, joinAfter } from './branches.ts'
import { carriedOver } from './carried-over.ts'
import { derivedId } from './derived-id.ts'
import { constraintsFor } from './next-handoffs.ts'
import { soundJoin } from './sound-join.ts'
import { wrongList } from './wrong-list.ts'

/** What a sender asks for when it names several receivers. */
export interface Wanted {
  /** Of the copy for the target; the others have ids that are derived from it. */
  readonly handoffId: string
  readonly target: string
  readonly receivers: readonly Receiver[]
  readonly join: JoinHandoff | undefined
  /** What the task has cost, the sender's own part too, and what is left of its budget. */
  readonly spentMicroUSD: number
  readonly leftMicroUSD: number
}

/** One receiver's copy. */
export interface Copy {
  readonly handoffId: string
  readonly receiver: Receiver
  readonly branch: NewBranch
  readonly leftMicroUSD: number
}

export interface Copies {
  readonly fanOutId: string
  /** In the order of the receivers. */
  readonly copies: readonly Copy[]
  /** The copy for the target: it has the id that the sender gave. */
  readonly first: Copy
  readonly reservedMicroUSD: number
}

/** Whether it is for more than its target, or has something to join. */
export const fansOut = (
  receivers: readonly Receiver[] | undefined,
  join: JoinHandoff | undefined,
): boolean => join !== undefined || (receivers?.length ?? 0) > 1

/** The id of another receiver's copy, by that of the target's. */
export const copyIdOf = (handoffId: string, index: number): string =>
  derivedId(`${handoffId}/copy/${index}`)

/**
 * Divides what is left among the receivers and the join. Throws BATON_RECEIVER_LIST_INVALID where the target is not
 * among them, and BATON_BUDGET_EXCEEDED where the join asks for more than is left.
 */
export function copiesOf(wanted: Wanted): Copies {
  const { handoffId, target, receivers, join, spentMicroUSD, leftMicroUSD } = wanted
  const targetAt = receivers.findIndex(({ agentType }) => agentType === target)
  if (targetAt === -1) throw targetMissing(target)
  const fanOutId = derivedId(`${handoffId}/fan-out`)
  const names = branchNames(receivers.map(({ agentType }) => ({ to: agentType })))
  const equal = receivers.map(() => ({}))
  const shares = divideBudget(leftMicroUSD, equal, join)
  const copies = receivers.map((receiver, index): Copy => {
    const share = shares.branches[index] ?? 0
    return {
      handoffId: index === targetAt ? handoffId : copyIdOf(handoffId, index),
      receiver,
      branch: {
        branchId: derivedId(`${fanOutId}/branch/${index}`),
        name: names[index] ?? receiver.agentType,
        budgetMicroUSD: spentMicroUSD + share,
      },
      leftMicroUSD: share,
    }
  })
  const first = copies[targetAt]
  if (first === undefined) throw targetMissing(target)
  return { fanOutId, copies, first, reservedMicroUSD: shares.join }
}

/** Throws BATON_RECEIVER_LIST_INVALID where receivers are named, and the target is not among them. */
export function requireAmong(target: string, receivers: readonly Receiver[] | undefined): void {
  if (receivers?.some(({ agentType }) => agentType === target) === false)
    throw targetMissing(target)
}

const targetMissing = (target: string) =>
  wrongList('BATON_RECEIVER_LIST_INVALID', {
    pointers: ['/receiverList'],
    rule: 'target',
    message: `receiverList names its receivers, and ${target} is not among them`,
    fix: 'Name the target in receiverList too, or leave receiverList out to send to it alone.',
  })

type Begun = Pick<Wanted, 'join' | 'spentMicroUSD' | 'leftMicroUSD'> & {
  readonly bounds: FanOutBounds | undefined
}

/** The fan-out that these copies begin; `message` is the first of them, as it was built. */
export function fanOutOfCopies(
  { fanOutId, copies, first, reservedMicroUSD }: Copies,
  message: HandoffMessage,
  { join, spentMicroUSD, leftMicroUSD, bounds = FAN_OUT_BOUNDS }: Begun,
): Omit<NewFanOut, 'mac'> {
  const branches = copies.map(({ branch }) => branch)
  return {
    fanOutId,
    taskId: message.taskId,
    handoffId: first.handoffId,
    branchId: null,
    onFailure: join?.onFailure ?? 'wait',
    joinAfter: join === undefined ? null : joinAfter(join, branches),
    joinRequest:
      join === undefined ? null : soundJoin(joinRequestOf(message, join, `${fanOutId}/join`)),
    budgetMicroUSD: spentMicroUSD + leftMicroUSD,
    spentMicroUSD,
    reservedMicroUSD,
    branches,
    bounds,
  }
}

// What the sender gave its receivers goes on to the join, which is as deep as they are.
function joinRequestOf(message: HandoffMessage, join: JoinHandoff, name: string): HandoffRequest {
  const { costTracking, fromAgent, delegation } = message
  const agentState: AgentState = {
    taskId: message.taskId,
    handoffId: derivedId(name),
    parentHandoffId: message.parentHandoffId,
    timestamp: message.timestamp,
    agent: fromAgent,
    taskDescription: join.taskDescription,
    completedSubtasks: message.completedSubtasks,
    remainingSubtasks: join.remainingSubtasks ?? message.remainingSubtasks,
    currentState: message.currentState,
    relevantContext: join.relevantContext ?? message.relevantContext,
    conversationHistorySummary: message.conversationHistorySummary,
    cost: {
      spentSoFarUSD: costTracking.costSpentSoFarUSD,
      budgetRemainingUSD: costTracking.costBudgetRemainingUSD,
      ownCostUSD: 0,
      tokenSpent: costTracking.tokenSpent,
    },
    traceparent: message.traceparent,
    ...(message.tracestate === undefined ? {} : { tracestate: message.tracestate }),
    ...carriedOver(message, {}, join),
    ...(delegation === undefined ? {} : { delegation }),
  }
  return { agentState, targetAgentType: join.to, constraints: constraintsFor(message, join) }
}

/** A receiver's copy of what a sender knows. */
export function requestOfCopy(
  { agentState, constraints }: HandoffRequest,
  { handoffId, receiver, leftMicroUSD }: Copy,
): HandoffRequest {
  const { agentVersion: _, ...asked } = constraints
  const { agentType, agentVersion } = receiver
  const { cost } = agentState
  const budgetRemainingUSD = usdFromMicro(leftMicroUSD + microUSD(cost.ownCostUSD))
  return {
    agentState: { ...agentState, handoffId, cost: { ...cost, budgetRemainingUSD } },
    targetAgentType: agentType,
    constraints: { ...asked, ...(agentVersion === undefined ? {} : { agentVersion }) },
  }
}

/** A receiver's copy of a message that was built elsewhere. */
export const messageOfCopy = (
  message: HandoffMessage,
  { handoffId, receiver, leftMicroUSD }: Copy,
): HandoffMessage => ({
  ...message,
  handoffId,
  toAgent: receiver,
  costTracking: { ...message.costTracking, costBudgetRemainingUSD: usdFromMicro(leftMicroUSD) },
})
