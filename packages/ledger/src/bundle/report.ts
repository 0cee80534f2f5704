// What a verification of a bundle says: each check with its outcome, each finding with its place.
import type { CheckId } from './checks.ts'

/** What a check found wrong, and where. Never holds a text of the bundle. */
export interface BundleFinding {
  readonly rule: CheckId
  readonly file: string | null
  readonly origin: string | null
  readonly seq: number | null
  readonly message: string
}

/** `incomplete`: nothing is wrong, but something that would have to be there is not. */
export type CheckResult = 'ok' | 'failed' | 'incomplete' | 'skipped'

export interface CheckReport {
  readonly id: CheckId
  readonly title: string
  readonly result: CheckResult
  /** Why it was skipped, or what it found out; null when there is nothing to add. */
  readonly note: string | null
  /** The first hundred. */
  readonly findings: readonly BundleFinding[]
}

export type SegmentStatus = 'present' | 'erased' | 'missing' | 'mismatch' | 'withheld'

export interface SegmentReport {
  readonly origin: string
  readonly seq: number
  readonly segment: number
  readonly status: SegmentStatus
}

/** A record that came after the map of tasks: nothing says whether others came with it. */
export interface LaterRecord {
  readonly origin: string
  readonly seq: number
  readonly recordedAt: string
}

/** That nothing of the tasks is missing, as whoever sealed the log committed to it. */
export interface ProvenEnd {
  readonly until: string
  /** The records of the bundle that came later. */
  readonly later: readonly LaterRecord[]
  /** Tasks that were asked for and had no record until then. */
  readonly absent: readonly string[]
}

export interface BundleReport {
  readonly verdict: 'valid' | 'tampered' | 'incomplete' | 'clock' | 'unsupported' | 'not-a-bundle'
  /** Null for a bundle of several tasks, and when the manifest cannot be read. */
  readonly taskId: string | null
  /** Lines of records, erasure records not counted. */
  readonly records: number
  readonly sealedAt: string | null
  readonly checks: readonly CheckReport[]
  /** Null where nothing proves the end of the tasks: then it rests on whoever exported the bundle. */
  readonly end: ProvenEnd | null
  /** What could be so although nothing is wrong, each with the reason why it was not checked. */
  readonly notExcluded: readonly string[]
  readonly segments: readonly SegmentReport[]
}

export type FindingPlace = Partial<Pick<BundleFinding, 'file' | 'origin' | 'seq'>>

const FINDINGS_MAX = 100

/** Where one check writes down what it finds. */
export interface CheckLog {
  fail(place: FindingPlace, message: string): void
  /** Something that would have to be there is not. */
  lack(place: FindingPlace, message: string): void
  skip(why: string): void
  note(text: string): void
  report(): CheckReport
}

export function createCheckLog(id: CheckId, title: string): CheckLog {
  const findings: BundleFinding[] = []
  let result: CheckResult = 'ok'
  let note: string | null = null

  function add({ file = null, origin = null, seq = null }: FindingPlace, message: string): void {
    if (findings.length >= FINDINGS_MAX) return
    findings.push({ rule: id, file, origin, seq, message })
  }

  return {
    fail(place, message) {
      result = 'failed'
      add(place, message)
    },
    lack(place, message) {
      if (result !== 'failed') result = 'incomplete'
      add(place, message)
    },
    skip(why) {
      if (result === 'ok') result = 'skipped'
      note = why
    },
    note(text) {
      note = text
    },
    report: () => ({ id, title, result, note, findings }),
  }
}
