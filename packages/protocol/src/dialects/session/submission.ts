// What is asked over a session as a handoff, and a handoff as a dispatch. No clock, no I/O.
import type { AgentState, HandoffConstraints } from '../../agent-state.ts'
import type { HandoffMessage } from '../../handoff-message.ts'
import type { JsonObject } from '../../json.ts'
import { usdFromMicro } from '../../money.ts'
import { foreignUuid, kindOf } from '../foreign-id.ts'
import type { SessionAnnounce } from './announce.ts'
import type { Asked } from './asked.ts'
import { clampPrompt, dispatchOf } from './dispatch.ts'
import type { TaskDispatch } from './dispatch.ts'
import type { Wanted } from './routing.ts'
import { priorityNumber, priorityWord, SESSION, VERIFICATION_DEPTH } from './words.ts'
import type { ReplySchema } from './words.ts'

/** What the mapping is given: who asks, ids, times and the trace. */
export interface Making {
  readonly peer: string
  /** Whose it is; undefined is the default tenant. */
  readonly tenant?: string | undefined
  readonly contextId: string
  /** The task's id, or what stands for it where the peer names none. */
  readonly taskId: string
  readonly handoffId: string
  readonly agentType: string
  /** What the peer is told of who works here; it stands with the task (S23). */
  readonly announced: SessionAnnounce
  readonly budgetMicroUSD: number
  readonly now: Date
  readonly expiryMs: number
  readonly trace: { readonly traceparent: string; readonly tracestate?: string | undefined }
}

const PEER_VERSION = '0.0.0'
const PERSONAL = '[personal data]'

/** Ids of tasks are each peer's own: two may use the same. */
export const externalId = (peer: string, taskId: string): string => `${peer}/${taskId}`

/** As which agent a peer sends. */
const agentOfPeer = (peer: string, tenant: string | undefined): string =>
  tenant === undefined ? peer : `${tenant}/${peer}`

/** What to send for what is asked: the first handoff of a task, kept in the protocol's own words. */
export function toHandoff(asked: Asked, making: Making) {
  const { peer, tenant, taskId, trace } = making
  const agentState: AgentState = {
    handoffId: making.handoffId,
    taskId: foreignUuid(SESSION, kindOf('task', tenant), externalId(peer, taskId)),
    parentHandoffId: null,
    agent: { agentId: agentOfPeer(peer, tenant), agentVersion: PEER_VERSION },
    timestamp: making.now.toISOString(),
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [],
    ...textsOf(asked, making),
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: usdFromMicro(making.budgetMicroUSD),
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    traceparent: trace.traceparent,
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
    externalRef: { protocol: SESSION, id: externalId(peer, taskId) },
  }
  return {
    agentState,
    targetAgentType: making.agentType,
    constraints: constraintsOf(asked, making),
  }
}

// Text about people stands apart from the rest, by pointer, as the first of them's.
function textsOf(
  asked: Asked,
  { peer, contextId, taskId, announced }: Making,
): Pick<AgentState, 'currentState' | 'personalData'> {
  const { brief, dataSubjects, form, replySchema, priority } = asked
  const state: JsonObject = {
    brief,
    session: {
      peer,
      contextId,
      taskId,
      form,
      replySchema,
      verificationDepth: VERIFICATION_DEPTH[priority],
      announced: announced as SessionAnnounce & JsonObject,
    },
  }
  const [owner] = dataSubjects
  if (owner === undefined) return { currentState: state }
  return {
    currentState: { ...state, brief: PERSONAL },
    personalData: {
      dataSubjects,
      payload: { '/currentState/brief': { subject: owner, value: brief } },
    },
  }
}

function constraintsOf(asked: Asked, { now, expiryMs }: Making): HandoffConstraints {
  const { requiredMcp: mcp, requiredCapabilities: capabilities, tokenBudget, deadline } = asked
  return {
    priority: priorityNumber(asked.priority),
    replySchema: asked.replySchema,
    ...(tokenBudget === null ? {} : { tokenBudget }),
    ...(deadline === null ? {} : { deadline }),
    expiresAt: new Date(now.getTime() + expiryMs).toISOString(),
    ...(mcp.length + capabilities.length === 0
      ? {}
      : { requirements: { mcp: [...mcp], capabilities: [...capabilities] } }),
  }
}

const MODEL_TIER = 'model_tier:'
const WRITES = 'access:write'

/** What a handoff needs of the worker that gets it: its requirements, and what its constraints say of tier and writing. */
export function wantedOf({ requirements, constraints }: HandoffMessage): Wanted {
  const tier = constraints.find((one) => one.startsWith(MODEL_TIER))
  return {
    mcp: requirements?.mcp ?? [],
    capabilities: requirements?.capabilities ?? [],
    modelTier: tier?.slice(MODEL_TIER.length),
    writes: constraints.includes(WRITES),
  }
}

/** A handoff as a dispatch. Its id there is the handoff's: the same for every attempt, so that a worker knows it again. */
export function toDispatch(
  message: HandoffMessage,
  brief: string,
  replySchemaDefault: ReplySchema,
): TaskDispatch {
  const { handoffId, priority = 2, replySchema, tokenBudget, deadline, expiresAt } = message
  return dispatchOf({
    task: {
      task_id: handoffId,
      priority: priorityWord(priority),
      reply_schema: replySchema ?? replySchemaDefault,
      token_budget: tokenBudget ?? null,
    },
    requirements: {
      required_mcp: message.requirements?.mcp ?? [],
      required_capabilities: message.requirements?.capabilities ?? [],
    },
    deadline: deadline ?? expiresAt ?? null,
    brief: clampPrompt(brief),
  })
}
