// The Handoffs API's own figures and words for how a handoff stands.
import type { HANDOFF_STATES } from '../../states.ts'

/** What `externalRef` of its handoffs says. */
export const HANDOFFS_API = 'handoffs-api'

/** A root has depth 0; the message that would have this depth is refused. */
export const CHAIN_DEPTH_MAX = 5
export const PRIORITY_DEFAULT = 2
/** A list holds so many of the newest. */
export const LIST_MAX = 100

export const STATUSES = [
  'pending',
  'accepted',
  'in_progress',
  'completed',
  'rejected',
  'expired',
] as const
export type Status = (typeof STATUSES)[number]

export type HandoffState = (typeof HANDOFF_STATES)[number]

/** Of each lifecycle state the status. The API has no failed one: what failed was rejected, and says so in its attachments. */
const STATUS_OF: Readonly<Record<HandoffState, Status>> = {
  QUEUED: 'pending',
  AWAITING_APPROVAL: 'pending',
  DISPATCHED: 'pending',
  EXECUTING: 'in_progress',
  COMPLETED: 'completed',
  PARTIAL: 'completed',
  REJECTED: 'rejected',
  BLOCKED: 'rejected',
  EXPIRED: 'expired',
  CANCELED: 'rejected',
  DEAD_LETTERED: 'rejected',
  ROLLED_BACK: 'rejected',
}

/** How a handoff stands; what a person has approved is accepted although no agent has it yet. */
export function statusOf(state: HandoffState, isApproved: boolean): Status {
  const status = STATUS_OF[state]
  return isApproved && status === 'pending' ? 'accepted' : status
}

/** The lifecycle states that a status stands for: of what nobody has approved, and of what a person has. */
export function statesOf(status: Status): Record<'states' | 'approvedStates', HandoffState[]> {
  const having = (isApproved: boolean) =>
    (Object.keys(STATUS_OF) as HandoffState[]).filter(
      (state) => statusOf(state, isApproved) === status,
    )
  return { states: having(false), approvedStates: having(true) }
}
