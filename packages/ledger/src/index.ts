// The tamper-evident log as arithmetic: nothing here does I/O, and only node:crypto is needed.
export { EVENT_NUMBERS } from './audit-event.ts'
export type { AuditEvent } from './audit-event.ts'
export type {
  AuditEntry,
  EntryClassifier,
  EntryOperation,
  EntryVerdicts,
  OperationDetail,
  Receipt,
  SegmentInput,
} from './audit-entry.ts'
export { checkEntry, SEGMENT_CHARACTERS_MAX } from './check-entry.ts'
export { isName } from './rules.ts'
export {
  fact,
  facts,
  OPERATION_EVENTS,
  operationEntry,
  earlierTaskOfSettings,
  sameUuid,
  taskOfOperations,
  taskOfRefusals,
  taskOfSettings,
} from './operation.ts'
export type { Operation, OperationEvent } from './operation.ts'
export { exemptionFault, exemptionId, readExemptionSignature, signExemption } from './exemption.ts'
export type { ExemptionSignature, ExemptionTerms } from './exemption.ts'
export { peopleFacts, waiverFacts } from './settings-facts.ts'
export { HANDOFF_KEY, namedBy, readKeyRotation, rotationFacts } from './key-rotation.ts'
export type { KeyRotation, RotatedKey } from './key-rotation.ts'
export {
  DEFAULT_TENANT,
  isTenantName,
  OPERATOR,
  OPERATOR_NAME,
  TENANT,
  tenantOfOperator,
} from './tenant-names.ts'
export type { EntryProblem } from './rules.ts'
export { LedgerError } from './ledger-error.ts'
export { canonicalBytes, canonicalJson } from './canonical-json.ts'
export {
  recordId,
  recordIdBytes,
  GENESIS_HASH,
  recordHash,
  buildRecord,
  readRecord,
} from './record.ts'
export type { PayloadReference, RecordBody } from './record.ts'
export { formatUuid, UUID, uuidBytes, uuidOfDigest } from './uuid.ts'
export { formatInstant, parseInstant } from './instant.ts'
export { formatOrigin, sealLogOrigin, shardOf } from './origin.ts'
export { columnsOf, differingColumns } from './record-columns.ts'
export type { RecordColumns } from './record-columns.ts'
export { encryptSegment, openSegment, packText, saltText } from './segment.ts'
export type { EncryptedSegment, PackedText, SaltedText } from './segment.ts'
export {
  batchKeyId,
  createBatchSigner,
  readBatchPublicKey,
  verifyBatch,
} from './batch-signature.ts'
export type { BatchSigner } from './batch-signature.ts'
export {
  arrivalFault,
  decisionFault,
  digestOf,
  formatNeeded,
  formatSigned,
  parseNeeded,
  parseSigned,
  readDecisionSigner,
  recorded,
  signDecision,
} from './decision.ts'
export type { DecisionSignature, DecisionSigner } from './decision.ts'
export { actIdOf, DECIDED_AS, endedFault, entryFault, isDecision } from './recorded-decision.ts'
export type {
  Decision,
  DecisionEvent,
  DecisionFault,
  RecordedSignature,
} from './recorded-decision.ts'
export { createDecisionJudge } from './judge-decisions.ts'
export { LISTED_AS } from './listed-people.ts'
export { peopleEntries } from './people-entries.ts'
export type { DecisionFinding, DecisionTally } from './judge-decisions.ts'
export { erasureConfirmation, erasureFault, erasureRequest } from './erasure-decision.ts'
export type { SignedErasure } from './erasure-decision.ts'
export { entryOfKey, NOBODY, parsePeople, personEntry, personKeyId, ROLES } from './people.ts'
export type { People, Role } from './people.ts'
export { erasureOf } from './erasure-list.ts'
export type { SegmentPlaceTuple } from './erasure-list.ts'
export { judgeSegments } from './verify-segments.ts'
export type { SegmentVerdict } from './verify-segments.ts'
export { createChainVerifier } from './verify-chain.ts'
export type {
  ChainStart,
  StoredBatch,
  StoredIndex,
  StoredRecord,
  StoredSegment,
} from './stored-record.ts'
export { bySeverity, FINDING_RULES, LOG_VERDICTS, verdictOf } from './finding.ts'
export type { Finding, FindingRule, LogVerdict } from './finding.ts'
export { traceGaps } from './verify-task.ts'
export type { TraceGap } from './verify-task.ts'
export { taskCharges, taskCost } from './task-cost.ts'
export type { Charge, TaskCost, Tokens } from './task-cost.ts'
export {
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  fromBase64,
  fromHex,
  toBase64,
  toHex,
} from './bytes.ts'
export { EMPTY_ROOT, hashLeaf, rootOf } from './tree/hash.ts'
export { nodesOfRange } from './tree/nodes.ts'
export type { HashReader, TreeNode } from './tree/nodes.ts'
export {
  compactRangeFromNodes,
  compactRangeFromState,
  createCompactRange,
} from './tree/compact-range.ts'
export type { CompactRange, TreeState } from './tree/compact-range.ts'
export { proveConsistency, proveInclusion } from './tree/prove.ts'
export { verifyConsistency, verifyInclusion } from './tree/verify.ts'
export { formatVerifierKey, readVerifierKey, SIGNATURE_TYPES, verifierKey } from './note/key.ts'
export type { VerifierKey } from './note/key.ts'
export { formatNote, formatSignature, openNote, splitNote } from './note/note.ts'
export { createCosigner, createNoteSigner, signNote } from './note/signer.ts'
export type { Cosigner, NoteSigner } from './note/signer.ts'
export { formatCheckpoint, parseCheckpoint, readDecimal } from './tlog/checkpoint.ts'
export type { Checkpoint } from './tlog/checkpoint.ts'
export { formatTlogProof } from './tlog/proof.ts'
export { meetsQuorum, parsePolicy, policyItems, policyLines } from './tlog/policy.ts'
export type { Policy } from './tlog/policy.ts'
export {
  decodeEntryBundle,
  decodeHashTile,
  encodeEntryBundle,
  encodeHashTile,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tileWidth,
} from './tlog/tile.ts'
export type { Tile } from './tlog/tile.ts'
export { tileHashReader } from './tlog/tile-reader.ts'
export { formatSealEntry, HANDOVERS_MAX, readSealEntry, sealFault } from './seal-entry.ts'
export type { SealedChain, SealedTasks, SealEntry } from './seal-entry.ts'
export {
  HANDOVER_FAULTS,
  openSealNote,
  resolveSealKeys,
  sealKeysOf,
  singleSealKey,
} from './seal-keys.ts'
export type { HandoverEvidence, HandoverFault, ProvenHandover, SealKeys } from './seal-keys.ts'
export { signHandover } from './handover.ts'
export {
  changeTaskMap,
  EMPTY_TASK_MAP,
  findTaskEnd,
  missingTaskMapNodes,
  openTaskMapNode,
  taskMapPath,
  taskMapStart,
} from './task-map.ts'
export type { TaskEnd, TaskLookup, TaskMapNodes } from './task-map.ts'
export { proveSubset, rootFromSubset } from './tree/subset.ts'
export { parseAuditorPolicy } from './bundle/auditor-policy.ts'
export type { AuditorPolicy } from './bundle/auditor-policy.ts'
export { proveTaskEnds } from './bundle/task-ends.ts'
export { proveChain, writeBundle } from './bundle/write.ts'
export type { BundleParts } from './bundle/write.ts'
export type {
  BundleBatch,
  BundlePayload,
  BundleReceipt,
  ChainProof,
  TaskEndsProof,
} from './bundle/format.ts'
export { exportedLine } from './bundle/format.ts'
export { EXIT_CODES } from './bundle/format-report.ts'
export { isEndOpen } from './bundle/not-excluded.ts'
export { verifyBundle } from './bundle/verify.ts'
export type { BundleFinding, BundleReport, CheckReport, ProvenEnd } from './bundle/report.ts'
