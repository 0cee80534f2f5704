// SW4RM for programs in TypeScript: agents with its hooks become agents of Baton, and its requests are sent as handoffs.
import { randomBytes } from 'node:crypto'
import {
  contextObject,
  deserializeContext,
  fromHandoff,
  handoffResponse,
  toHandoff,
  unpackContext,
} from '@baton/protocol/dialects/sw4rm'
import type { ContextMode, HandoffRequest, HandoffResponse } from '@baton/protocol/dialects/sw4rm'
import type { AgentRegistration, JsonObject } from '@baton/protocol'
import type { Agent, AgentContext, AgentResult } from '@baton/engine'
import { permanent, transient } from '@baton/runtime'
import { createScanner } from '@baton/safety'
import { newTraceparent } from '@baton/telemetry'
import { defineAgent } from './agent.ts'
import type { Sender } from './sender.ts'

export {
  answerRequest,
  contextFrom,
  contextObject,
  contextOf,
  deserializeContext,
  fromHandoff,
  handoffRequest,
  handoffResponse,
  prepareHandoffContext,
  requestWithFallback,
  serializeContext,
} from '@baton/protocol/dialects/sw4rm'
export type {
  HandoffContext,
  HandoffRequest,
  HandoffResponse,
  RegisteredAgent,
} from '@baton/protocol/dialects/sw4rm'

/** What an agent of SW4RM overrides; without the first it takes everything. */
export interface HandoffHooks {
  /** Decides whether this agent takes the handoff. */
  onHandoffRequest?(request: HandoffRequest): HandoffResponse | Promise<HandoffResponse>
  /** Called after it was accepted, to go on where the other agent stopped. */
  onHandoffReceived?(context: JsonObject): void | Promise<void>
}

export interface Sw4rmAgent<Own extends HandoffHooks> extends Pick<
  AgentRegistration,
  'type' | 'version' | 'capabilities'
> {
  /** One for each handoff, so that two never share a state. */
  readonly create: () => Own
  /** The work itself, once the hooks are through. */
  work(agent: Own, context: AgentContext): Promise<AgentResult>
}

/**
 * An agent of Baton whose handoffs go through the hooks of SW4RM. Its `capabilities` are checked before, by Baton. Where it answers that
 * it is busy the handoff is tried again later, as after any transient failure; any other rejection rolls the task back.
 */
export function defineSw4rmAgent<Own extends HandoffHooks>(agent: Sw4rmAgent<Own>): Agent {
  const { type, version, capabilities = [], create, work } = agent
  return defineAgent({
    type,
    version,
    requires: [],
    capabilities,
    async execute(context) {
      const own = create()
      const request = fromHandoff(context.message)
      const answer = await own.onHandoffRequest?.(request)
      if (answer?.accepted === false) throw declined(answer)
      await own.onHandoffReceived?.(contextIn(request))
      return work(own, context)
    },
  })
}

function contextIn({ contextSnapshot }: HandoffRequest): JsonObject {
  const bytes = contextSnapshot === null ? Buffer.from('{}') : unpackContext(contextSnapshot)
  return contextObject(deserializeContext(bytes, { mode: 'lenient' }))
}

// The reason is the agent's own text, and goes nowhere.
function declined({ rejectionReason }: HandoffResponse): Error {
  if (rejectionReason?.startsWith('Agent busy') === true)
    return transient('BATON_SW4RM_BUSY', 'the agent answered the request that it is busy')
  return permanent('BATON_SW4RM_DECLINED', 'the agent declined the request', {
    fix: 'Require the capabilities that the agent has, or hand off to another agent type.',
  })
}

export interface SendRequestOptions {
  /** What the task may cost; SW4RM itself has no money. 1 US dollar by default. */
  readonly budgetUSD?: number
  /** `strict` by default: the context satisfies the published schema. */
  readonly mode?: ContextMode
  /** The span that sends; a new trace by default. */
  readonly traceparent?: string
}

/**
 * Sends a request as a handoff (W17); resolves once it is durable, and answers as a peer does: accepted for processing, PENDING. Throws what
 * `send` throws, a request id that was used before among it, and BATON_SW4RM_INVALID for a context that cannot be read.
 */
export async function requestHandoff(
  sender: Pick<Sender, 'send'>,
  request: HandoffRequest,
  { budgetUSD = 1, mode = 'strict', traceparent = newTraceparent() }: SendRequestOptions = {},
): Promise<HandoffResponse> {
  const nowMs = Date.now()
  const { scan } = createScanner()
  const isUnsafe = (texts: readonly string[]) =>
    scan({ currentState: { texts } }).decision === 'reject'
  const mapping = { nowMs, salt: randomBytes(32), isUnsafe, budgetUSD, mode }
  const { agentState, targetAgentType, constraints } = toHandoff(request, mapping)
  const sent = await sender.send({ ...agentState, traceparent }, targetAgentType, constraints)
  return handoffResponse({
    accepted: true,
    handoffId: sent.handoffId,
    metadata: { created_at: new Date(nowMs).toISOString() },
  })
}
