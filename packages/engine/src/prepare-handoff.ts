// From agent state to the signed row that one transaction commits: build, compress, sign, checkpoint.
import { createHash, randomUUID } from 'node:crypto'
import { isName } from '@baton/ledger'
import {
  ANY_AGENT,
  buildHandoff,
  checkCompleteness,
  microUSD,
  ProtocolError,
  signHandoff,
  usdFromMicro,
} from '@baton/protocol'
import type {
  AgentCost,
  AgentState,
  Checkpoint,
  HandoffConstraints,
  HandoffMessage,
  KeyRing,
} from '@baton/protocol'
import type { FanOutBounds, NewHandoff } from '@baton/store'
import type { WrittenSummary } from '@baton/summarise'
import type { JoinHandoff } from '@baton/protocol/settlement'
import { permanent } from '@baton/runtime'
import { newTraceparent, parseTraceparent, parseTracestate } from '@baton/telemetry'
import { SUBJECTS_MAX } from './decide/named-in-answer.ts'
import type { ReceiverBounds } from './known-receivers.ts'

export interface PrepareOptions {
  readonly keyRing: KeyRing
  /** How often a receiver may try before the task rolls back. */
  readonly attemptsMax: number
  /** The operator for whom is sent; nobody for services. */
  readonly sentBy?: string | null
  /** For whom; by default for whose the task is. */
  readonly tenant?: string | null
  /** The branch it belongs to; none by default. */
  readonly branchId?: string | null
  /** The fan-out that it joins; none by default. */
  readonly joinsId?: string | null
  /** Who was chosen, where it is for any agent. */
  readonly receiver?: string | undefined
  /** What is known of its receivers: the builder compresses for their windows (E03). */
  readonly bounds?: ReceiverBounds | undefined
  /** How far its task may fan out; FAN_OUT_BOUNDS by default. */
  readonly fanOuts?: FanOutBounds | undefined
  /** What a summariser wrote of the older turns, ahead of building; the extract by default. Its cost is the sender's. */
  readonly written?: WrittenSummary | undefined
  /** What summaries of it have cost before: it stays spent where it is built again. */
  readonly paid?: Paid | undefined
  /** Called for every handoff whose older turns were summarised. */
  onCompressed?(): void
}

export type Paid = Pick<WrittenSummary, 'costUSD' | 'tokens'>

