// What the pipeline and the operational database tell each other of returns, corrections and resumed tasks.
// Amounts are integer micro-USD.
import type { NewHandoff } from './delivery.ts'

/** What a sender is told: correct this message, or go on from your checkpoint. */
export interface SenderNotice {
  readonly noticeId: string
  readonly kind: 'return' | 'rollback'
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  /** The attempt that failed, from 1. */
  readonly attempt: number
  readonly attemptsMax: number
  /** The revision that was refused; a correction is the next one. */
  readonly revision: number
  readonly reason: string
  /** What was wrong, where and how to mend it. */
  readonly details: unknown
  readonly traceparent: string
  /** The exact signed bytes that were refused or rolled back. */
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
  /** The exact bytes of the sender's saved state. */
  readonly checkpoint: Uint8Array
  readonly checkpointSha256: Uint8Array
  /** From then on another taker may be told. */
  readonly leaseUntil: Date
  /** When it is tried again unless it is corrected before; null where nothing is scheduled. */
  readonly retryAt: Date | null
}

/** Who takes notices, for how long, and how many at most. */
export interface TakeRequest {
  readonly agents: readonly string[]
  readonly kinds: readonly SenderNotice['kind'][]
  readonly taker: string
  readonly leaseMs: number
  readonly limit: number
}

/** A handoff as its correction finds it. */
export interface RevisionBase {
  readonly handoffId: string
  readonly revision: number
  /** The exact signed bytes of that revision. */
  readonly body: Uint8Array
  readonly traceparent: string
  readonly checkpoint: Uint8Array
}

/** A corrected message on its way into Postgres, as this revision of its handoff. */
export interface Revision {
  readonly revision: number
  /** Signed; names the handoff's own task, parent, target and priority. */
  readonly message: NewHandoff
}

/** What a revision meets, with every row locked that decides about it. */
export interface RevisableHandoff {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  /** The revision that stands. */
  readonly revision: number
  /** Digest of what was asked for with the revision that is given; null where there was none. */
  readonly askedSha256: Uint8Array | null
  readonly state: string
  readonly taskStatus: string
  readonly attempt: number
  readonly epoch: number
  /** Somebody holds a live lease: it is being tried at this moment. */
  readonly live: boolean
  /** Its last attempt ended with a return. */
  readonly returned: boolean
  /** It waits as a dead letter whose sender was asked for a correction. */
  readonly asked: boolean
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  /** The most that remains for a handoff of the same task which names it as its parent; null without one. */
  readonly childRemainingMicroUSD: number | null
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
}

/**
 * `stale`: another correction was there first. `claimed`: it is being tried at this moment.
 * `closed`: it was not returned, or has ended. `budget`: the task's budget or what remains would change.
 */
export type RevisionOutcome =
  | { readonly kind: 'revised'; readonly state: string }
  | { readonly kind: 'duplicate'; readonly state: string }
  | { readonly kind: 'stale'; readonly revision: number }
  | { readonly kind: 'unknown' | 'claimed' | 'closed' | 'budget' }

/** A handoff that ended without an effect and can be taken up again. */
export interface ResumableHandoff extends RevisionBase {
  readonly taskId: string
  readonly parentId: string | null
  readonly attempt: number
  readonly attemptsMax: number
  readonly epoch: number
  readonly reason: string
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly spentMicroUSD: number
  readonly sentBy: string | null
}

/** What stands in the way of resuming a task; `resumed` names the handoff that did it before. */
export type ResumeState =
  | { readonly kind: 'resumable'; readonly handoff: ResumableHandoff }
  | {
      readonly kind: 'resumed'
      readonly handoffId: string
      readonly taskSeq: number
      readonly state: string
      readonly traceparent: string
    }
  | { readonly kind: 'unknown' | 'ended' | 'nothing' }
