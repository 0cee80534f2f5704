// Takes a review from hop to hop in memory: every message is built, signed and judged as a receiver would.
import { randomBytes } from 'node:crypto'
import { createKeyRing, judgeHandoff, microUSD, signHandoff } from '@baton/protocol'
import type { AgentState, HandoffMessage, Verdict } from '@baton/protocol'
import { createScanner } from '@baton/safety'
import { buildHandoffMessage, renderForAgent } from '@baton/sdk'
import type { Agent, AgentContext, AgentResult } from '@baton/sdk'
import { agents } from '../agents.ts'
import type { ReviewRequest } from '../review-request.ts'

export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const keyRing = createKeyRing({
  active: 'test',
  keys: [{ id: 'test', secret: randomBytes(32), status: 'active' }],
})
const scanner = createScanner()

export interface Hop {
  readonly message: HandoffMessage
  readonly bytes: number
  readonly verdict: Verdict<ReturnType<typeof scanner.scan>>
  readonly result?: AgentResult
}

/** All hops of a review, until a message is refused or the task ends. */
export async function runReview(request: ReviewRequest): Promise<readonly Hop[]> {
  const hops: Hop[] = []
  const { cost } = request.agentState
  let remainingMicroUSDMax = microUSD(cost.budgetRemainingUSD)
  const budgetMicroUSD = remainingMicroUSDMax
  let next: ReviewRequest | undefined = request
  while (next !== undefined) {
    const message = buildHandoffMessage(next.agentState, next.targetAgentType, next.constraints)
    const agent = agentFor(message)
    const signed = signHandoff(message, keyRing)
    const task = { budgetMicroUSD, remainingMicroUSDMax }
    const verdict = judgeHandoff(signed, { agent, keyRing, scan: scanner.scan, task })
    const result = verdict.valid ? await agent.execute(contextFor(message)) : undefined
    hops.push({
      message,
      bytes: signed.bytes.length,
      verdict,
      ...(result === undefined ? {} : { result }),
    })
    remainingMicroUSDMax = microUSD(message.costTracking.costBudgetRemainingUSD)
    next = result === undefined ? undefined : nextRequest(message, result)
  }
  return hops
}

function agentFor({ toAgent }: HandoffMessage): Agent {
  const agent = agents.find(({ type }) => type === toAgent.agentType)
  if (agent === undefined) throw new Error(`no agent ${toAgent.agentType}`)
  return agent
}

/** What an agent is given for a message. */
export function contextFor(message: HandoffMessage): AgentContext {
  return {
    message,
    state: message.currentState,
    signal: new AbortController().signal,
    handoffId: message.handoffId,
    taskId: message.taskId,
    attempt: 1,
    epoch: 1,
    traceparent: TRACEPARENT,
    idempotencyKey: (step) => `${message.handoffId}:${step}`,
    renderContext: () => renderForAgent(message),
  }
}

function nextRequest(message: HandoffMessage, result: AgentResult): ReviewRequest | undefined {
  const [next] = result.next
  if (next === undefined) return undefined
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
  const agentState: AgentState = {
    taskId: message.taskId,
    parentHandoffId: message.handoffId,
    agent: { agentId: message.toAgent.agentType, agentVersion: '1.0.0' },
    taskDescription: next.taskDescription,
    completedSubtasks: [
      ...message.completedSubtasks,
      { ...result.subtask, completedAt: message.timestamp },
    ],
    remainingSubtasks: message.remainingSubtasks.filter(
      ({ subtaskId }) => subtaskId !== result.subtask.subtaskId,
    ),
    currentState: result.state,
    cost: {
      spentSoFarUSD: costSpentSoFarUSD,
      budgetRemainingUSD: costBudgetRemainingUSD,
      ownCostUSD: result.costUSD,
      tokenSpent: result.tokens,
    },
    traceparent: TRACEPARENT,
    ...(message.personalDataPayload === undefined
      ? {}
      : {
          personalData: {
            dataSubjects: message.dataSubjects ?? [],
            payload: message.personalDataPayload,
          },
        }),
  }
  return {
    agentState,
    targetAgentType: next.to,
    constraints: {
      list: message.constraints,
      ...(next.agentVersion === undefined ? {} : { agentVersion: next.agentVersion }),
    },
  }
}
