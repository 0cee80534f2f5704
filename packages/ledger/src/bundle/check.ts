// One check of a bundle: it sees every record once, and writes down what is wrong.
import type { CheckId } from './check-titles.ts'
import type { Evidence } from './evidence.ts'
import type { EvidenceRecord } from './records.ts'
import type { CheckLog, SegmentReport } from './report.ts'

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
}

/** Begins a check; what needs no record is done at once. */
export type Check = (context: CheckContext) => CheckVisitor

export type CheckTable = Readonly<Partial<Record<CheckId, Check>>>
