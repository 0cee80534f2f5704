// The table of checks. A verification runs all of them; a test may take one out and see what slips by.
import type { CheckId } from './check-titles.ts'
import type { Check } from './check.ts'
import * as container from './checks/container.ts'
import * as payloads from './checks/payloads.ts'
import * as records from './checks/records.ts'
import * as seal from './checks/seal.ts'
import * as service from './checks/service.ts'
import { checkTaskEnd } from './checks/task-end.ts'

export const CHECKS: Readonly<Record<CheckId, Check>> = {
  CONTAINER: container.checkContainer,
  MANIFEST_DIGEST: container.checkManifestDigest,
  VERSION: container.checkVersion,
  MANIFEST: container.checkManifest,
  EXPORTER_SIGNATURE: container.checkExporterSignature,
  RECORD_FORM: records.checkRecordForm,
  RECORD_CANONICAL: records.checkRecordCanonical,
  RECORD_ORDER: records.checkRecordOrder,
  RECORD_TASK: records.checkRecordTask,
  RECORD_HASH: records.checkRecordHash,
  RECORD_LINK: records.checkRecordLink,
  TASK_LINK: records.checkTaskLink,
  INCLUSION: seal.checkInclusion,
  CHAIN_CHECKPOINT: seal.checkChainCheckpoint,
  SEAL_ENTRY: seal.checkSealEntry,
  SEAL_INCLUSION: seal.checkSealInclusion,
  SEAL_SIGNATURE: seal.checkSealSignature,
  WITNESS_QUORUM: seal.checkWitnessQuorum,
  SEAL_TIME: seal.checkSealTime,
  BATCH_SIGNATURE: service.checkBatchSignature,
  RECEIPT: service.checkReceipt,
  ERASURE: payloads.checkErasure,
  PAYLOAD: payloads.checkPayload,
  TASK_END: checkTaskEnd,
}
