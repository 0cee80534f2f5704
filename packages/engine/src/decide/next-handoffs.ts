// An agent's answer becomes the next handoffs of its task; costs are deducted on the way (E20).
import { microUSD, usdFromMicro } from '@baton/protocol'
import type { AgentState, HandoffConstraints, HandoffMessage } from '@baton/protocol'
import type { JoinHandoff, NextHandoff } from '@baton/protocol/settlement'
import type { ClaimedHandoff, NewFanOut, NewHandoff } from '@baton/store'
import type { AgentResult } from '../agent.ts'
import type { Execution } from '../execute-handoff.ts'
import { FAN_OUT_BOUNDS } from '../fan-out-bounds.ts'
import { prepareHandoff } from '../prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from '../prepare-handoff.ts'
import { branchNames, divideBudget, joinAfter, prepareEach } from './branches.ts'
import { carriedOver } from './carried-over.ts'
import { derivedId } from './derived-id.ts'
import { withMac } from './fan-out-macs.ts'
import { soundJoin } from './sound-join.ts'
import { wrongList } from './wrong-list.ts'

type Done = Extract<Execution, { kind: 'done' }>

export interface Step {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly execution: Done
}

/** What an agent passes on: signed handoffs, and how they branch where there are several, or one that is joined. */
export interface PassedOn {
  readonly handoffs: readonly NewHandoff[]
  readonly fanOut: NewFanOut | null
}

/** The agent types that an agent hands on to. */
export const receiversOf = (step: Step): readonly string[] => handedOn(step).map(({ to }) => to)

/** What is asked for each of them, under the name it has among them. */
export function requestsOf(
  step: Step,
): readonly { readonly name: string; readonly request: HandoffRequest }[] {
  const completedAt = new Date().toISOString()
  return handedOn(step).map((next, index) => {
    const name = nameOf(index)
    return { name, request: requestFor(step, { next, name, completedAt }) }
  })
}

const nameOf = (index: number): string => `next/${index}`

/** They commit together with the agent's result (I5). Throws where the branches ask for more than is left. */
export function passOn(step: Step, options: PrepareOptions): PassedOn {
  const completedAt = new Date().toISOString()
  const all = handedOn(step)
  const { join } = step.execution.result
  if (join !== undefined && all.length === 0) {
    throw wrongList('BATON_JOIN_IMPOSSIBLE', {
      pointers: ['/join'],
      rule: 'join',
      message: 'there is a join, and nothing to join: next is empty',
      fix: 'Hand on what shall be joined in next, or leave join out.',
    })
  }
  const own = { ...options, sentBy: step.claimed.sentBy, branchId: step.claimed.branchId }
  const fanOut =
    all.length > 1 || join !== undefined
      ? withMac(
          fanOutOf(step, { next: all, join, completedAt, bounds: options.fanOuts }),
          options.keyRing,
        )
      : null
  const handoffs = prepareEach(['/next', all], (next, index) => {
    const branch = fanOut?.branches[index]
    const name = nameOf(index)
    const written = step.execution.written?.get(name)
    const request = requestFor(step, {
      next,
      name,
      completedAt,
      ...(branch === undefined || fanOut === null
        ? {}
        : { leftMicroUSD: branch.budgetMicroUSD - fanOut.spentMicroUSD }),
    })
    const handoff = prepareHandoff(
      request,
      branch === undefined ? { ...own, written } : { ...own, written, branchId: branch.branchId },
    )
    // The settlement charges this agent's cost to the task already.
    return { ...handoff, addedCostMicroUSD: 0 }
  })
  return { handoffs, fanOut }
}

interface Parts {
  readonly next: readonly NextHandoff[]
  readonly join: JoinHandoff | undefined
  readonly completedAt: string
  readonly bounds: PrepareOptions['fanOuts']
}

function fanOutOf(
  step: Step,
  { next, join, completedAt, bounds = FAN_OUT_BOUNDS }: Parts,
): Omit<NewFanOut, 'mac'> {
  const { claimed, message, execution } = step
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
  const own = microUSD(execution.result.costUSD)
  const spentMicroUSD = microUSD(costSpentSoFarUSD) + own
  const leftMicroUSD = microUSD(costBudgetRemainingUSD) - own
  const shares = divideBudget(leftMicroUSD, next, join)
  const fanOutId = derivedId(`${claimed.handoffId}/${claimed.fencingToken}/fan-out`)
  const names = branchNames(next)
  const branches = names.map((name, index) => ({
    branchId: derivedId(`${fanOutId}/branch/${index}`),
    name,
    budgetMicroUSD: spentMicroUSD + (shares.branches[index] ?? 0),
  }))
  const joined =
    join === undefined
      ? { joinAfter: null, joinRequest: null }
      : {
          joinAfter: joinAfter(join, branches),
          joinRequest: soundJoin(requestFor(step, { next: join, name: 'join', completedAt })),
        }
  return {
    fanOutId,
    taskId: claimed.taskId,
    handoffId: claimed.handoffId,
    branchId: claimed.branchId,
    onFailure: join?.onFailure ?? 'wait',
    ...joined,
    budgetMicroUSD: spentMicroUSD + leftMicroUSD,
    spentMicroUSD,
    reservedMicroUSD: shares.join,
    branches,
    bounds,
  }
}

