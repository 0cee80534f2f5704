// The audit store: its database, its append path and its readers. Everybody else uses the client, an entry of its own.
export { auditMigrations, migrateAudit, planAudit } from './migrate.ts'
export type { AuditUrls } from './migrate.ts'
export { createPool, createSizeWatch, inSnapshot } from './database.ts'
export type { Pool, Snapshot } from './database.ts'
export { createSubjectVault } from './append/subject-vault.ts'
export { createKmsWrappingKey } from './append/kms-wrapping-key.ts'
export { openWrappingKeys } from './append/open-wrapping-key.ts'
export {
  createVaultRotation,
  readVaultProgress,
  requireVaultKeys,
} from './rotation/rotate-vault.ts'
export type { VaultProgress } from './rotation/rotate-vault.ts'
export { createLocalWrappingKey } from './append/wrapping-key.ts'
export type { WrappingKey } from './append/wrapping-key.ts'
export type { SubjectVault } from './append/subject-vault.ts'
export { createLogClock, readDatabaseClock } from './append/log-clock.ts'
export type { LogClock } from './append/log-clock.ts'
export { createAuditLog } from './append/audit-log.ts'
export type { AppendOutcome, AuditLog } from './append/audit-log.ts'
export { readHeads } from './append/heads.ts'
export type { ChainHead } from './append/heads.ts'
export { costOfTask, presenceOf, readTrace } from './read/read-trace.ts'
export type { TaskTrace, TraceRecord } from './read/read-trace.ts'
export { checkRows, unknownColumns, viewOf } from './read/view-rows.ts'
export type { RowFinding, ShownRow, ViewName } from './read/view-rows.ts'
export { verifyChains } from './verify/verify-chains.ts'
export type { VerifyReport } from './verify/verify-report.ts'
export { compareDefinitions } from './verify/definitions.ts'
export type { DefinitionReport } from './verify/definitions.ts'
export { extendPartitions, requireDurability } from './append/preconditions.ts'
export { auditInvariants, findExcessPrivileges, findRecordHashes } from './read/invariants.ts'
export { checkConsistency, readSealedLog } from './verify/sealed-chains.ts'
export type { SealedLog } from './verify/sealed-chains.ts'
export {
  readChainCheckpoints,
  proposeSeal,
  publishSeal,
  readLastSeal,
  readProposedSeal,
  readSeal,
  readWitnessed,
  scanSeals,
  storeWitnessed,
} from './seals/seals.ts'
export type { Seal, SealRow, StoredSeal } from './seals/seals.ts'
export { readSealers, releaseSealLease, renewSealLease, takeSealLease } from './seals/seal-lease.ts'
export type { HeldLease, SealersSeen } from './seals/seal-lease.ts'
export type {
  Anchor,
  AnchorOutcome,
  AnchoredCheckpoint,
  AnchoredHead,
  AnchoredLog,
} from './seals/anchors/anchor.ts'
export { createFileAnchor, readFileAnchor } from './seals/anchors/file-anchor.ts'
export { readSealKeys, sealLogKeys } from './seals/read-seal-keys.ts'
export type { SealLogKeys } from './seals/read-seal-keys.ts'
export { createWitnessAnchor, readWitnessUrls } from './seals/anchors/witness-anchor.ts'
export type { Comparison, SealTrust } from './verify/ask-outside.ts'
export { openSealTrust, requireSealTrust } from './seals/anchors/open-anchors.ts'
export type { SealWatchSettings, SeenOutsideSettings } from './settings.ts'
export { readCoveredSizes, sealerKey } from './read/assurance.ts'
export { isWitnessed } from './read/quorum.ts'
export type { Assurance, CoveredSizes, SignedHead } from './read/assurance.ts'
export { readDrillAge, storePassedDrill } from './read/last-drill.ts'
export { findOldestRecordTime, readTaskTotals } from './read/records.ts'
export type { TaskTotals } from './read/records.ts'
export { findTaskInTiers, hasExpired } from './cold/read-task.ts'
export { findReceiptRecords } from './append/idempotency.ts'
export { readScrubPosition, scrubPiece, storeScrubPosition } from './verify/scrub.ts'
export type { ScrubPass, ScrubPosition } from './verify/scrub.ts'
export { readTile } from './seals/tiles.ts'
export type { TiledLog } from './seals/tiles.ts'
export { extendTaskMap } from './seals/extend-task-map.ts'
export type { ExtendedTaskMap } from './seals/extend-task-map.ts'
export { isTaskMapWhole, pruneTaskMap, readTaskMapNodes } from './seals/task-map.ts'
export { loadS3Anchor } from './seals/anchors/s3-anchor.ts'
export { isSettled, readEvidence } from './read/read-evidence.ts'
export type { HeldTaskReceipt, TaskEvidence } from './read/read-evidence.ts'
export { extendTreeHashes } from './seals/tree-reader.ts'
export { openBucket } from './s3-bucket.ts'
export type { Bucket } from './s3-bucket.ts'
export type { ColdStore } from './cold/cold-store.ts'
export { openColdStore } from './cold/open-cold-store.ts'
export { openLogArchive } from './cold/log-archive.ts'
export type { LogArchive } from './cold/log-archive.ts'
export { archiveLog, readArchiveTargets } from './cold/archive-log.ts'
export { publishHead } from './cold/cold-head.ts'
export type { ArchiveTarget } from './cold/archive-log.ts'
export { checkArchived } from './cold/check-archived.ts'
export { createColdWatch } from './cold/cold-watch.ts'
export type { ColdWatch, ProvenRoot } from './cold/cold-watch.ts'
export { readColdWatch, readFirstColdFaults } from './cold/cold-faults.ts'
export type { ColdFault, ColdWatchPosition } from './cold/cold-faults.ts'
export { mendColdStore } from './cold/mend-cold.ts'
export { expireChain } from './cold/expire-chain.ts'
export { proveMarkedExpiry } from './read/prove-expiry.ts'
export { isRetentionOver } from './cold/retention-age.ts'
export { dropEntry } from './cold/retention-records.ts'
export {
  dropDay,
  findDropObstacle,
  readArchivePositions,
  readDayRanges,
  readHotDays,
  readLegalHolds,
} from './cold/archive-positions.ts'
export { createEraser } from './erasure/eraser.ts'
export { COUNTED_MAX, POSITION_PATTERN } from '@baton/postgres/list-positions'
export type { Eraser, ErasureOutcome, ErasurePlan, KnownErasure } from './erasure/eraser.ts'
export type { ErasedStore } from './erasure/reach.ts'
export { receiptStatement, withSigners } from './erasure/signed-erasure.ts'
export type { ErasureSigner } from './erasure/signed-erasure.ts'
export { createHoldFinder } from './erasure/find-holds.ts'
export type { HoldFinder, HoldsLooked } from './erasure/find-holds.ts'
export { findHeldTasks, findTasksToAsk, isHeldBy, listHolds } from './erasure/held-tasks.ts'
export type { HeldTasks } from './erasure/held-tasks.ts'
export { LOG_TABLES_WITH_TEXT, VAULT_TABLES_WITH_KEYS } from './erasure/storage-left.ts'
export { findIncompleteErasures, listErasures } from './erasure/erasures.ts'
export type { Erasure, ErasureState } from './erasure/erasures.ts'
export {
  findForgottenErasures,
  readErasureJournal,
  repeatErasure,
} from './erasure/erasure-journal.ts'
export type { JournalledErasure } from './erasure/erasure-journal.ts'
export { createFileColdStore } from './cold/file-cold-store.ts'
export { requireFinishedRestore } from './append/preconditions.ts'
export { readSealerKnowledge } from './seals/sealer-state.ts'
export { readErasedLists } from './erasure/erased-segments.ts'
export { COST_KEYS, readCosts } from './search/read-costs.ts'
export type { CostKey, CostPage } from './search/read-costs.ts'
export { deciderOf } from './search/criteria.ts'
export type { Criteria } from './search/criteria.ts'
export type { Looked, SearchPosition } from './search/open-walks.ts'
export { searchLog } from './search/search-log.ts'
export type { SearchHit } from './search/search-log.ts'
export { findSubjectRefs } from './erasure/erasure-keys.ts'
export { followLog } from './read/follow-log.ts'
export type { ChainPosition } from './read/follow-log.ts'
export { readRetention } from './search/read-retention.ts'
