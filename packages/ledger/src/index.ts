// The tamper-evident log as arithmetic: nothing here does I/O, and only node:crypto is needed.
export { EVENT_NUMBERS, DECISION_EVENTS, isAuditEvent } from './audit-event.ts'
export type { AuditEvent } from './audit-event.ts'
export type {
  AuditEntry,
  CheckOutcome,
  EntryAct,
  EntryCost,
  EntryVerdicts,
  Receipt,
  SegmentInput,
} from './audit-entry.ts'
export { checkEntry } from './check-entry.ts'
export type { CheckedEntry } from './check-entry.ts'
export type { EntryProblem } from './rules.ts'
export { LedgerError } from './ledger-error.ts'
export type { LedgerErrorCode } from './ledger-error.ts'
export { canonicalBytes, canonicalJson } from './canonical-json.ts'
export { recordId, recordIdBytes, formatUuid, uuidBytes } from './record-id.ts'
export { GENESIS_HASH, recordHash } from './record-hash.ts'
export { formatInstant, parseInstant } from './instant.ts'
export { formatOrigin } from './origin.ts'
export type { Origin } from './origin.ts'
export { shardOf } from './shard.ts'
export { BODY_BYTES_MAX, buildRecord, readRecord } from './record.ts'
export type {
  BuiltRecord,
  PayloadReference,
  RecordBody,
  RecordKeys,
  RecordPlace,
} from './record.ts'
export { columnsOf, differingColumns } from './record-columns.ts'
export type { RecordColumns } from './record-columns.ts'
export {
  commitment,
  openSegment,
  opensCommitment,
  saltText,
  sealSegment,
  textOf,
} from './segment.ts'
export type { SaltedText, SealedSegment, SegmentPlace } from './segment.ts'
export {
  batchKeyId,
  createBatchSigner,
  readBatchPublicKey,
  verifyBatch,
} from './batch-signature.ts'
export type { BatchSigner, BatchStatement } from './batch-signature.ts'
export { ChainVerifier } from './verify-chain.ts'
export type {
  StoredBatch,
  StoredHead,
  StoredIndex,
  StoredRecord,
  StoredSegment,
} from './stored-record.ts'
export type { Finding, FindingRule } from './finding.ts'
export { traceGaps } from './verify-task.ts'
export type { TraceGap } from './verify-task.ts'
export { taskCost } from './task-cost.ts'
export type { HopCost, TaskCost } from './task-cost.ts'
