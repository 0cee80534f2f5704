// From agent state to the signed row that one transaction commits: build, compress, sign, checkpoint.
import { createHash, randomUUID } from 'node:crypto'
import {
  type AgentState,
  type HandoffConstraints,
  type HandoffMessage,
  type KeyRing,
  buildHandoff,
  microUSD,
  signHandoff,
} from '@baton/protocol'
import type { NewHandoff } from '@baton/protocol/delivery'
import { permanent } from '@baton/runtime'

export interface PrepareOptions {
  readonly keyRing: KeyRing
  /** How often a receiver may try before the task rolls back. */
  readonly attemptsMax: number
}

/** What a sender asks for; it is saved in the checkpoint so that a returned handoff can be rebuilt. */
export interface HandoffRequest {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

/** Builds and signs a handoff from agent state (E02, E10, E16, E20). */
export function prepareHandoff(
  request: HandoffRequest,
  options: PrepareOptions,
): { handoff: NewHandoff; compressed: boolean } {
  const { agentState, targetAgentType, constraints } = request
  const { message, compression } = buildHandoff(agentState, targetAgentType, constraints)
  const addedCostMicroUSD = microUSD(agentState.cost.ownCostUSD)
  const handoff = prepareMessage(
    { message, addedCostMicroUSD, checkpoint: { state: agentState.currentState, request } },
    options,
  )
  return { handoff, compressed: compression.compressed }
}

export interface ReadyMessage {
  readonly message: HandoffMessage
  readonly addedCostMicroUSD: number
  /** What the sender needs to resume from after a rollback. */
  readonly checkpoint: { readonly state: object; readonly request?: HandoffRequest }
}

/** Signs a message that was built elsewhere and saves the sender's checkpoint with it. */
export function prepareMessage(
  { message, addedCostMicroUSD, checkpoint }: ReadyMessage,
  { keyRing, attemptsMax }: PrepareOptions,
): NewHandoff {
  refuseAmbiguousSubjects(message)
  const signed = signHandoff(message, keyRing)
  const checkpointId = randomUUID()
  const saved = Buffer.from(
    JSON.stringify({
      checkpointVersion: 1,
      checkpointId,
      taskId: message.taskId,
      handoffId: message.handoffId,
      savedAt: message.timestamp,
      agent: message.fromAgent,
      ...checkpoint,
    }),
  )
  return {
    handoffId: message.handoffId,
    taskId: message.taskId,
    parentId: message.parentHandoffId,
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
    traceparent: message.traceparent,
    tracestate: message.tracestate ?? null,
    expiresAt: earlier(message.expiresAt, message.deadline),
    spentMicroUSD: microUSD(message.costTracking.costSpentSoFarUSD),
    remainingMicroUSD: microUSD(message.costTracking.costBudgetRemainingUSD),
    addedCostMicroUSD,
    body: signed.bytes,
    sha256: signed.sha256,
    checkpointId,
    checkpoint: saved,
    checkpointSha256: createHash('sha256').update(saved).digest(),
  }
}

function earlier(first: string | undefined, second: string | undefined): string | null {
  if (first === undefined || second === undefined) return first ?? second ?? null
  return Date.parse(first) <= Date.parse(second) ? first : second
}

/** The person a piece of personal data belongs to: the one it names, or the message's only one. */
export function subjectOf(message: HandoffMessage, entry: unknown): string | undefined {
  const subjects = message.dataSubjects ?? []
  const named = (entry as { subject?: unknown } | null)?.subject
  if (typeof named === 'string' && subjects.includes(named)) return named
  return subjects.length === 1 ? subjects[0] : undefined
}

// Erasing one person must leave the others' data, so every piece belongs to exactly one of them.
function refuseAmbiguousSubjects(message: HandoffMessage): void {
  for (const [pointer, entry] of Object.entries(message.personalDataPayload ?? {})) {
    if (subjectOf(message, entry) !== undefined) continue
    throw permanent(
      'BATON_PERSONAL_DATA_AMBIGUOUS',
      `personalDataPayload at ${JSON.stringify(pointer)} does not say whose data it is`,
      { fix: 'Give one dataSubject, or make the entry { "subject": "<one of dataSubjects>", "value": ... }.' },
    )
  }
}
