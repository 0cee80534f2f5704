// Generated from the schemas by generate-types.ts; do not edit.

/**
 * RFC 3339 date and time with seconds and a zone, at most nine fraction digits.
 */
export type DateTime = string
/**
 * UUID version 4 in lower case.
 */
export type Uuid = string
/**
 * An identifier chosen by people: not empty, no control characters.
 */
export type Name = string
/**
 * A semantic version 2.0.0.
 */
export type Version = string
/**
 * A semantic version range, such as >=1.5.0.
 */
export type VersionRange = string
/**
 * What one check said.
 */
export type Check = 'passed' | 'failed' | 'skipped'
/**
 * Printable ASCII without spaces.
 */
export type Identifier = string

/**
 * One record of the tamper-evident log: structure only, no text of any message. Its hash is SHA-256 over 0x00 and the RFC 8785 bytes of this object.
 */
export interface DecisionRecord {
  /**
   * Version of the record format.
   */
  v: 1
  /**
   * The chain: base, environment, epoch of the log, shard.
   */
  origin: string
  /**
   * Position in the chain, without gaps.
   */
  seq: number
  /**
   * Hash of the record before it in the chain; zeros at 0.
   */
  previousRecordHash: string
  /**
   * UUID version 8 made from handoff, event and epoch; the idempotency key.
   */
  recordId: string
  recordedAt: DateTime
  /**
   * What happened.
   */
  event:
    | 'HANDOFF_ACCEPTED'
    | 'HANDOFF_REJECTED'
    | 'EXECUTION_STARTED'
    | 'EXECUTION_COMPLETED'
    | 'EXECUTION_FAILED'
    | 'ROLLED_BACK'
    | 'DEAD_LETTERED'
    | 'HUMAN_ESCALATED'
    | 'HANDOFF_EXPIRED'
    | 'HANDOFF_CANCELED'
    | 'HANDOFF_APPROVED'
    | 'APPROVAL_REFUSED'
    | 'RELEASE_APPROVED'
    | 'HANDOFF_RELEASED'
    | 'DEAD_LETTER_DISCARDED'
    | 'SENDER_ASKED'
    | 'HANDOFF_REDACTED'
    | 'HANDOFF_REVISED'
    | 'TASK_RESUMED'
    | 'HANDOFF_RETURNED'
    | 'HANDOFF_BLOCKED'
    | 'CANCEL_REQUESTED'
    | 'HANDOFF_REROUTED'
    | 'REDRIVE_STARTED'
    | 'REDRIVE_STOPPED'
    | 'ERASURE_REQUESTED'
    | 'ERASURE_COMPLETED'
    | 'ERASURE_DEFERRED'
    | 'EVIDENCE_EXPORTED'
    | 'VERIFY_RUN'
    | 'PARTITION_DROPPED'
    | 'LEGAL_HOLD_SET'
    | 'LEGAL_HOLD_LIFTED'
    | 'SEND_REFUSED'
    | 'FAN_OUT_FAILED'
    | 'API_KEY_MADE'
    | 'API_KEY_REVOKED'
    | 'TENANT_ADDED'
    | 'GRANT_MADE'
    | 'GRANT_REVOKED'
    | 'SETTINGS_CHANGED'
    | 'MIGRATIONS_APPLIED'
    | 'KEY_ROTATED'
    | 'TEXT_READ'
    | 'RULESET_ACTIVATED'
    | 'BACKUP_TAKEN'
    | 'RESTORED'
    | 'RESTORE_DRILLED'
  taskId: Uuid
  /**
   * Position among the records of the task.
   */
  taskSeq: number
  /**
   * Hash of the task's record before it; zeros at 0.
   */
  previousTaskRecordHash: string
  handoffId: Uuid
  /**
   * The handoff before it.
   */
  parentHandoffId: Uuid | null
  /**
   * Which delivery attempt.
   */
  attempt: number
  /**
   * Which execution epoch.
   */
  epoch: number
  fromAgent: AgentIdentity
  /**
   * The receiver.
   */
  toAgent: {
    agentType: Name
    /**
     * The version range asked for.
     */
    agentVersion: VersionRange | null
  }
  /**
   * W3C trace context, version 00, ids not zero.
   */
  traceparent: string
  /**
   * What each check said; null on events that judge nothing.
   */
  verdicts: Verdicts | null
  /**
   * Why it was refused or failed.
   */
  reason: string | null
  /**
   * The cost carried by the message, in millionths of a US dollar.
   */
  cost: Cost | null
  act?: Act
  erasure?: Erasure
  classifier?: Classifier
  /**
   * The policy of the receiver that judged worse than scanner and classifier; only where one did.
   */
  policy?: string
  /**
   * The exemptions that took findings of the scanner out of this decision, each a version 8 made from its terms; only where some did.
   */
  exemptions?: string[]
  release?: Uuid
  /**
   * Whose task it is; only where that is not the default tenant.
   */
  tenant?: string
  sentBy?: Name
  model?: Name
  /**
   * How many refusals at the door one record stands for; only in those.
   */
  times?: number
  /**
   * The last handoffs of the branches that a join brings together; only in decisions about one.
   */
  joins?: Uuid[]
  /**
   * The fan-out that failed; only in records of one.
   */
  fanOut?: {
    /**
     * What becomes of it when a branch ends without a result.
     */
    onFailure: 'wait' | 'skip' | 'fail'
    /**
     * How many branches its join waited for; null where nothing joined.
     */
    waitFor: number | null
    /**
     * How each branch had ended: by its last handoff, in whose records stands what it came to.
     */
    branches: {
      handoffId: Uuid | null
      outcome: string
      reason: string | null
    }[]
  }
  /**
   * What the execution yielded while it ran: how many chunks, and SHA-256 over the SHA-256 of each in their order; only where it yielded any.
   */
  stream?: {
    chunks: number
    sha256: string
  }
  operation?: Operation
  /**
   * Commitments to the segments kept apart.
   */
  payload: Segment[]
  keyIds: Keys
}
/**
 * The sending agent.
 */
