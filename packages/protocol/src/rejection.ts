// Why a handoff is refused, and the one table that says what happens then.

/** The four reasons of E04, and SIGNATURE_INVALID for a failed HMAC (E10). */
export type RejectionReason =
  | 'SIGNATURE_INVALID'
  | 'SCHEMA_INVALID'
  | 'INCOMPLETE_CONTEXT'
  | 'BUDGET_EXHAUSTED'
  | 'SAFETY_VIOLATION'

export interface Route {
  /** Returned to the sender with the details, so that it can rebuild and send again. */
  readonly retry: boolean
  /** Quarantined for a person at once. */
  readonly deadLetter: boolean
  /** The sender's checkpoint is restored after the last attempt. */
  readonly rollBack: boolean
  /** Status of the task once nothing more is tried. */
  readonly taskStatus: 'PENDING_HANDOFF' | 'AWAITING_HUMAN'
  /** Somebody is alerted on the first refusal, not only when attempts run out. */
  readonly alert: boolean
}

const returned: Route = {
  retry: true,
  deadLetter: false,
  rollBack: true,
  taskStatus: 'PENDING_HANDOFF',
  alert: false,
}

const quarantined: Route = {
  retry: false,
  deadLetter: true,
  rollBack: false,
  taskStatus: 'AWAITING_HUMAN',
  alert: true,
}

/** E07, E08, E09, E10: a new reason does not compile until it is routed here. */
export const ROUTES = {
  SIGNATURE_INVALID: quarantined,
  SCHEMA_INVALID: returned,
  INCOMPLETE_CONTEXT: returned,
  BUDGET_EXHAUSTED: {
    retry: false,
    deadLetter: false,
    rollBack: false,
    taskStatus: 'AWAITING_HUMAN',
    alert: true,
  },
  SAFETY_VIOLATION: quarantined,
} as const satisfies Record<RejectionReason, Route>
