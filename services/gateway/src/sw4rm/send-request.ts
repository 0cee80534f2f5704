// RequestHandoff: the request becomes a whole handoff, durable before it is answered; one without an agent finds one by capability.
import { createHmac, hash } from 'node:crypto'
import type { HandoffRequest as EngineRequest, RequireRoom } from '@baton/engine'
import { buildHandoffMessage } from '@baton/protocol'
import type { AgentState, KeyRing } from '@baton/protocol'
import { foreignUuid, kindOf } from '@baton/protocol/dialects/foreign-id'
import { routeHandoff, SW4RM, Sw4rmError, toHandoff } from '@baton/protocol/dialects/sw4rm'
import type { ContextMode, HandoffRequest, MappedHandoff } from '@baton/protocol/dialects/sw4rm'
import { status } from '@grpc/grpc-js'
import { BatonError } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import type { Logger } from '@baton/runtime'
import { findHandoff, listLiveAgents } from '@baton/store'
import type { Pool } from '@baton/store'
import { idOwner } from '../acting.ts'
import { placed, requireDeliverable } from '../deliverable.ts'
import type { Place } from '../deliverable.ts'
import { requireOwnAgents } from '../own-agents.ts'
import { requireOwnPriority } from '../own-priority.ts'
import type { Submission } from '../submission.ts'
import { requirePlace, TASK_WENT_ON } from '../handoffs-api/place-message.ts'
import type { Submitted, Submitter } from '../submit.ts'
import type { Caller } from './calls.ts'
import { apart, placeRequest } from './place-request.ts'
import { existsAlready, PeerRefusal } from './refusal.ts'
import { isName, readRequest } from './wire.ts'
import type { WireRequest } from './wire.ts'

export interface SendRequestParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly submitter: Submitter
  readonly requireRoom: RequireRoom
  readonly logger: Logger
  /** Finds what would be hidden from the checks under the name of a secret. */
  readonly scan: Scanner['scan']
  /** What a task may cost in all that begins here. */
  readonly budgetMicroUSD: number
  /** How contexts are read. */
  readonly contextMode: ContextMode
}

/** Answers what the wire has for it, which is nothing. Throws where the id was used before, and what a send throws. */
export type SendRequest = (wire: WireRequest, caller: Caller) => Promise<Record<string, never>>

/** Of those that name one id at once, the first is sent; the others wait for it here instead of in the database. */
export function createSendRequest(parts: SendRequestParts): SendRequest {
  const underWay = new Map<string, Promise<unknown>>()
  return async (wire, caller) => {
    const request = await withAgent(readRequest(wire), parts.pool)
    const { requestId } = request
    const owned = kindOf(requestId, idOwner(caller.key))
    const first = underWay.get(owned)
    if (first !== undefined) {
      await first.catch(() => undefined)
      if ((await findKnown(parts.pool, requestId, caller)) !== undefined)
        throw existsAlready(requestId)
    }
    const sending = send(request, caller, parts)
    underWay.set(owned, sending)
    try {
      await sending
    } finally {
      if (underWay.get(owned) === sending) underWay.delete(owned)
    }
    return {}
  }
}

async function send(
  request: HandoffRequest,
  caller: Caller,
  parts: SendRequestParts,
): Promise<void> {
  const mapped = mapRequest(request, caller, parts)
  const state = await placeRequest(parts.pool, mapped, caller)
  const { priority = 2 } = mapped.constraints
  const { tenant } = caller.key
  requireOwnPriority(caller.key, priority)
  await parts.requireRoom({ agentType: mapped.targetAgentType, priority, tenant })
  const { handoffId, taskId, traceparent, repeated } = await submit(
    state,
    apart(state, caller.key),
    (agentState) =>
      parts.submitter.submit(submissionOf({ ...mapped, agentState }, caller), undefined),
  ).catch((error: unknown) => refuseKnown(error, { request, caller }, parts))
  if (repeated) throw existsAlready(request.requestId)
  parts.logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
}

