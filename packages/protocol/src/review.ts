// What pipeline and store tell each other of a dead letter that people decide about.

/** A dead letter with what a decision about it needs; nobody else decides while it is held. */
export interface HeldDeadLetter {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  /** Of the execution that ended in quarantine. */
  readonly epoch: number
  readonly attempt: number
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
  readonly reason: string
  /** Rises whenever the handoff is quarantined again; votes count within one round. */
  readonly round: number
  /** Null while it waits. */
  readonly resolution: Resolution | null
  /** The operator whose key sent it. */
  readonly sentBy: string | null
  /** The sender was asked for another message in this round. */
  readonly asked: boolean
  /** The scanner that judged it; null where none did. */
  readonly artefactId: string | null
  /** Lower-case hex digest of the bytes that wait. */
  readonly sha256: string
  readonly taskStatus: string
  /** Its deadline has passed: whatever is decided, it would not execute any more. */
  readonly overdue: boolean
  /** The task or the handoff is being canceled. */
  readonly canceling: boolean
}

export type Resolution = 'RELEASED' | 'REDACTED' | 'REDRIVEN' | 'REVISED' | 'DISCARDED' | 'CANCELED'
export type VotedAction = 'RELEASE' | 'REDACT'

export interface NewVote {
  readonly id: string
  readonly handoffId: string
  readonly round: number
  readonly action: VotedAction
  /** Lower-case hex. */
  readonly proposalSha256: string
  /** JSON of what is proposed. */
  readonly proposal: string
  readonly reviewer: string
}

export interface Vote {
  readonly action: VotedAction
  readonly proposalSha256: string
  readonly proposal: unknown
  readonly reviewer: string
  readonly createdAt: Date
}

/** Which dead letter goes back to the queue, under which release. */
export interface Reopening {
  readonly handoffId: string
  readonly releaseId: string | null
}

/** The signed bytes of a handoff, as they are stored. */
export interface StoredMessage {
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
}

/** A quarantined message with what judging it today needs. */
export interface QuarantinedMessage extends StoredMessage {
  readonly handoffId: string
  readonly reason: string
  readonly round: number
  readonly sentBy: string | null
  readonly toAgent: string
  readonly budgetMicroUSD: number
  readonly parentRemainingMicroUSD: number | null
  readonly taskStatus: string
  readonly overdue: boolean
  readonly canceling: boolean
}

/** An agent type as a live worker hosts it. */
export interface LiveAgent {
  readonly type: string
  readonly version: string
  readonly requires: readonly string[]
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
}

export type RedriveState = 'CANARY' | 'RUNNING' | 'DONE' | 'STOPPED' | 'CANCELED'

export interface NewRedrive {
  readonly id: string
  readonly cluster: string | null
  readonly createdBy: string
  readonly ratePerSecond: number
  readonly letters: readonly RedriveLetter[]
}

export interface RedriveLetter {
  readonly handoffId: string
  readonly round: number
  /** Goes first, and must complete before any other does. */
  readonly canary: boolean
  readonly actId: string
}

/** A re-drive whose turn has come; nobody else advances it meanwhile. */
export interface HeldRedrive {
  readonly id: string
  readonly state: RedriveState
  readonly createdBy: string
  readonly ratePerSecond: number
  readonly canaryOverdue: boolean
}

/** How a canary fares: not yet sent, passed over, or the state and reason of its handoff. */
export interface CanaryState {
  readonly handoffId: string
  readonly letter: 'WAITING' | 'DRIVEN' | 'SKIPPED'
  readonly state: string
  readonly reason: string | null
  readonly ended: boolean
}

/** Why a re-drive ended early. */
export interface RedriveStop {
  readonly code: 'CANARY_FAILED' | 'CANARY_LATE' | 'CANARY_GONE'
  readonly handoffId?: string
  readonly state?: string
  readonly reason?: string | null
}