export interface AgentIdentity {
  agentId: Name
  agentVersion: Version
  executionId: Uuid
}
/**
 * What each check said.
 */
export interface Verdicts {
  size: Check
  signature: Check
  schema: Check
  completeness: Check
  budget: Check
  safety: Safety
}
/**
 * What the scanner said.
 */
export interface Safety {
  /**
   * What the scanner decided.
   */
  decision: 'allow' | 'flag' | 'reject' | 'skipped'
  /**
   * Which rule set decided.
   */
  artefactId: string | null
  /**
   * How many findings there were.
   */
  findings: number
}
/**
 * Cost in integers.
 */
export interface Cost {
  /**
   * Spent so far.
   */
  spentMicroUSD: number
  /**
   * Budget left.
   */
  remainingMicroUSD: number
  /**
   * Tokens read.
   */
  promptTokens: number
  /**
   * Tokens written.
   */
  completionTokens: number
}
/**
 * What a person decided; only where one did. Part of the idempotency key.
 */
export interface Act {
  /**
   * Fresh for each decision; where it is signed, a version 8 made from the signature.
   */
  id: string
  actor: Name
  signed?: DecisionSignature
}
/**
 * The actor's own signature; only where nothing else brings the event about.
 */
export interface DecisionSignature {
  /**
   * The first 16 hex digits of SHA-256 over the person's raw public key.
   */
  keyId: string
  /**
   * By the clock of whoever signed.
   */
  signedAt: string
  /**
   * Salted SHA-256 of what was decided; the salt is erased with what was decided about.
   */
  content: string
  /**
   * Ed25519, in base64.
   */
  signature: string
}
/**
 * Only in records of an erasure: the subject whose key is destroyed, how many segments it had, and the digest of their sorted list.
 */
export interface Erasure {
  subjectRef: Uuid
  /**
   * How many.
   */
  segments: number
  /**
   * SHA-256 over one line `origin seq segment` for each segment, sorted.
   */
  listSha256: string
}
/**
 * What a classifier outside said of the text beside the scanner, which it may only judge worse; only in decisions, where one is set and the scanner alone would not refuse.
 */
export interface Classifier {
  name: Identifier
  /**
   * As it calls itself; null where no answer counts.
   */
  version: Identifier | null
  /**
   * What it said; null where no answer counts.
   */
  decision: 'allow' | 'flag' | 'reject' | null
  /**
   * What the scanner said alone; what stands in the verdicts is the worse of the two.
   */
  scanner: 'allow' | 'flag'
  /**
   * Why no answer counts.
   */
  failure: string | null
}
/**
 * What was done to the installation, or with what is protected, and by what right; only in records of such. Names, codes and digests, never text.
 */
export interface Operation {
  subject: Name
  right: Identifier
  /**
   * From where it was asked for over a network.
   */
  address: Identifier | null
  /**
   * Facts, each a code with a name or a digest.
   */
  details: {
    code: string
    value: Identifier | null
    sha256: string | null
  }[]
}
/**
 * A segment kept apart from the record.
 */
export interface Segment {
  /**
   * Position among the segments of the record.
   */
  segment: number
  /**
   * The message itself, personal data taken out of it, what an execution answered, or what its task came to.
   */
  kind: 'message' | 'personal' | 'result' | 'task-result'
  /**
   * Random reference of whose key encrypts the segment.
   */
  subjectRef: string
  /**
   * Salted commitment to the bytes.
   */
  commitment: string
  /**
   * How long the segment is.
   */
  bytes: number
  /**
   * How long its text is as it is stored, where it was compressed with zstd before it was encrypted.
   */
  zstdBytes?: number
}
/**
 * The keys in force when the record was made.
 */
export interface Keys {
  batch: Name
  wrap: Name
}
