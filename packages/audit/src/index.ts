// The audit store: its database, its append path, its readers, and the client everybody else uses.
export { createAuditClient } from './client.ts'
export type { AuditClient } from './client.ts'
export { migrateAudit } from './migrate.ts'
export type { AuditPasswords, AuditUrls, MigratedAudit } from './migrate.ts'
export { createPool } from './database.ts'
export { inSnapshot } from './database.ts'
export type { Database, Pool, Snapshot } from './database.ts'
export { createSubjectVault } from './subject-vault.ts'
export type { SubjectKey, SubjectVault } from './subject-vault.ts'
export { AuditLog } from './audit-log.ts'
export type { AppendOutcome } from './audit-log.ts'
export { readHeads } from './heads.ts'
export type { ChainHead } from './heads.ts'
export { costOfTask, readTrace } from './read-trace.ts'
export type { TaskTrace, TraceRecord } from './read-trace.ts'
export { verifyChains } from './verify-chains.ts'
export type { ChainReport, VerifyReport } from './verify-chains.ts'
export { requireDurability } from './durability.ts'
export { extendPartitions } from './partitions.ts'
export { findExcessPrivileges, findRecordHashes, invariantReads } from './invariants.ts'
export { readTaskTotals } from './task-sets.ts'
export type { TaskTotals } from './task-sets.ts'
export { checkGrowth } from './check-growth.ts'
export {
  readChainCheckpoints,
  readLastSeal,
  readSeal,
  readWitnessed,
  scanSeals,
  storeSeal,
  storeWitnessed,
} from './seals.ts'
export type { Seal } from './seals.ts'
export type { Anchor, AnchoredCheckpoint, AnchoredHead, AnchorOutcome } from './anchors/anchor.ts'
export { createFileAnchor, readFileAnchor } from './anchors/file-anchor.ts'
export { createWitnessAnchor } from './anchors/witness-anchor.ts'
export { readWitnessUrls } from './anchors/witness-urls.ts'
export type { SealReport, SealTrust } from './verify-seals.ts'
export { readSealedLog } from './sealed-chains.ts'
export type { SealedLog } from './sealed-chains.ts'
export { assuranceOf, readCoveredSizes, sealerKey } from './assurance.ts'
export type { Assurance, CoveredSizes } from './assurance.ts'
export { findOldestRecordTime } from './records.ts'
export { findTaskInTiers, hasExpired } from './cold/find-task-in-tiers.ts'
export { findReceiptRecords } from './idempotency.ts'
export { readScrubPosition, scrubPiece, storeScrubPosition } from './scrub.ts'
export type { ScrubPass, ScrubPosition } from './scrub.ts'
export { readTile } from './tiles.ts'
export type { TiledLog } from './tiles.ts'
export { createS3Anchor } from './anchors/s3-anchor.ts'
export { isSettled, readEvidence } from './read-evidence.ts'
export type { HeldTaskReceipt, TaskEvidence } from './read-evidence.ts'
export type { Coverage } from './published-seal.ts'
export { extendTreeHashes } from './tree-reader.ts'
export type { ColdStore } from './cold/cold-store.ts'
export { COLD_STORE_SETTINGS, openColdStore } from './cold/settings.ts'
export { LogArchive } from './cold/log-archive.ts'
export { archiveLog } from './cold/archive-log.ts'
export { checkArchived } from './cold/check-archived.ts'
export { readArchiveTargets } from './cold/archive-targets.ts'
export type { ArchiveTarget } from './cold/archive-targets.ts'
export { expireChain } from './cold/expire-chain.ts'
export { dropEntry } from './upkeep-records.ts'
export {
  dropDay,
  findDropObstacle,
  readArchivePositions,
  readDayRanges,
  readHotDays,
  readLegalHolds,
  readTaskIndex,
} from './cold/archive-positions.ts'
export { Eraser } from './eraser.ts'
export { listErasures } from './erasures.ts'
export { findUndoneErasures } from './undone-erasures.ts'
export type {
  ColdSegments,
  Confirmed,
  ErasedStore,
  ErasureOutcome,
  ErasurePlan,
  Planned,
} from './erasure-types.ts'
export { readErasedLists } from './erased-segments.ts'
export type { ErasedList, SegmentAt } from './erased-segments.ts'
export type { Erasure, ErasureState, SubjectRecord } from './erasures.ts'
