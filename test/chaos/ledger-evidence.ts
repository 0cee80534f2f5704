// Everything the checker of the ledger campaign may look at: what was acknowledged and published, and what is stored.
import type { Violation } from './check.ts'

/** A receipt, written down outside the system before it counted. Times in milliseconds since 1970. */
export interface AcknowledgedAppend {
  readonly handoffId: string
  readonly epoch: number
  readonly origin: string
  readonly seq: number
  /** Lower-case hex. */
  readonly recordHash: string
  /** When the append began that was answered, and when the answer was there. */
  readonly begunAt: number
  readonly at: number
}

/** A record as the database holds it; the hash in lower-case hex is made of its bytes, not read. */
export interface LoggedRecord {
  readonly origin: string
  readonly seq: number
  readonly hash: string
  readonly event: string
  readonly handoffId: string
  readonly epoch: number
}

/** One log in one tier: the leaf hashes (hex) of its stored bytes, in order; a missing leaf is empty. */
export interface LogCopy {
  readonly origin: string
  readonly leaves: readonly string[]
}

/** A checkpoint that somebody outside the sealer has seen. */
export interface SeenCheckpoint {
  /** Where, for example `anchor` or `auditor`. */
  readonly from: string
  readonly origin: string
  readonly size: number
  /** Lower-case hex. */
  readonly root: string
}

/** The receipt that an execution holds in the operational database. */
export interface HeldReceipt {
  readonly handoffId: string
  readonly epoch: number
  /** Null where it holds none. */
  readonly hash: string | null
}

/** How far one chain has got. */
export interface ChainCoverage {
  readonly origin: string
  readonly size: number
  readonly sealed: number
  readonly witnessed: number
  readonly archived: number
}

export interface LedgerEvidence {
  readonly acknowledged: readonly AcknowledgedAppend[]
  readonly records: readonly LoggedRecord[]
  /** The chains and the seal log. */
  readonly hot: readonly LogCopy[]
  readonly cold: readonly LogCopy[]
  readonly checkpoints: readonly SeenCheckpoint[]
  /** Where a note was seen that the sealer did not sign, in words. */
  readonly foreignNotes: readonly string[]
  /** Executions that agents wrote down when they began. */
  readonly started: readonly { readonly handoffId: string; readonly epoch: number }[]
  readonly held: readonly HeldReceipt[]
  /** What the auditor says of receipts that executions hold, where that is anything but `sealed`. */
  readonly unreconciled: readonly string[]
  readonly coverage: readonly ChainCoverage[]
  /** Findings of the whole verification and of a scrub over both tiers. */
  readonly findings: readonly string[]
  /** Records that each of the two has read; a scrub reads some again where its pieces meet. */
  readonly verified: { readonly whole: number; readonly scrubbed: number }
  /** Services that reported tampering, which nobody did. */
  readonly alarms: readonly string[]
  /** What the campaign's other checker found of the handoffs. */
  readonly delivery: readonly Violation[]
}
