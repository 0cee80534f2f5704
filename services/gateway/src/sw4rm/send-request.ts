// RequestHandoff: the request becomes a whole handoff, durable before it is answered; one without an agent finds one by capability.
import { createHmac, hash } from 'node:crypto'
import type { RequireRoom } from '@baton/engine'
import { buildHandoffMessage } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import { foreignUuid } from '@baton/protocol/dialects/foreign-id'
import { routeHandoff, SW4RM, Sw4rmError, toHandoff } from '@baton/protocol/dialects/sw4rm'
import type { ContextMode, HandoffRequest } from '@baton/protocol/dialects/sw4rm'
import { status } from '@grpc/grpc-js'
import { BatonError } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import type { Logger } from '@baton/runtime'
import { findHandoff, listLiveAgents } from '@baton/store'
import type { Pool } from '@baton/store'
import { placed, requireDeliverable } from '../deliverable.ts'
import type { Place } from '../deliverable.ts'
import type { Submission } from '../submission.ts'
import type { Submitter } from '../submit.ts'
import type { Caller } from './calls.ts'
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
export async function sendRequest(
  wire: WireRequest,
  caller: Caller,
  parts: SendRequestParts,
): Promise<Record<string, never>> {
  const request = await withAgent(readRequest(wire), parts.pool)
  const submission = submissionOf(request, caller, parts)
  await parts.requireRoom(submission.agentType, submission.priority)
  const { handoffId, taskId, traceparent, repeated } = await submit(submission, request, parts)
  if (repeated) throw existsAlready(request.requestId)
  parts.logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
  return {}
}

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

function submissionOf(
  request: HandoffRequest,
  { key, span }: Caller,
  { keyRing, budgetMicroUSD, contextMode, scan }: SendRequestParts,
): Submission {
  const { requestId, fromAgent, toAgent } = request
  if (!isName(requestId)) throw REQUEST_ID_INVALID
  const { agentState, targetAgentType, constraints } = toHandoff(request, {
    nowMs: Date.now(),
    salt: saltOf(keyRing, requestId),
    isUnsafe: (texts) => scan({ currentState: { texts } }).decision === 'reject',
    budgetUSD: budgetMicroUSD / 1e6,
    mode: contextMode,
  })
  const traced = { ...agentState, traceparent: span.traceparent, ...stateOf(span) }
  const build = () => buildHandoffMessage(traced, targetAgentType, constraints)
  requireDeliverable(placed(placeInMessage, build), placeInMessage)
  return {
    agentType: targetAgentType,
    priority: constraints.priority ?? 2,
    place: placeInMessage,
    externalRef: {
      protocol: SW4RM,
      id: requestId,
      sender: fromAgent,
      recipient: toAgent,
      requestSha256: hash('sha256', requestId, 'buffer'),
    },
    send: (sender) =>
      sender.send({ agentState: traced, targetAgentType, constraints }, key.operator),
  }
}

const REQUEST_ID_INVALID = new Sw4rmError(
  'request_id must be 1 to 1024 characters, none of them a control character',
)

const stateOf = ({ tracestate }: Caller['span']) => (tracestate === undefined ? {} : { tracestate })

// Markers of secrets can be told apart by who has the signing key, and tried by nobody else.
function saltOf({ keys, activeKeyId }: KeyRing, requestId: string): Buffer {
  const { key } = keys.get(activeKeyId) ?? {}
  return createHmac('sha256', key ?? '')
    .update(`sw4rm secrets ${requestId}`)
    .digest()
}

// Another spelling of an id may stand for the same handoff.
async function submit(
  submission: Submission,
  { requestId }: HandoffRequest,
  { submitter, pool }: SendRequestParts,
) {
  try {
    return await submitter.submit(submission, undefined)
  } catch (error) {
    if (!(error instanceof BatonError) || !ID_USED.has(error.code)) throw error
    const known = await findHandoff(pool, foreignUuid(SW4RM, 'handoff', requestId))
    throw known === undefined ? error : existsAlready(requestId)
  }
}

const ID_USED: ReadonlySet<string> = new Set([
  'BATON_EXTERNAL_ID_REUSED',
  'BATON_HANDOFF_CONFLICT',
  'BATON_IDEMPOTENCY_KEY_RUNNING',
])