const findKnown = (pool: Pool, requestId: string, { key }: Caller) =>
  findHandoff(pool, foreignUuid(SW4RM, kindOf('handoff', idOwner(key)), requestId))

/** What the state of a request has. */
const STATE_KEYS: ReadonlySet<string> = new Set(['reason', 'tool_state', 'metadata'])

/** As many agent types are looked through for the capabilities. */
const LIVE_MAX = 1_000

async function withAgent(request: HandoffRequest, pool: Pool): Promise<HandoffRequest> {
  if (request.toAgent !== '') return request
  const live = await listLiveAgents(pool, LIVE_MAX)
  const agents = live
    .filter(({ requires }) => requires.every((key) => STATE_KEYS.has(key)))
    .map(({ type, capabilities }) => ({ agentId: type, capabilities, state: 'RUNNABLE' }))
  const routed = routeHandoff(request, agents)
  if ('request' in routed) return routed.request
  throw new PeerRefusal(status.FAILED_PRECONDITION, routed.rejected.rejectionReason ?? '')
}

const placeInMessage: Place = (pointer) => pointer

function mapRequest(
  request: HandoffRequest,
  { key }: Caller,
  { keyRing, budgetMicroUSD, contextMode, scan }: SendRequestParts,
): MappedHandoff {
  if (!isName(request.requestId)) throw REQUEST_ID_INVALID
  return toHandoff(request, {
    nowMs: Date.now(),
    salt: saltOf(keyRing, request.requestId),
    isUnsafe: (texts) => scan({ currentState: { texts } }).decision === 'reject',
    budgetUSD: budgetMicroUSD / 1e6,
    mode: contextMode,
    owner: idOwner(key),
  })
}

function submissionOf(mapped: EngineRequest, { key }: Caller): Submission {
  const { agentState, targetAgentType, constraints } = mapped
  requireOwnAgents(key, agentState.agent.agentId)
  const build = () => buildHandoffMessage(agentState, targetAgentType, constraints)
  requireDeliverable(placed(placeInMessage, build), placeInMessage)
  const id = agentState.externalRef?.id ?? ''
  return {
    agentType: targetAgentType,
    priority: constraints.priority ?? 2,
    place: placeInMessage,
    externalRef: {
      protocol: SW4RM,
      id,
      sender: agentState.agent.agentId,
      recipient: targetAgentType,
      requestSha256: hash('sha256', id, 'buffer'),
    },
    within: requirePlace,
    send: (sender) => sender.send(mapped, { sentBy: key.operator, tenant: key.tenant }),
  }
}

const REQUEST_ID_INVALID = new Sw4rmError(
  'request_id must be 1 to 1024 characters, none of them a control character',
)

// Markers of secrets can be told apart by who has the signing key, and tried by nobody else.
function saltOf({ keys, activeKeyId }: KeyRing, requestId: string): Buffer {
  const { key } = keys.get(activeKeyId) ?? {}
  return createHmac('sha256', key ?? '')
    .update(`sw4rm secrets ${requestId}`)
    .digest()
}

// Another request may have carried the task on in the same moment.
async function submit(
  state: AgentState,
  own: AgentState,
  send: (state: AgentState) => Promise<Submitted>,
): Promise<Submitted> {
  try {
    return await send(state)
  } catch (error) {
    if (error !== TASK_WENT_ON) throw error
    return send(own)
  }
}

// Another spelling of an id may stand for the same handoff.
async function refuseKnown(
  error: unknown,
  { request: { requestId }, caller }: { readonly request: HandoffRequest; readonly caller: Caller },
  { pool }: SendRequestParts,
): Promise<never> {
  if (!(error instanceof BatonError) || !ID_USED.has(error.code)) throw error
  const known = await findKnown(pool, requestId, caller)
  throw known === undefined ? error : existsAlready(requestId)
}

const ID_USED: ReadonlySet<string> = new Set([
  'BATON_EXTERNAL_ID_REUSED',
  'BATON_HANDOFF_CONFLICT',
  'BATON_IDEMPOTENCY_KEY_RUNNING',
])