function requestFor(step: Step, branch: Branch): HandoffRequest {
  return {
    agentState: stateFor(step, branch),
    targetAgentType: branch.next.to,
    constraints: constraintsFor(step.message, branch.next),
  }
}

/** What is left of a part that was done stays with the agent type that did it, unless it was handed on. */
function handedOn({ claimed, message, execution }: Step): readonly NextHandoff[] {
  const { next, remaining: left = [] } = execution.result
  if (left.length === 0 || next.length > 0) return next
  const { taskDescription } = message
  return [{ to: claimed.routedTo ?? claimed.toAgent, taskDescription, remainingSubtasks: left }]
}

interface Branch {
  readonly next: NextHandoff | JoinHandoff
  /** Among all that this execution passes on. */
  readonly name: string
  readonly completedAt: string
  /** What it is given of the budget; all that is left by default. */
  readonly leftMicroUSD?: number
}

function stateFor({ claimed, message, execution }: Step, branch: Branch): AgentState {
  const { result, agent, traceparent } = execution
  const { costTracking } = message
  const { next, name, completedAt, leftMicroUSD } = branch
  return {
    taskId: claimed.taskId,
    handoffId: derivedId(`${claimed.handoffId}/${claimed.fencingToken}/${name}`),
    parentHandoffId: claimed.handoffId,
    timestamp: completedAt,
    agent: {
      agentId: agent.type,
      agentVersion: agent.version,
      executionId: derivedId(`${claimed.handoffId}/${claimed.fencingToken}/execution`),
    },
    taskDescription: next.taskDescription,
    completedSubtasks: [...message.completedSubtasks, { ...result.subtask, completedAt }],
    remainingSubtasks: next.remainingSubtasks ?? remaining(message, result),
    currentState: result.state,
    relevantContext: next.relevantContext ?? message.relevantContext,
    conversationHistorySummary: message.conversationHistorySummary,
    cost: {
      spentSoFarUSD: costTracking.costSpentSoFarUSD,
      budgetRemainingUSD:
        leftMicroUSD === undefined
          ? costTracking.costBudgetRemainingUSD
          : usdFromMicro(leftMicroUSD + microUSD(result.costUSD)),
      ownCostUSD: result.costUSD,
      tokenSpent: result.tokens,
    },
    traceparent,
    ...(message.tracestate === undefined ? {} : { tracestate: message.tracestate }),
    ...carriedOver(message, result, next),
  }
}

const remaining = (message: HandoffMessage, result: AgentResult) =>
  message.remainingSubtasks.filter((subtask) => subtask.subtaskId !== result.subtask.subtaskId)

/** What is asked of the receiver and of the delivery, and what of it carries over from the message before. */
export function constraintsFor(
  message: HandoffMessage,
  next: NextHandoff | JoinHandoff,
): HandoffConstraints {
  const { replySchema, replySchemaRef } = isReplyAsked(next) ? next : message
  return withoutUndefined({
    list: [...(next.constraints ?? message.constraints)],
    priority: priorityOf(message, next),
    deadline: next.deadline ?? message.deadline,
    expiresAt: next.expiresAt ?? message.expiresAt,
    replySchema,
    replySchemaRef,
    agentVersion: next.agentVersion,
    requiresApproval: next.requiresApproval === true ? true : undefined,
    requirements: next.requirements,
    tokenBudget: next.tokenBudget,
    receiverContextWindowTokens: next.receiverContextWindowTokens,
    compressionThreshold: next.compressionThreshold,
    verbatimTurns: next.verbatimTurns,
  })
}

const CRITICAL = 0

/** Only who sends may be allowed priority 0: what is asked from within a task that was not sent with it goes on as 1. */
function priorityOf(
  { priority: before }: HandoffMessage,
  { priority: asked }: NextHandoff | JoinHandoff,
): number | undefined {
  return asked === CRITICAL && before !== CRITICAL ? 1 : (asked ?? before)
}

/** Form and schema of an answer belong together. */
const isReplyAsked = ({ replySchema, replySchemaRef }: NextHandoff | JoinHandoff): boolean =>
  replySchema !== undefined || replySchemaRef !== undefined

const withoutUndefined = <Given extends object>(given: Given) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]?: Exclude<Given[Name], undefined>
  }
