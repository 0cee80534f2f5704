// What a caller hands to the audit log, and what it gets back. Message text only in `segments`.
import type { AuditEvent } from './audit-event.ts'
import type { RecordedSignature } from './recorded-decision.ts'
import type { RecordErasure } from './erasure-list.ts'

export type CheckOutcome = 'passed' | 'failed' | 'skipped'

/** The outcome of each check in the order of I6. `findings` is a count, never their text. */
export interface EntryVerdicts {
  readonly size: CheckOutcome
  readonly signature: CheckOutcome
  readonly schema: CheckOutcome
  readonly completeness: CheckOutcome
  readonly budget: CheckOutcome
  readonly safety: {
    readonly decision: 'allow' | 'flag' | 'reject' | 'skipped'
    readonly artefactId: string | null
    readonly findings: number
  }
}

/** Money is integer micro-USD. `spentMicroUSD` is the running total of the task, not a difference. */
export interface EntryCost {
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  readonly promptTokens: number
  readonly completionTokens: number
}

/**
 * What a text is: a message without the data of people, one person's data, what an execution answered, or what
 * its task came to.
 */
export const SEGMENT_KINDS = ['message', 'personal', 'result', 'task-result'] as const

/** Text that is stored encrypted beside the record. `subject` is the data subject's opaque id. */
export interface SegmentInput {
  readonly kind: (typeof SEGMENT_KINDS)[number]
  readonly subject: string | null
  /**
   * Two or more people whose data the text may repeat, instead of one `subject`: the text has a key that
   * only messages of exactly these people share, and is erased with any of them.
   */
  readonly subjects?: readonly string[]
  readonly text: string
}

/** All that an execution yielded while it ran: lower-case hex. */
export interface EntryStream {
  readonly chunks: number
  readonly sha256: string
}

/** A fan-out: what was asked of it, and how each of its branches had ended, in their order. */
export interface EntryFanOut {
  /** What becomes of it when a branch ends without a result. */
  readonly onFailure: 'wait' | 'skip' | 'fail'
  /** How many branches its join waited for; null where nothing joined. */
  readonly waitFor: number | null
  readonly branches: readonly EntryBranch[]
}

export interface EntryBranch {
  /** Its last handoff: what it came to stands in the record of that; null where none was sent. */
  readonly handoffId: string | null
  /** An upper-case state, and why. */
  readonly outcome: string
  readonly reason: string | null
}

/** What a person decided: who, and a fresh id, so that two people may decide the same. */
export interface EntryAct {
  readonly id: string
  /** The operator of the API key that was used, never a name taken from a message. */
  readonly actor: string
  /** Where only a person's signature brings it about; then the id is made from it. */
  readonly signed?: RecordedSignature
}

/** One fact of an operation: a code, and a name or a digest or both. */
export interface OperationDetail {
  readonly code: string
  readonly value: string | null
  /** Lower-case hex. */
  readonly sha256: string | null
}

/** What was done to the installation, or with what is protected, and by what right. Never any text. */
export interface EntryOperation {
  /** What it was done to: the id of a key, a tenant, a process, a kind of text. */
  readonly subject: string
  /** The id of an API key, the name of a token, or a role of the database. */
  readonly right: string
  /** From where it was asked for over a network. */
  readonly address: string | null
  readonly details: readonly OperationDetail[]
}

/** What a classifier outside said of a text beside the scanner, which it may only judge worse. */
export interface EntryClassifier {
  /** As the settings of the receiver call it. */
  readonly name: string
  /** As it calls itself; null where no answer counts. */
  readonly version: string | null
  readonly decision: 'allow' | 'flag' | 'reject' | null
  /** What the scanner said alone: what stands in the verdicts is the worse of the two. */
  readonly scanner: 'allow' | 'flag'
  /** Why no answer counts; null where one does. */
  readonly failure: string | null
}

/** One thing that happened to a handoff (E11). Everything but `segments` is structural. */
export interface AuditEntry {
  readonly event: AuditEvent
  readonly taskId: string
  readonly handoffId: string
  readonly parentHandoffId: string | null
  readonly attempt: number
  /** The execution's fencing token; part of the idempotency key. */
  readonly epoch: number
  readonly fromAgent: {
    readonly agentId: string
    readonly agentVersion: string
    readonly executionId: string
  }
  readonly toAgent: { readonly agentType: string; readonly agentVersion: string | null }
  readonly traceparent: string
  readonly verdicts: EntryVerdicts | null
  /** An upper-case reason or `BATON_*` code, or null. Never free text. */
  readonly reason: string | null
  readonly cost: EntryCost | null
  /** Whose task it is; only where that is not the default tenant. Its people have keys of their own in the vault. */
  readonly tenant?: string
  /** Only in decisions: the operator whose API key sent it, or sent what led to it, where one did. */
  readonly sentBy?: string
  /** Only where a person decided; then part of the idempotency key. */
  readonly act?: EntryAct
  /** Only in decisions, where a classifier outside is set and the scanner alone would not refuse. */
  readonly classifier?: EntryClassifier
  /** Only in decisions that would have counted more findings without them: the exemptions, by their names. */
  readonly exemptions?: readonly string[]
  /** Only in decisions, where a policy of the receiver judged worse than scanner and classifier: which. */
  readonly policy?: string
  /** Only where a release is given or made use of: its id. */
  readonly release?: string
  /** Only in records of what an execution came to, where it said which language model it used. */
  readonly model?: string
  /** Only in records of refusals at the door: how many such a record stands for. */
  readonly times?: number
  /** Only in decisions about a join: the last handoffs of the branches that it joins. */
  readonly joins?: readonly string[]
  /** Only in records of fan-outs that failed. */
  readonly fanOut?: EntryFanOut
  /** Only in records of completions with a stream: how many chunks, and SHA-256 over the SHA-256 of each. */
  readonly stream?: EntryStream
  /** Only in records of what was done to the installation, or with what is protected. */
  readonly operation?: EntryOperation
  /** Only in records of an erasure: what was erased. */
  readonly erasure?: RecordErasure
  readonly segments: readonly SegmentInput[]
}

/**
 * Proof that an entry is durable in the audit store. `recordHash` is lower-case hex; `duplicate`
 * says that the same entry had been recorded before and this is its first answer again.
 */
export interface Receipt {
  readonly origin: string
  readonly seq: number
  readonly recordHash: string
  readonly recordedAt: string
  readonly duplicate: boolean
}
