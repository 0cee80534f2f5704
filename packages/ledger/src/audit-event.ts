// What can be recorded. Names and numbers are frozen: they stand in stored records and columns.

/** Event name to column number. Numbers are never reused; 30 and 31 were named once and never written. */
export const EVENT_NUMBERS = {
  HANDOFF_ACCEPTED: 1,
  HANDOFF_REJECTED: 2,
  EXECUTION_STARTED: 3,
  EXECUTION_COMPLETED: 4,
  EXECUTION_FAILED: 5,
  ROLLED_BACK: 6,
  DEAD_LETTERED: 7,
  HUMAN_ESCALATED: 8,
  HANDOFF_EXPIRED: 9,
  HANDOFF_CANCELED: 10,
  HANDOFF_APPROVED: 11,
  APPROVAL_REFUSED: 12,
  /** One reviewer's vote for a release. */
  RELEASE_APPROVED: 13,
  HANDOFF_RELEASED: 14,
  DEAD_LETTER_DISCARDED: 15,
  SENDER_ASKED: 16,
  HANDOFF_REDACTED: 17,
  HANDOFF_REVISED: 18,
  TASK_RESUMED: 19,
  ERASURE_REQUESTED: 20,
  ERASURE_COMPLETED: 21,
  ERASURE_DEFERRED: 22,
  HANDOFF_RETURNED: 24,
  HANDOFF_BLOCKED: 25,
  CANCEL_REQUESTED: 26,
  HANDOFF_REROUTED: 27,
  /** Stands with the first letter that a bulk re-drive took; its act is the re-drive. */
  REDRIVE_STARTED: 28,
  /** By a person, before it had ended. */
  REDRIVE_STOPPED: 29,
  EVIDENCE_EXPORTED: 32,
  VERIFY_RUN: 33,
  /** A day of records stands in the cold store alone from now on. */
  PARTITION_DROPPED: 35,
  LEGAL_HOLD_SET: 36,
  LEGAL_HOLD_LIFTED: 37,
  /** At the door, before anything of it was stored; `times` of them. */
  SEND_REFUSED: 38,
  /** Stands with the handoff that fanned out. */
  FAN_OUT_FAILED: 39,
  API_KEY_MADE: 40,
  API_KEY_REVOKED: 41,
  TENANT_ADDED: 42,
  GRANT_MADE: 43,
  GRANT_REVOKED: 44,
  /** A process began with other people, keys or witnesses than the one before it. */
  SETTINGS_CHANGED: 45,
  MIGRATIONS_APPLIED: 46,
  KEY_ROTATED: 47,
  /** Protected text was shown: quarantined messages, checkpoints, returns, what waits for an agent. */
  TEXT_READ: 48,
  /** A kind of process judges by another scanner than before: another model, or another version of the package. */
  RULESET_ACTIVATED: 49,
  /** Names the digest of its manifest, so that the log proves a backup. */
  BACKUP_TAKEN: 50,
  /** The databases were put back from a backup: what is missing since, and what was erased again. */
  RESTORED: 51,
  /** A backup was restored beside the instance, verified and thrown away. */
  RESTORE_DRILLED: 52,
} as const

export type AuditEvent = keyof typeof EVENT_NUMBERS

export const isAuditEvent = (value: unknown): value is AuditEvent =>
  typeof value === 'string' && Object.hasOwn(EVENT_NUMBERS, value)
