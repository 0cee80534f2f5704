// An agent's answer becomes the next handoffs of its task; costs are deducted on the way (E20).
import { createHash } from 'node:crypto'
import { formatUuid } from '@baton/ledger'
import type { AgentState, HandoffMessage } from '@baton/protocol'
import type { ClaimedHandoff, NewHandoff } from '@baton/store'
import type { NextHandoff } from '@baton/protocol/settlement'
import type { AgentResult } from '../agent.ts'
import type { Execution } from '../execute-handoff.ts'
import { prepareHandoff } from '../prepare-handoff.ts'
import type { PrepareOptions } from '../prepare-handoff.ts'

type Done = Extract<Execution, { kind: 'done' }>

interface Step {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly execution: Done
}

/** Signed rows for everything the agent passes on; they commit together with its result (I5). */
export function nextHandoffs(step: Step, options: PrepareOptions): NewHandoff[] {
  const completedAt = new Date().toISOString()
  return handedOn(step).map((next, index) => {
    const agentState = stateFor(step, { next, index, completedAt })
    const handoff = prepareHandoff(
      { agentState, targetAgentType: next.to, constraints: constraintsFor(step.message, next) },
      { ...options, sentBy: step.claimed.sentBy },
    )
    // The settlement charges this agent's cost to the task already.
    return { ...handoff, addedCostMicroUSD: 0 }
  })
}

/** What is left of a part that was done stays with the agent type that did it, unless it was handed on. */
function handedOn({ claimed, message, execution }: Step): readonly NextHandoff[] {
  const { next, remaining: left = [] } = execution.result
  if (left.length === 0 || next.length > 0) return next
  const { taskDescription } = message
  return [{ to: claimed.routedTo ?? claimed.toAgent, taskDescription, remainingSubtasks: left }]
}

interface Branch {
  readonly next: NextHandoff
  readonly index: number
  readonly completedAt: string
}

function stateFor({ claimed, message, execution }: Step, branch: Branch): AgentState {
  const { result, agent, traceparent } = execution
  const { costTracking } = message
  const { next, index, completedAt } = branch
  return {
    taskId: claimed.taskId,
    handoffId: derivedId(`${claimed.handoffId}/${claimed.fencingToken}/next/${index}`),
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
    conversationHistory: message.conversationHistoryVerbatim,
    conversationHistorySummary: message.conversationHistorySummary,
    toolCallHistory: message.toolCallHistory,
    cost: {
      spentSoFarUSD: costTracking.costSpentSoFarUSD,
      budgetRemainingUSD: costTracking.costBudgetRemainingUSD,
      ownCostUSD: result.costUSD,
      tokenSpent: result.tokens,
    },
    traceparent,
    ...(message.tracestate === undefined ? {} : { tracestate: message.tracestate }),
    ...labelsOf(message),
  }
}

/** Whose data it is, how sensitive, and where it may be: a task keeps them on its whole way, because its state goes on too. */
const labelsOf = ({
  dataSubjects,
  personalDataPayload,
  dataClassification,
  residency,
}: HandoffMessage): Pick<AgentState, 'personalData' | 'dataClassification' | 'residency'> => ({
  ...(dataSubjects === undefined && personalDataPayload === undefined
    ? {}
    : {
        personalData: { dataSubjects: dataSubjects ?? [], payload: personalDataPayload ?? {} },
      }),
  ...(dataClassification === undefined ? {} : { dataClassification }),
  ...(residency === undefined ? {} : { residency }),
})

const remaining = (message: HandoffMessage, result: AgentResult) =>
  message.remainingSubtasks.filter((subtask) => subtask.subtaskId !== result.subtask.subtaskId)

function constraintsFor(message: HandoffMessage, next: NextHandoff) {
  const priority = next.priority ?? message.priority
  const deadline = next.deadline ?? message.deadline
  const expiresAt = next.expiresAt ?? message.expiresAt
  return {
    list: [...(next.constraints ?? message.constraints)],
    ...(next.agentVersion === undefined ? {} : { agentVersion: next.agentVersion }),
    ...(priority === undefined ? {} : { priority }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(next.requiresApproval === true ? { requiresApproval: true } : {}),
    ...(next.requirements === undefined ? {} : { requirements: next.requirements }),
  }
}

/** A version 4 shaped id that is the same each time it is derived from the same name. */
function derivedId(name: string): string {
  const digest = createHash('sha256').update(`baton/derived-id/v1\n${name}`).digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x40
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  return formatUuid(digest.subarray(0, 16))
}
