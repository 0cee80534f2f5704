// Turns a posted body into something to send, or into a problem that says where it is wrong.
import type { FastifyRequest } from 'fastify'
import type {
  Author,
  HandoffRequest,
  HandoffSender,
  JoinHandoff,
  ReadyMessage,
  Sent,
} from '@baton/engine'
import { buildHandoffMessage, completeState, microUSD } from '@baton/protocol'
import type { Detail, GivenState, HandoffMessage, KeyRing } from '@baton/protocol'
import type { Database, ExternalRef, NewHandoff } from '@baton/store'
import { codeOf } from '@baton/runtime'
import { messagingAttributes, parseTraceparent, startSpan } from '@baton/telemetry'
import type { Span } from '@baton/telemetry'
import { authorOf, keyOf } from './acting.ts'
import { placed, requireDeliverable, requireSignature } from './deliverable.ts'
import type { Place } from './deliverable.ts'
import { placeInState } from './message-pointer.ts'
import { requireOwnAgents } from './own-agents.ts'
import { invalidHandoff } from './problem.ts'

export interface Submission {
  /** The type it is addressed to. */
  readonly agentType: string
  readonly priority: number
  /** Turns a pointer into the message into one into the posted body. */
  readonly place: Place
  /** What it is called in the protocol it came in by; kept with it, and recognised when it comes again. */
  readonly externalRef?: ExternalRef
  /** What else commits with it, before it; throws where it must not be sent. */
  readonly within?: (transaction: Database, handoff: NewHandoff) => Promise<void>
  /** Sends it; may be called once. */
  send(sender: HandoffSender): Promise<Sent>
}

export interface SubmissionDeps {
  readonly keyRing: KeyRing
  /** What the task's first handoff was sent under; undefined where it has none. */
  findTaskTraceparent(taskId: string): Promise<string | undefined>
}

type StateSubmission = Omit<HandoffRequest, 'constraints' | 'agentState'> & {
  readonly agentState: GivenState
  readonly constraints?: HandoffRequest['constraints']
}

interface MessageSubmission {
  readonly message: HandoffMessage
  readonly checkpoint: object
  readonly ownCostUSD?: number
  readonly join?: JoinHandoff
}

const PRIORITY_DEFAULT = 2

/**
 * Reads `{ agentState, targetAgentType, constraints }` or `{ message, checkpoint }`, whose outer form was checked. What the
 * receiver judges (the state it needs, budget, safety) is left to it, so that the refusal is on record;
 * what could never be delivered, and what no receiver could accept, throws a 422 problem here.
 */
export function readSubmission(
  request: FastifyRequest,
  deps: SubmissionDeps,
  given: unknown = request.body,
): Submission {
  const body = given as StateSubmission | MessageSubmission
  return 'message' in body
    ? readMessage(request, body, deps.keyRing)
    : readState(request, body, deps)
}

function readState(
  request: FastifyRequest,
  body: StateSubmission,
  deps: SubmissionDeps,
): Submission {
  requireOwnAgents(keyOf(request), body.agentState.agent.agentId)
  const asked = withTrace(body, request.span)
  requireDeliverable(
    placed(placeInState, () => uncompressed(asked)),
    placeInState,
  )
  return {
    agentType: asked.targetAgentType,
    priority: asked.constraints.priority ?? PRIORITY_DEFAULT,
    place: placeInState,
    send: async (sender) => {
      const ofTask = isTraced(request, body) ? undefined : await traceOfTask(asked, deps)
      return sender.send(ofTask ?? asked, authorOf(request))
    },
  }
}

const isTraced = ({ headers }: FastifyRequest, { agentState }: StateSubmission): boolean =>
  agentState.traceparent !== undefined ||
  parseTraceparent(String(headers['traceparent'] ?? '')) !== undefined

// A task keeps its one trace (I9) also where a later sender does not know it.
async function traceOfTask(
  asked: HandoffRequest,
  { findTaskTraceparent }: SubmissionDeps,
): Promise<HandoffRequest | undefined> {
  const { taskId } = asked.agentState
  const traceparent = await findTaskTraceparent(taskId)
  return traceparent === undefined
    ? undefined
    : { ...asked, agentState: { ...asked.agentState, traceparent } }
}

// Only to be checked: compressing costs much and happens once, when the handoff is sent.
function uncompressed({
  agentState,
  targetAgentType,
  constraints,
}: HandoffRequest): HandoffMessage {
  const { receiverContextWindowTokens: _, ...others } = constraints
  return buildHandoffMessage(agentState, targetAgentType, others)
}

// A traceparent in the body is the sender's own span. Without one the request is the span that sends.
function withTrace(body: StateSubmission, span: Span): HandoffRequest {
  const { agentState, targetAgentType, constraints = {} } = body
  const { traceparent = span.traceparent } = agentState
  if (parseTraceparent(traceparent) === undefined) {
    throw invalidHandoff('BATON_HANDOFF_INVALID', [BROKEN_TRACE])
  }
  const inherits = agentState.traceparent === undefined && constraints.schemaVersion !== '2.0'
  const tracestate = agentState.tracestate ?? (inherits ? span.tracestate : undefined)
  const traced = { ...agentState, traceparent, ...(tracestate === undefined ? {} : { tracestate }) }
  return { agentState: completeState(traced), targetAgentType, constraints }
}

const BROKEN_TRACE: Detail = {
  pointer: '/agentState/traceparent',
  rule: 'traceparent',
  message: 'this is not a W3C traceparent',
  fix: 'Send 00-<32 hex>-<16 hex>-<2 hex> with ids that are not zero, or leave the field out.',
}

const placeInMessage: Place = (pointer) =>
  pointer.startsWith('/join') ? pointer : `/message${pointer}`

function readMessage(
  request: FastifyRequest,
  body: MessageSubmission,
  keyRing: KeyRing,
): Submission {
  const { message, checkpoint, ownCostUSD = 0, join } = body
  requireOwnAgents(keyOf(request), message.fromAgent.agentId)
  requireDeliverable(message, placeInMessage)
  placed(placeInMessage, () => requireSignature(message, keyRing))
  const addedCostMicroUSD = microUSD(ownCostUSD)
  const ready = { message, checkpoint, addedCostMicroUSD, ...(join && { join }) }
  return {
    agentType: message.toAgent.agentType,
    priority: message.priority ?? PRIORITY_DEFAULT,
    place: placeInMessage,
    send: (sender) => sendTraced(sender, { ready, author: authorOf(request) }),
  }
}

// The span belongs to the message's own trace, also where the request came in another one.
interface TracedSend {
  readonly ready: ReadyMessage
  readonly author: Author
}

async function sendTraced(sender: HandoffSender, { ready, author }: TracedSend): Promise<Sent> {
  const { handoffId, taskId, toAgent, traceparent, tracestate } = ready.message
  const destination = toAgent.agentType
  const span = startSpan({
    name: `send ${destination}`,
    kind: 'producer',
    parent: traceparent,
    tracestate,
    attributes: messagingAttributes({ operation: 'send', destination, handoffId, taskId }),
  })
  try {
    const sent = await sender.sendMessage(ready, author)
    span.end()
    return sent
  } catch (error) {
    span.end({ error: codeOf(error) })
    throw error
  }
}
