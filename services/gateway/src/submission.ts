// Turns a posted body into a message that is ready to be signed, or into a problem that says where it is wrong.
import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { HandoffRequest, ReadyMessage } from '@baton/pipeline'
import {
  type AgentState,
  DEFAULT_LIMITS,
  type Detail,
  type HandoffMessage,
  type KeyRing,
  ProtocolError,
  buildHandoff,
  canonicalBytes,
  deliveryOf,
  microUSD,
  parseTraceparent,
  validateHandoffMessage,
  verifySignature,
} from '@baton/protocol'
import type { Metrics, Span } from '@baton/telemetry'
import { placeInState } from './message-pointer.ts'
import { ProblemError, invalidHandoff } from './problem.ts'
import { requireShape } from './shape.ts'
import { MESSAGE_SUBMISSION, STATE_SUBMISSION } from './submission-schema.ts'

export interface SubmissionOptions {
  readonly keyRing: KeyRing
  readonly metrics: Pick<Metrics, 'hopSeconds' | 'contextCompressionsTotal'>
}

type StateSubmission = Omit<HandoffRequest, 'constraints' | 'agentState'> & {
  readonly agentState: Omit<AgentState, 'traceparent'> & { readonly traceparent?: string }
  readonly constraints?: HandoffRequest['constraints']
}

interface MessageSubmission {
  readonly message: HandoffMessage
  readonly checkpoint: object
  readonly ownCostUSD?: number
}

/**
 * Reads `{ agentState, targetAgentType, constraints }` or `{ message, checkpoint }`. What the
 * receiver judges (completeness, budget, safety) is left to it, so that the refusal is on record;
 * what could never be delivered throws a 422 problem here.
 */
export function readSubmission(request: FastifyRequest, options: SubmissionOptions): ReadyMessage {
  const { value } = request.body as { value: unknown }
  const isMessage = typeof value === 'object' && value !== null && Object.hasOwn(value, 'message')
  return isMessage
    ? readMessage(request, value as MessageSubmission, options)
    : readState(request, value as StateSubmission, options)
}

function readState(request: FastifyRequest, body: StateSubmission, { metrics }: SubmissionOptions): ReadyMessage {
  requireShape(request, STATE_SUBMISSION, body)
  const startedAt = performance.now()
  const asked = withTrace(body, request.span)
  const { message, compression } = built(asked)
  requireDeliverable(message, placeInState)
  metrics.hopSeconds.build.observe((performance.now() - startedAt) / 1000)
  if (compression.compressed) metrics.contextCompressionsTotal.inc()
  return {
    message,
    addedCostMicroUSD: microUSD(asked.agentState.cost.ownCostUSD),
    checkpoint: { state: asked.agentState.currentState, request: asked },
  }
}

function built({ agentState, targetAgentType, constraints }: HandoffRequest) {
  try {
    return buildHandoff(agentState, targetAgentType, constraints)
  } catch (error) {
    if (error instanceof ProtocolError) throw invalidHandoff(error.code, error.details, placeInState)
    throw error
  }
}

// A traceparent in the body is the sender's own span. Without one the request is the span that sends.
function withTrace(body: StateSubmission, span: Span): HandoffRequest {
  const { agentState, targetAgentType, constraints = {} } = body
  const { traceparent = span.traceparent, handoffId = randomUUID() } = agentState
  if (parseTraceparent(traceparent) === undefined) throw invalidHandoff('BATON_HANDOFF_INVALID', [BROKEN_TRACE])
  const inherited = agentState.traceparent === undefined && constraints.schemaVersion !== '2.0'
  const tracestate = agentState.tracestate ?? (inherited ? span.tracestate : undefined)
  const traced = { ...agentState, handoffId, traceparent, ...(tracestate === undefined ? {} : { tracestate }) }
  return { agentState: traced, targetAgentType, constraints }
}

const BROKEN_TRACE: Detail = {
  pointer: '/agentState/traceparent',
  rule: 'traceparent',
  message: 'This is not a W3C traceparent',
  fix: 'Send 00-<32 hex>-<16 hex>-<2 hex> with ids that are not zero, or leave the field out.',
}

function readMessage(request: FastifyRequest, body: MessageSubmission, { keyRing }: SubmissionOptions): ReadyMessage {
  const checkpoint: unknown = body.checkpoint
  if (checkpoint === undefined || checkpoint === null) throw CHECKPOINT_MISSING
  requireShape(request, MESSAGE_SUBMISSION, body)
  const { message, ownCostUSD = 0 } = body
  requireDeliverable(message, (pointer) => `/message${pointer}`)
  requireSignature(message, keyRing)
  return { message, addedCostMicroUSD: microUSD(ownCostUSD), checkpoint: { state: body.checkpoint } }
}

const CHECKPOINT_MISSING = new ProblemError({
  status: 422,
  code: 'BATON_CHECKPOINT_MISSING',
  detail: 'A ready message needs the checkpoint its sender resumes from after a rollback',
  fix: 'Add "checkpoint": { ... }, the state of the sending agent; {} where it keeps none.',
  pointer: '/checkpoint',
})

// The signature and the key's name are added to the message afterwards.
const SIGNED_BYTES_MAX = DEFAULT_LIMITS.bytesMax - 128

function requireDeliverable(message: HandoffMessage, place: (pointer: string) => string): void {
  const verdict = validateHandoffMessage(message)
  if (!verdict.valid && verdict.reason === 'SCHEMA_INVALID') {
    throw invalidHandoff('BATON_HANDOFF_INVALID', verdict.details, place)
  }
  const bytes = canonicalBytes(message).byteLength
  if (bytes > SIGNED_BYTES_MAX) throw invalidHandoff('BATON_HANDOFF_INVALID', [tooLarge(bytes)], place)
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
  if (microUSD(costSpentSoFarUSD) + microUSD(costBudgetRemainingUSD) < 0) {
    throw invalidHandoff('BATON_HANDOFF_INVALID', [NO_BUDGET], place)
  }
}

const tooLarge = (bytes: number): Detail => ({
  pointer: '',
  rule: 'bytesMax',
  message: `The message takes ${bytes} bytes; ${SIGNED_BYTES_MAX} are allowed`,
  fix: 'Compress the conversation, or send references to large data.',
})

const NO_BUDGET: Detail = {
  pointer: '/costTracking/costBudgetRemainingUSD',
  rule: 'budget',
  message: 'More is overspent than was ever spent: the budget of the task would be negative',
  fix: 'Give the budget as spent plus remaining; together they are zero or more.',
}

// An outsider may sign for itself; then the signature must hold. Baton signs again with its own key.
function requireSignature(message: HandoffMessage, keyRing: KeyRing): void {
  if (message.signature === undefined) return
  const delivery = deliveryOf(message)
  if (verifySignature(delivery.bytes, delivery, keyRing).ok) return
  throw new ProblemError({
    status: 422,
    code: 'BATON_SIGNATURE_INVALID',
    detail: 'The signature does not belong to this message, or its key is not known here',
    fix: 'Leave signature and signatureKeyId out, and Baton signs; or sign with a key it knows.',
    pointer: '/message/signature',
  })
}
