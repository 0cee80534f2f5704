// A handoff of Baton in the words of SW4RM: its status, why it was rejected, and when what happened.
import type { JsonObject } from '../../json.ts'
import { handoffResponse } from './handoff-request.ts'
import type { HandoffResponse, HandoffStatus } from './handoff-request.ts'
import type { HANDOFF_STATES } from '../../states.ts'
import { rejectionText } from './rejection-code.ts'
import { NO_CAPABLE_AGENT } from './routing.ts'

type HandoffState = (typeof HANDOFF_STATES)[number]

/** What there is to say of a handoff; times are ISO 8601. */
export interface HandoffFacts {
  readonly handoffId: string
  readonly state: string
  /** The code of the rejection or failure. */
  readonly reason: string | null
  /** Where the agent itself declined: with which code. */
  readonly declinedWith?: string | undefined
  /** What it required of its agent. */
  readonly capabilitiesRequired?: readonly string[]
  readonly createdAt: string
  readonly acceptedAt: string | null
  readonly endedAt: string | null
}

const STATUS: Readonly<Record<HandoffState, HandoffStatus>> = {
  QUEUED: 'PENDING',
  AWAITING_APPROVAL: 'PENDING',
  DISPATCHED: 'PENDING',
  EXECUTING: 'ACCEPTED',
  COMPLETED: 'COMPLETED',
  PARTIAL: 'COMPLETED',
  REJECTED: 'REJECTED',
  BLOCKED: 'REJECTED',
  EXPIRED: 'EXPIRED',
  CANCELED: 'REJECTED',
  DEAD_LETTERED: 'REJECTED',
  ROLLED_BACK: 'REJECTED',
}

/** EXPIRED is what nobody accepted in time; what ran out after it was accepted is REJECTED. */
export function statusOf({
  state,
  acceptedAt,
}: Pick<HandoffFacts, 'state' | 'acceptedAt'>): HandoffStatus {
  if (state === 'EXPIRED' && acceptedAt !== null) return 'REJECTED'
  return STATUS[state as HandoffState]
}

/** The peer's response to a question for the status. The reason names a class, never what a message says. */
export function responseOf(facts: HandoffFacts): HandoffResponse {
  const status = statusOf(facts)
  return handoffResponse({
    accepted: status !== 'REJECTED' && status !== 'EXPIRED',
    handoffId: facts.handoffId,
    rejectionReason: rejectionReason(facts, status),
    status,
    metadata: timesOf(facts, status),
  })
}

function rejectionReason(facts: HandoffFacts, status: HandoffStatus): string | null {
  const { state, reason, declinedWith, capabilitiesRequired = [] } = facts
  if (status !== 'REJECTED' && status !== 'EXPIRED') return null
  if (declinedWith !== undefined) return rejectionText(declinedWith, capabilitiesRequired)
  if (state === 'BLOCKED') return NO_CAPABLE_AGENT
  if (state === 'EXPIRED') return 'Handoff request timed out'
  if (state === 'CANCELED') return 'Canceled'
  return reason ?? state
}

function timesOf(
  { state, createdAt, acceptedAt, endedAt, declinedWith }: HandoffFacts,
  status: HandoffStatus,
): JsonObject {
  const failed = state === 'ROLLED_BACK'
  return {
    created_at: createdAt,
    ...(acceptedAt === null || declinedWith !== undefined ? {} : { accepted_at: acceptedAt }),
    ...(endedAt === null ? {} : { [endOf(status)]: endedAt }),
    ...(failed && endedAt !== null ? { failed_at: endedAt } : {}),
    ...(state === 'PARTIAL' ? { partial: true } : {}),
  }
}

const endOf = (status: HandoffStatus): string =>
  status === 'COMPLETED' ? 'completed_at' : status === 'EXPIRED' ? 'expired_at' : 'rejected_at'
