// The tamper-evident log as arithmetic: nothing here does I/O, and only node:crypto is needed.
export { EVENT_NUMBERS, DECISION_EVENTS, isAuditEvent } from './audit-event.ts'
export type { AuditEvent } from './audit-event.ts'
export type {
  AuditEntry,
  CheckOutcome,
  EntryCost,
  EntryVerdicts,
  Receipt,
  SegmentInput,
} from './audit-entry.ts'
export { LedgerError } from './ledger-error.ts'
export type { LedgerErrorCode } from './ledger-error.ts'
export { recordId, recordIdBytes, formatUuid, uuidBytes } from './record-id.ts'