/** What a sender asks for; it is saved in the checkpoint so that a returned handoff can be rebuilt. */
export interface HandoffRequest {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

/**
 * Builds and signs a handoff from agent state (E02, E10, E16, E20). `traceparent` is the sending
 * span's; the request itself is saved as it was asked, so that repeating it is recognised.
 */
export function prepareHandoff(
  request: HandoffRequest,
  options: PrepareOptions & { readonly traceparent?: string },
): NewHandoff {
  const { agentState, targetAgentType } = request
  const { traceparent = agentState.traceparent, written, receiver = targetAgentType } = options
  const cost = chargedWith(chargedWith(agentState.cost, options.paid), written)
  const { message, compression } = buildHandoff(
    { ...agentState, cost, traceparent },
    receiver,
    withBounds({ ...request, targetAgentType: receiver }, options),
    { written },
  )
  if (compression.compressed) options.onCompressed?.()
  const asked = JSON.stringify(request)
  const handoff = prepareSaved(message, { asked, state: {} }, options)
  return { ...handoff, addedCostMicroUSD: microUSD(cost.ownCostUSD) }
}

/** The sender pays for the summary, in whole micro-USD. */
export function chargedWith(cost: AgentCost, written: Paid | undefined): AgentCost {
  if (written === undefined) return cost
  const { ownCostUSD, tokenSpent } = cost
  return {
    ...cost,
    ownCostUSD: usdFromMicro(microUSD(ownCostUSD) + microUSD(written.costUSD)),
    tokenSpent: {
      prompt: tokenSpent.prompt + written.tokens.prompt,
      completion: tokenSpent.completion + written.tokens.completion,
    },
  }
}

/** What the summaries of a handoff have cost so far: what its message says beyond what was asked for. */
export function paidFor(
  { costTracking }: HandoffMessage,
  asked: HandoffRequest | undefined,
): Paid | undefined {
  if (asked === undefined) return undefined
  const { spentSoFarUSD, ownCostUSD, tokenSpent } = asked.agentState.cost
  const { costSpentSoFarUSD, tokenSpent: said } = costTracking
  const micro = microUSD(costSpentSoFarUSD) - microUSD(spentSoFarUSD) - microUSD(ownCostUSD)
  return {
    costUSD: usdFromMicro(Math.max(0, micro)),
    tokens: {
      prompt: Math.max(0, said.prompt - tokenSpent.prompt),
      completion: Math.max(0, said.completion - tokenSpent.completion),
    },
  }
}

/** What is asked for, and for what it leaves open, what is known of the receiver and set for this installation. */
export function withBounds(
  { constraints, targetAgentType }: Pick<HandoffRequest, 'constraints' | 'targetAgentType'>,
  { bounds }: Pick<PrepareOptions, 'bounds'>,
): HandoffConstraints {
  const windowTokens =
    constraints.receiverContextWindowTokens ?? bounds?.windowTokensOf(targetAgentType)
  if (windowTokens === undefined) return constraints
  const threshold = constraints.compressionThreshold ?? bounds?.threshold
  const verbatimTurns = constraints.verbatimTurns ?? bounds?.verbatimTurns
  return {
    ...constraints,
    receiverContextWindowTokens: windowTokens,
    ...(threshold === undefined ? {} : { compressionThreshold: threshold }),
    ...(verbatimTurns === undefined ? {} : { verbatimTurns }),
  }
}

export interface ReadyMessage {
  readonly message: HandoffMessage
  /** What the sender spent since its own handoff was settled, in micro-USD. */
  readonly addedCostMicroUSD: number
  /** What the sender needs to resume from after a rollback (E16). */
  readonly checkpoint: object
  /** What waits for the branches that its receiver list begins. */
  readonly join?: JoinHandoff
}

/** Signs a message that was built elsewhere and saves the sender's checkpoint with it. */
export function prepareMessage(ready: ReadyMessage, options: PrepareOptions): NewHandoff {
  const { message, addedCostMicroUSD, checkpoint } = ready
  refuseWithoutWork(message)
  return { ...prepareSaved(message, { state: checkpoint }, options), addedCostMicroUSD }
}

// The builder refuses it as well: no receiver could accept it, and it would come back only after its last attempt.
function refuseWithoutWork(message: HandoffMessage): void {
  const [first, ...others] = checkCompleteness(message, undefined)
  if (first !== undefined) throw new ProtocolError('BATON_HANDOFF_INVALID', [first, ...others])
}

/** What a sender saves to go on from after a rollback. */
interface Saved {
  /** What the sender gave to resume from; empty where the request holds all of it. */
  readonly state: object
  /** JSON of the request, where the message was built from one. */
  readonly asked?: string
}

/** The signed row of a finished message. Throws BATON_CHECKPOINT_MISSING where nothing is saved with it (E16). */
export function prepareSaved(
  message: HandoffMessage,
  saved: Saved,
  {
    keyRing,
    attemptsMax,
    sentBy = null,
    tenant = null,
    branchId = null,
    joinsId = null,
  }: PrepareOptions,
): Omit<NewHandoff, 'addedCostMicroUSD'> {
  refuseWithoutCheckpoint(saved)
  refuseUnaddressed(message)
  refuseUnrecordableNames(message)
  refuseManySubjects(message)
  refuseAmbiguousSubjects(message)
  refuseNegativeBudget(message)
  const signed = signHandoff(message, keyRing)
  const checkpointId = randomUUID()
  const checkpoint = checkpointOf(message, checkpointId, saved)
  return {
    handoffId: message.handoffId,
    taskId: message.taskId,
    parentId: message.parentHandoffId,
    branchId,
    joinsId,
    fromAgent: message.fromAgent.agentId,
    fromVersion: message.fromAgent.agentVersion,
    fromExecution: message.fromAgent.executionId,
    toAgent: message.toAgent.agentType,
    toVersion: message.toAgent.agentVersion ?? null,
    priority: message.priority ?? 2,
    requiresApproval: message.requiresApproval ?? false,
    attemptsMax,
    keyId: signed.keyId,
    signature: signed.signature,
    traceparent: deliveryTrace(message),
    tracestate: storedTracestate(message),
    expiresAt: earliest(message.expiresAt, message.deadline),
    spentMicroUSD: microUSD(message.costTracking.costSpentSoFarUSD),
    remainingMicroUSD: microUSD(message.costTracking.costBudgetRemainingUSD),
    body: signed.bytes,
    sha256: signed.sha256,
    requestSha256: saved.asked === undefined ? signed.sha256 : sha256(saved.asked),
    checkpointId,
    checkpoint,
    checkpointSha256: sha256(checkpoint),
    sentBy,
    tenant,
  }
}

// The receiver refuses a message with a wrong traceparent; the delivery that says so needs a right one.
const deliveryTrace = ({ traceparent }: HandoffMessage): string =>
  parseTraceparent(traceparent) === undefined ? newTraceparent() : traceparent

/** By which a repeated send of the same request is known. */
export const requestSha256 = (request: HandoffRequest): Buffer => sha256(JSON.stringify(request))

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()

/** The document `schemas/checkpoint/1.json`; a rollback hands these exact bytes back (I7). */
function checkpointOf(message: HandoffMessage, checkpointId: string, saved: Saved): Buffer {
  const document = JSON.stringify({
    checkpointVersion: 1,
    checkpointId,
    taskId: message.taskId,
    handoffId: message.handoffId,
    savedAt: message.timestamp,
    agent: message.fromAgent,
    state: saved.state,
  })
  const { asked } = saved
  return Buffer.from(
    asked === undefined ? document : `${document.slice(0, -1)},"request":${asked}}`,
  )
}

/** The document a sender saved; see schemas/checkpoint/1.json. */
export const readCheckpoint = (bytes: Uint8Array): Checkpoint =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as Checkpoint

/** The message of signed bytes that were judged before. */
export const readMessage = (bytes: Uint8Array): HandoffMessage =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as HandoffMessage

/** When the work of an accepted message must be done (S12); its expiry counted until then. */
export const deadlineOf = ({ deadline }: HandoffMessage): string | null => earliest(deadline)

// The earlier of both, in UTC: Postgres knows fewer zone offsets and no leap seconds.
function earliest(...instants: readonly (string | undefined)[]): string | null {
  const given = instants.filter((instant) => instant !== undefined)
  const times = given.map((instant) => Date.parse(instant.replace(/:60(?=[.Z+-])/, ':59')))
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString()
}

/** The person a piece of personal data belongs to: the one it names, or the message's only one. */
export function subjectOf(message: HandoffMessage, entry: unknown): string | undefined {
  const subjects = message.dataSubjects ?? []
  const named = (entry as { subject?: unknown } | null)?.subject
  if (typeof named === 'string' && subjects.includes(named)) return named
  return subjects.length === 1 ? subjects[0] : undefined
}

// A tracestate that breaks its grammar is dropped whole, as W3C Trace Context asks.
function storedTracestate({ tracestate }: HandoffMessage): string | null {
  return tracestate !== undefined && parseTracestate(tracestate) !== undefined ? tracestate : null
}

// Programs may be plain JavaScript, so a type does not keep this from happening.
function refuseWithoutCheckpoint({ state }: { readonly state: unknown }): void {
  if (typeof state === 'object' && state !== null && !Array.isArray(state)) return
  throw permanent('BATON_CHECKPOINT_MISSING', 'a sender without a checkpoint cannot hand off', {
    fix: 'Give "checkpoint": { ... }, the state the sender resumes from after a rollback; {} where it keeps none.',
  })
}

// Nobody reads a queue for any agent: whoever sends chooses.
function refuseUnaddressed({ toAgent }: HandoffMessage): void {
  if (toAgent.agentType !== ANY_AGENT) return
  throw permanent('BATON_RECEIVER_MISSING', '/toAgent/agentType: "*" names nobody here', {
    fix: 'Name an agent type; "*" is for a single handoff that is sent, and for what agents hand on.',
  })
}

// The log takes no other names, and a handoff of which nothing can be recorded could neither execute nor end.
function refuseUnrecordableNames({ fromAgent, toAgent }: HandoffMessage): void {
  const names = {
    '/fromAgent/agentId': fromAgent.agentId,
    '/fromAgent/agentVersion': fromAgent.agentVersion,
    '/fromAgent/executionId': fromAgent.executionId,
    '/toAgent/agentType': toAgent.agentType,
    '/toAgent/agentVersion': toAgent.agentVersion ?? '*',
  }
  const wrong = Object.entries(names).find(([, name]) => !isName(name))
  if (wrong === undefined) return
  throw permanent('BATON_NAME_UNRECORDABLE', `${wrong[0]}: the audit log takes no such name`, {
    fix: 'Take 1 to 256 printable ASCII characters without a space at either end.',
  })
}

function refuseNegativeBudget({ costTracking }: HandoffMessage): void {
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = costTracking
  if (microUSD(costSpentSoFarUSD) + microUSD(costBudgetRemainingUSD) >= 0) return
  throw permanent('BATON_BUDGET_MISMATCH', '/costTracking: spent + remaining is below zero', {
    fix: 'The sum is the budget of the whole task; it never changes and is at least zero.',
  })
}

// The log takes no more, and a handoff of which nothing can be recorded could neither execute nor end.
function refuseManySubjects({ dataSubjects = [] }: HandoffMessage): void {
  const people = new Set(dataSubjects).size
  if (people <= SUBJECTS_MAX) return
  throw permanent('BATON_SUBJECTS_TOO_MANY', `/dataSubjects names ${people} people`, {
    fix: `Name at most ${SUBJECTS_MAX} in one handoff: send the work in parts, or name only those whose data travels with it.`,
  })
}

// Erasing one person must leave the others' data, so every piece belongs to exactly one of them.
function refuseAmbiguousSubjects(message: HandoffMessage): void {
  for (const [pointer, entry] of Object.entries(message.personalDataPayload ?? {})) {
    if (subjectOf(message, entry) !== undefined) continue
    throw permanent(
      'BATON_PERSONAL_DATA_AMBIGUOUS',
      `personalDataPayload at ${JSON.stringify(pointer)} does not say whose data it is`,
      {
        fix: 'Give one dataSubject, or make the entry { "subject": "<one of dataSubjects>", "value": ... }.',
      },
    )
  }
}
