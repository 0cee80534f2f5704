// The audit store: its database, its append path and its readers. Everybody else uses the client, an entry of its own.
export { migrateAudit } from './migrate.ts'
export type { AuditPasswords, AuditUrls, MigratedAudit } from './migrate.ts'
export { createPool } from './database.ts'
export { inSnapshot } from './database.ts'
export type { Database, Pool, Snapshot } from './database.ts'
export { createSubjectVault } from './append/subject-vault.ts'
export type { SubjectKey, SubjectVault } from './append/subject-vault.ts'
export { AuditLog } from './append/audit-log.ts'
export type { AppendOutcome } from './append/audit-log.ts'
export { readHeads } from './append/heads.ts'
export type { ChainHead } from './append/heads.ts'
export { costOfTask, readTrace } from './read/read-trace.ts'
export type { TaskTrace, TraceRecord } from './read/read-trace.ts'
export { verifyChains } from './verify/verify-chains.ts'
export type { ChainReport, VerifyReport } from './verify/verify-chains.ts'
export { requireDurability } from './append/durability.ts'
export { extendPartitions } from './append/partitions.ts'
export { auditInvariants, findExcessPrivileges, findRecordHashes } from './read/invariants.ts'
export { checkGrowth } from './verify/check-growth.ts'
export {
  readChainCheckpoints,
  readLastSeal,
  readSeal,
  readWitnessed,
  scanSeals,
  storeSeal,
  storeWitnessed,
} from './seals/seals.ts'
export type { Seal } from './seals/seals.ts'
export type {
  Anchor,
  AnchoredCheckpoint,
  AnchoredHead,
  AnchorOutcome,
} from './seals/anchors/anchor.ts'
export { createFileAnchor, readFileAnchor } from './seals/anchors/file-anchor.ts'
export { createWitnessAnchor } from './seals/anchors/witness-anchor.ts'
export { readWitnessUrls } from './seals/anchors/witness-urls.ts'
export type { SealReport, SealTrust } from './verify/verify-seals.ts'
export { readSealedLog } from './seals/sealed-chains.ts'
export type { SealedLog } from './seals/sealed-chains.ts'
export { assuranceOf, readCoveredSizes, sealerKey } from './read/assurance.ts'
export type { Assurance, CoveredSizes } from './read/assurance.ts'
export { findOldestRecordTime, readTaskTotals } from './read/records.ts'
export type { TaskTotals } from './read/records.ts'
export { findTaskInTiers, hasExpired } from './cold/find-task-in-tiers.ts'
export { findReceiptRecords } from './append/idempotency.ts'
export { readScrubPosition, scrubPiece, storeScrubPosition } from './verify/scrub.ts'
export type { ScrubPass, ScrubPosition } from './verify/scrub.ts'
export { readTile } from './seals/tiles.ts'
export type { TiledLog } from './seals/tiles.ts'
export { createS3Anchor } from './seals/anchors/s3-anchor.ts'
export { isSettled, readEvidence } from './read/read-evidence.ts'
export type { HeldTaskReceipt, TaskEvidence } from './read/read-evidence.ts'
export type { Coverage } from './seals/published-seal.ts'
export { extendTreeHashes } from './seals/tree-reader.ts'
export type { ColdStore } from './cold/cold-store.ts'
export { COLD_STORE_SETTINGS, openColdStore } from './cold/settings.ts'
export { LogArchive } from './cold/log-archive.ts'
export { archiveLog } from './cold/archive-log.ts'
export { checkArchived } from './cold/check-archived.ts'
export { readArchiveTargets } from './cold/archive-targets.ts'
export type { ArchiveTarget } from './cold/archive-targets.ts'
export { expireChain } from './cold/expire-chain.ts'
export { dropEntry } from './cold/upkeep-records.ts'
export {
  dropDay,
  findDropObstacle,
  readArchivePositions,
  readDayRanges,
  readHotDays,
  readLegalHolds,
  readTaskIndex,
} from './cold/archive-positions.ts'
export { Eraser } from './erasure/eraser.ts'
export { findUndoneErasures, listErasures } from './erasure/erasures.ts'
export type {
  ColdSegments,
  Confirmed,
  ErasedStore,
  ErasureOutcome,
  ErasurePlan,
  Planned,
} from './erasure/erasure-types.ts'
export { readErasedLists } from './erasure/erased-segments.ts'
export type { ErasedList, SegmentAt } from './erasure/erased-segments.ts'
export type { Erasure, ErasureState, SubjectRecord } from './erasure/erasures.ts'
