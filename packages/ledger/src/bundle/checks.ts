// One check of a bundle: it sees every record once, and writes down what is wrong.
import * as container from './checks/container.ts'
import { checkDecisions } from './checks/decisions.ts'
import { checkJoined } from './checks/joined.ts'
import * as payloads from './checks/payloads.ts'
import * as records from './checks/records.ts'
import * as seal from './checks/seal.ts'
import * as service from './checks/service.ts'
import { checkTaskComplete } from './checks/task-complete.ts'
import { checkTaskEnd } from './checks/task-end.ts'
import type { Evidence } from './evidence.ts'
import type { EvidenceRecord } from './records.ts'
import type { CheckLog, LaterRecord, SegmentReport } from './report.ts'

export const CHECK_TITLES = {
  CONTAINER: 'The container holds its files and not one byte more',
  MANIFEST_DIGEST: 'The manifest and its signature are the ones that were written',
  VERSION: 'The bundle is of a version that this verifier knows',
  MANIFEST: 'Every file is listed, and has the listed size and digest',
  EXPORTER_SIGNATURE: 'Who exported the bundle signed its manifest',
  RECORD_FORM: 'Every record can be read',
  RECORD_CANONICAL: 'Every record has the one form that its content may have',
  RECORD_ORDER: 'Records stand in the order of their chain, each once',
  RECORD_TASK: 'Every record belongs to the task',
  RECORD_HASH: 'Every record has the hash that the bundle lists for it',
  RECORD_LINK: 'Neighbouring records of a chain are linked',
  TASK_LINK: 'No record of the task is missing from its middle, and none is changed',
  INCLUSION: 'Every record stands in the sealed tree of its chain',
  CHAIN_CHECKPOINT: 'Checkpoints of the chains agree with the seal',
  SEAL_ENTRY: 'The seal can be read and lists the chains',
  SEAL_INCLUSION: 'The seal stands in the seal log',
  SEAL_SIGNATURE: 'A log of your policy signed the seal log',
  WITNESS_QUORUM: 'The witnesses of your policy saw the seal log',
  SEAL_TIME: 'Records, seal and witnesses agree on the time',
  BATCH_SIGNATURE: 'An append service of your policy recorded every record',
  RECEIPT: 'Every receipt has its record',
  ERASURE: 'Every erasure says exactly what it erased',
  PAYLOAD: 'Every text is what its record committed to, or is lawfully erased',
  DECISIONS: 'People of your policy signed what they decided, and enough of them',
  JOINED: 'Every join was given what its branches came to',
  TASK_END: 'Every accepted handoff has an end',
  TASK_COMPLETE: 'No record is missing at the end of the task',
} as const

export type CheckId = keyof typeof CHECK_TITLES

export interface CheckVisitor {
  /** Called with each record of the task, then with each erasure record. */
  readonly record?: (record: EvidenceRecord) => void
  readonly end?: () => void
}

export interface CheckContext {
  readonly evidence: Evidence
  readonly log: CheckLog
  /** For the report: what became of each segment. */
  readonly segments: SegmentReport[]
  /** For the report: how far the ends of the tasks are known. */
  readonly end: FoundEnd
}

export interface FoundEnd {
  until: string | null
  readonly later: LaterRecord[]
  readonly absent: string[]
}

/** Begins a check; what needs no record is done at once. */
export type Check = (context: CheckContext) => CheckVisitor

export type CheckTable = Readonly<Partial<Record<CheckId, Check>>>

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
  DECISIONS: checkDecisions,
  JOINED: checkJoined,
  TASK_END: checkTaskEnd,
  TASK_COMPLETE: checkTaskComplete,
}
