// What a schema cannot say about a message: unique subtasks, a fitting receiver, depth, a conserved budget.
import { isAgentRange, satisfiesAgentRange } from '../agent-range.ts'
import { ANY_AGENT } from '../agent-registration.ts'
import type { AgentRegistration } from '../agent-registration.ts'
import type { Detail } from '../detail.ts'
import type { HandoffMessage } from '../handoff-message.ts'
import { microUSD } from '../money.ts'

/** What the operational store knows about the task's budget; the message must agree (I8). */
export interface TaskBudget {
  /** What the task may cost in all. */
  readonly budgetMicroUSD: number
  /** What was left when the sender received the task; it cannot have grown. */
  readonly remainingMicroUSDMax: number
}

export interface ConsistencyOptions {
  readonly agent?: AgentRegistration | undefined
  readonly task?: TaskBudget | undefined
  /** Whether the agent stands in for the addressed one; only what names requirements is ever rerouted. */
  readonly routed?: boolean | undefined
}

/** All inconsistencies; each makes the message SCHEMA_INVALID. */
export function checkConsistency(
  message: HandoffMessage,
  { agent, task, routed = false }: ConsistencyOptions,
): readonly Detail[] {
  return [
    ...checkSubtaskIds(message),
    ...checkRange(message),
    ...checkDepth(message),
    ...(agent === undefined || (routed && message.requirements !== undefined)
      ? []
      : checkReceiver(message, agent)),
    ...(task === undefined ? [] : checkConservation(message, task)),
  ]
}

function checkSubtaskIds(message: HandoffMessage): readonly Detail[] {
  const seen = new Set<string>()
  for (const list of ['completedSubtasks', 'remainingSubtasks'] as const)
    for (const [index, { subtaskId }] of message[list].entries()) {
      if (seen.has(subtaskId)) return [DUPLICATE(`/${list}/${index}/subtaskId`)]
      seen.add(subtaskId)
    }
  return []
}

const DUPLICATE = (pointer: string): Detail => ({
  pointer,
  rule: 'uniqueSubtaskId',
  message: 'another subtask has the same id',
  fix: 'Give every subtask, completed or remaining, its own id.',
})

function checkRange({ toAgent }: HandoffMessage): readonly Detail[] {
  if (toAgent.agentVersion === undefined || isAgentRange(toAgent.agentVersion)) return []
  return [
    {
      pointer: '/toAgent/agentVersion',
      rule: 'agentVersion',
      message: 'this is not a semantic version range',
      fix: 'Write a range such as >=1.5.0 or ^2.1.0, or leave it out.',
    },
  ]
}

/** The first handoff has depth 0; the one whose depth reaches the maximum is refused (ruling 14). */
function checkDepth({ delegation }: HandoffMessage): readonly Detail[] {
  if (delegation === undefined || delegation.depth < delegation.maxDepth) return []
  return [
    {
      pointer: '/delegation/depth',
      rule: 'delegationDepth',
      message: `the chain of handoffs may only be ${delegation.maxDepth} long`,
      fix: 'Finish the work here, or start the task with a larger maxDepth.',
      expected: `< ${delegation.maxDepth}`,
    },
  ]
}

function checkReceiver(message: HandoffMessage, agent: AgentRegistration): readonly Detail[] {
  const target = targetFor(message, agent)
  if (target === undefined) return [WRONG_TYPE(agent.type)]
  const { agentVersion: range } = target
  if (range === undefined || !isAgentRange(range)) return []
  return satisfiesAgentRange(agent.version, range) ? [] : [WRONG_VERSION(agent.version)]
}

/** The entry that addresses this agent: the target, one of the fan-out, or anybody. */
function targetFor(
  { toAgent, receiverList = [] }: HandoffMessage,
  { type }: AgentRegistration,
): { readonly agentVersion?: string } | undefined {
  const named = [...receiverList, toAgent].find(({ agentType }) => agentType === type)
  return named ?? (toAgent.agentType === ANY_AGENT ? toAgent : undefined)
}

const WRONG_TYPE = (type: string): Detail => ({
  pointer: '/toAgent/agentType',
  rule: 'agentType',
  message: `the message was delivered to ${type}, which it does not address`,
  fix: 'Deliver it to the agent type it names.',
  expected: type,
})

const WRONG_VERSION = (version: string): Detail => ({
  pointer: '/toAgent/agentVersion',
  rule: 'agentVersion',
  message: `the receiver has version ${version}, which the range does not contain`,
  fix: 'Widen the range, or deploy a version of the receiver that it contains.',
  expected: version,
})

function checkConservation(
  { costTracking }: HandoffMessage,
  { budgetMicroUSD, remainingMicroUSDMax }: TaskBudget,
): readonly Detail[] {
  const spent = microUSD(costTracking.costSpentSoFarUSD)
  const remaining = microUSD(costTracking.costBudgetRemainingUSD)
  const details: Detail[] = []
  if (spent + remaining !== budgetMicroUSD) details.push(NOT_CONSERVED(budgetMicroUSD))
  if (remaining > remainingMicroUSDMax) details.push(RAISED(remainingMicroUSDMax))
  return details
}

const NOT_CONSERVED = (budget: number): Detail => ({
  pointer: '/costTracking',
  rule: 'budgetConserved',
  message: `spent and remaining do not add up to the task's budget of ${budget} micro-USD`,
  fix: 'Deduct exactly what was spent from the remaining budget, and add it to the spent one.',
  expected: String(budget),
})

const RAISED = (remaining: number): Detail => ({
  pointer: '/costTracking/costBudgetRemainingUSD',
  rule: 'budgetRaised',
  message: `the sender had only ${remaining} micro-USD left`,
  fix: 'A sender can only lower the remaining budget.',
  expected: `<= ${remaining}`,
})
