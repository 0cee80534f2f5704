// Generated from the schemas by generate-types.ts; do not edit.

/**
 * UUID version 4 in lower case.
 */
export type Uuid = string
/**
 * RFC 3339 date and time with seconds and a zone, at most nine fraction digits.
 */
export type DateTime = string
/**
 * An identifier chosen by people: not empty, no control characters.
 */
export type Name = string

/**
 * A handoff that waits for a person: why, since when, and the exact bytes that were refused.
 */
export interface DeadLetter {
  /**
   * Version of this document.
   */
  deadLetterVersion: 1
  deadLetterId: Uuid
  handoffId: Uuid
  taskId: Uuid
  /**
   * Why it is here; POISON is a handoff that keeps killing its receiver, UNRECORDABLE one that the audit store never takes.
   */
  reason: 'SAFETY_VIOLATION' | 'SIGNATURE_INVALID' | 'POISON' | 'UNRECORDABLE'
  /**
   * What was wrong, where, and how to mend it.
   */
  details: Detail[]
  /**
   * How often it was delivered.
   */
  attempts: number
  /**
   * The execution epoch that refused it.
   */
  epoch: number
  deadLetteredAt: DateTime
  /**
   * Which scanner artefact judged it.
   */
  artefactId?: string
  /**
   * The quarantined message.
   */
  body: {
    /**
     * SHA-256 of the refused bytes.
     */
    sha256: string
    /**
     * The refused bytes in base64.
     */
    bytes: string
    /**
     * The key named by the delivery.
     */
    keyId: string
    /**
     * The signature that came with them.
     */
    signature: string
  }
  /**
   * What a person decided; null while it waits.
   */
  review: Review | null
}
/**
 * One thing that is wrong.
 */
export interface Detail {
  /**
   * JSON pointer of the place.
   */
  pointer: string
  /**
   * The rule that was broken.
   */
  rule: string
  /**
   * What is wrong.
   */
  message: string
  /**
   * How to mend it.
   */
  fix: string
  /**
   * What would have been accepted.
   */
  expected?: string
}
/**
 * A person's decision.
 */
export interface Review {
  /**
   * Released lets the handoff go once; confirmed closes it.
   */
  decision: 'released' | 'confirmed'
  reviewer: Name
  decidedAt: DateTime
  /**
   * Why.
   */
  note?: string
}
