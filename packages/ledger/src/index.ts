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
export { recordId, recordIdBytes } from './record.ts'
export { formatUuid, UUID, uuidBytes, uuidOfDigest } from './uuid.ts'
export { GENESIS_HASH, recordHash } from './record.ts'
export { formatInstant, parseInstant } from './instant.ts'
export { formatOrigin, sealLogOrigin } from './origin.ts'
export type { Origin } from './origin.ts'
export { shardOf } from './origin.ts'
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
export type { BatchSigner } from './batch-signature.ts'
export type { BatchStatement } from './batch-statement.ts'
export { compareSegments, erasureOf } from './erasure-list.ts'
export { judgeSegments } from './verify-segments.ts'
export type { JudgedSegment, SegmentVerdict } from './verify-segments.ts'
export type { RecordErasure, SegmentPlaceTuple } from './erasure-list.ts'
export { createChainVerifier } from './verify-chain.ts'
export type { ChainVerifier } from './verify-chain.ts'
export type {
  ChainStart,
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
export {
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  fromBase64,
  fromHex,
  toBase64,
  toHex,
} from './bytes.ts'
export { EMPTY_ROOT, hashChildren, hashLeaf, rootOf } from './tree/hash.ts'
export { foldNodes, nodesOfRange } from './tree/nodes.ts'
export type { HashReader, TreeNode } from './tree/nodes.ts'
export {
  compactRangeFromNodes,
  compactRangeFromState,
  createCompactRange,
} from './tree/compact-range.ts'
export type { CompactRange, TreeState } from './tree/compact-range.ts'
export {
  planConsistency,
  planInclusion,
  proveConsistency,
  proveInclusion,
  readRoot,
} from './tree/prove.ts'
export type { ProofPlan } from './tree/prove.ts'
export { rootFromInclusion, verifyConsistency, verifyInclusion } from './tree/verify.ts'
export type { ConsistencyClaim, InclusionClaim } from './tree/verify.ts'
export { formatVerifierKey, readVerifierKey, SIGNATURE_TYPES, verifierKey } from './note/key.ts'
export type { SignatureType, VerifierKey } from './note/key.ts'
export { formatNote, formatSignature, openNote, splitNote } from './note/note.ts'
export type {
  NoteFault,
  NoteSignature,
  OpenedNote,
  SplitNote,
  VerifiedSignature,
} from './note/note.ts'
export { createCosigner, createNoteSigner, signNote } from './note/signer.ts'
export type { Cosigner, NoteSigner } from './note/signer.ts'
export { formatCheckpoint, parseCheckpoint, readDecimal } from './tlog/checkpoint.ts'
export type { Checkpoint } from './tlog/checkpoint.ts'
export { formatTlogProof, parseTlogProof } from './tlog/proof.ts'
export type { TlogProof } from './tlog/proof.ts'
export { meetsQuorum, parsePolicy } from './tlog/policy.ts'
export type { ParsedPolicy, Policy } from './tlog/policy.ts'
export {
  decodeEntryBundle,
  decodeHashTile,
  encodeEntryBundle,
  encodeHashTile,
  newTiles,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tileWidth,
} from './tlog/tile.ts'
export type { Tile } from './tlog/tile.ts'
export { tileHashReader } from './tlog/tile-reader.ts'
export { formatSealEntry, readSealEntry, sealFault } from './seal-entry.ts'
export type { SealedChain, SealEntry, SealFault } from './seal-entry.ts'
export { rootFromSubset, planSubset, proveSubset, verifySubset } from './tree/subset.ts'
export type { SubsetClaim } from './tree/subset.ts'
export { parseAuditorPolicy } from './bundle/auditor-policy.ts'
export type { AuditorPolicy, ParsedAuditorPolicy } from './bundle/auditor-policy.ts'
export { proveChain } from './bundle/write.ts'
export { BUNDLE_FORMAT } from './bundle/format.ts'
export type {
  BundleBatch,
  BundlePayload,
  BundleReceipt,
  ChainProof,
  ErasureList,
} from './bundle/format.ts'
export { BUNDLE_MARK, writeBundle } from './bundle/write.ts'
export type { BundleParts } from './bundle/write.ts'
export { EXIT_CODES, formatReport } from './bundle/format-report.ts'
export { verifyBundle } from './bundle/verify.ts'
export type {
  BundleFinding,
  BundleReport,
  CheckReport,
  CheckResult,
  SegmentReport,
  SegmentStatus,
} from './bundle/report.ts'
export type { CheckId } from './bundle/checks.ts'
