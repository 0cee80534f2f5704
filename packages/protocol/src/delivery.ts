// What the pipeline and the operational database tell each other of one handoff's delivery.
// Amounts are integer micro-USD; `epoch` is the fencing token of an execution.
import type { OfferedRelease } from './checks/release.ts'

export type {
  ClaimQuota,
  Job,
  LostMark,
  LostTail,
  NextMark,
  OutboxDepth,
  OutboxLane,
  OutboxRow,
  Pointer,
  Priority,
  QueueMark,
} from './doorbell.ts'

/** One signed handoff on its way into Postgres. */
export interface NewHandoff {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly priority: number
  readonly requiresApproval: boolean
  readonly attemptsMax: number
  readonly keyId: string
  readonly signature: string
  readonly traceparent: string
  readonly tracestate: string | null
  /** The earlier of `expiresAt` and `deadline`; never executed afterwards. */
  readonly expiresAt: string | null
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  /** What the sender spent since its own handoff was settled; added to the task. */
  readonly addedCostMicroUSD: number
  readonly body: Uint8Array
  readonly sha256: Uint8Array
  /** Digest of what the sender asked for: the same request again is a duplicate, not a conflict. */
  readonly requestSha256: Uint8Array
  readonly checkpointId: string
  readonly checkpoint: Uint8Array
  readonly checkpointSha256: Uint8Array
  /** The operator whose API key sent it, or sent what led to it; nobody reviews a handoff of their own. */
  readonly sentBy: string | null
}

/** `duplicate`: the same request was sent before, so the first send's answer holds. */
export type SendOutcome =
  | { readonly kind: 'sent' | 'duplicate'; readonly taskSeq: number; readonly state: string }
  | { readonly kind: 'conflict' | 'task_ended' }
  | {
      readonly kind: 'budget_mismatch'
      readonly budgetMicroUSD: number
      readonly parentRemainingMicroUSD: number | null
    }

export interface ClaimRequest {
  readonly handoffId: string
  readonly generation: number
}

/** A claimed handoff with its signed bytes; the epoch fences every later write. */
export interface ClaimedHandoff {
  readonly kind: 'claimed'
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly epoch: number
  /** How often an owner died or stalled while it held this handoff. */
  readonly lapses: number
  /** Whether somebody approved, released, corrected or resumed it: that stands in the log first. */
  readonly decided: boolean
  readonly attempt: number
  readonly attemptsMax: number
  readonly generation: number
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  /** The agent type that executes it instead of `toAgent`, which could not. */
  readonly routedTo: string | null
  readonly parentId: string | null
  readonly traceparent: string
  readonly tracestate: string | null
  /** Time since the handoff was published, or queued where that is not yet visible. */
  readonly queueSeconds: number
  readonly budgetMicroUSD: number
  /** How many handoffs of the task have failed before. */
  readonly failedHandoffs: number
  /** What the parent handoff left over; null for a task's first handoff. */
  readonly parentRemainingMicroUSD: number | null
  readonly sentBy: string | null
  /** Under which it may pass the safety check; whether it still holds is judged, not assumed. */
  readonly release: OfferedRelease | null
}

/** Not claimed: ended, held by a live lease, superseded by a later generation, or not its turn. */
export interface RefusedClaim {
  readonly kind: 'refused'
}

/** Names an execution and proves the right to settle it. */
export interface Fence {
  readonly handoffId: string
  readonly epoch: number
}

/** A lease that still holds. Both times are null unless the handoff is being canceled. */
export interface HeldLease {
  readonly handoffId: string
  /** Until when a result still commits, and how long that is from now, by Postgres' clock. */
  readonly canceledUntil: Date | null
  readonly graceMs: number | null
}

/** An execution that is about to start, with the receipt that proves its decision record. */
export interface StartedExecution extends Fence {
  readonly auditOrigin: string
  readonly auditSeq: number
  /** Lower-case hex. */
  readonly auditHash: string
}

/** A lifecycle event for the audit store; commits with the change it tells of. */
export interface AuditIntent {
  readonly id: string
  readonly handoffId: string
  /** JSON of the ledger's AuditEntry. */
  readonly entry: string
}

export interface Completion extends Fence {
  readonly costMicroUSD: number
  /** JSON of what the agent answered. */
  readonly result: string
  /** JSON of the task's final outcome where this handoff was its last; otherwise null. */
  readonly taskResult: string | null
}

export interface Retry extends Fence {
  readonly reason: string
  /** JSON: what was wrong, where, how to mend it. */
  readonly details: string
  readonly delayMs: number
  /** True hands the handoff back to its sender with the details (E09). */
  readonly returned: boolean
}

export interface Ending extends Fence {
  readonly state: 'REJECTED' | 'BLOCKED' | 'DEAD_LETTERED' | 'ROLLED_BACK'
  readonly taskStatus: 'PENDING_HANDOFF' | 'AWAITING_HUMAN'
  readonly reason: string
  readonly details: string
  readonly costMicroUSD: number
  readonly alert: boolean
  readonly escalate: boolean
  /** Of a dead letter: what its like have in common, and the scanner that judged it, if one did. */
  readonly cluster?: string
  readonly artefactId?: string | null
}

/** A published handoff that nobody has claimed for a while. */
export interface QuietHandoff extends ClaimRequest {
  readonly queue: string
}

/** What an event names of a handoff that was ended, approved or canceled from outside an execution. */
export interface ExpiredHandoff extends Fence {
  readonly taskId: string
  readonly parentId: string | null
  readonly attempt: number
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
}
