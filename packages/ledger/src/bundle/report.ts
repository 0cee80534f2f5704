// What a verification of a bundle says: each check with its outcome, each finding with its place.
import type { CheckId } from './check-titles.ts'

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

export interface BundleReport {
  readonly verdict: 'valid' | 'tampered' | 'incomplete' | 'unsupported'
  /** Null for a bundle of whole chains, and when the manifest cannot be read. */
  readonly taskId: string | null
  /** Lines of records, erasure records not counted. */
  readonly records: number
  readonly sealedAt: string | null
  readonly checks: readonly CheckReport[]
  readonly segments: readonly SegmentReport[]
}

export type FindingPlace = Partial<Pick<BundleFinding, 'file' | 'origin' | 'seq'>>

const FINDINGS_MAX = 100

/** Where one check writes down what it finds. */
export class CheckLog {
  readonly #id: CheckId
  readonly #title: string
  readonly #findings: BundleFinding[] = []
  #result: CheckResult = 'ok'
  #note: string | null = null

  constructor(id: CheckId, title: string) {
    this.#id = id
    this.#title = title
  }

  fail(place: FindingPlace, message: string): void {
    this.#result = 'failed'
    this.#add(place, message)
  }

  lack(place: FindingPlace, message: string): void {
    if (this.#result !== 'failed') this.#result = 'incomplete'
    this.#add(place, message)
  }

  skip(why: string): void {
    if (this.#result === 'ok') this.#result = 'skipped'
    this.#note = why
  }

  note(text: string): void {
    this.#note = text
  }

  report(): CheckReport {
    const [id, title] = [this.#id, this.#title]
    return { id, title, result: this.#result, note: this.#note, findings: this.#findings }
  }

  #add({ file = null, origin = null, seq = null }: FindingPlace, message: string): void {
    if (this.#findings.length >= FINDINGS_MAX) return
    this.#findings.push({ rule: this.#id, file, origin, seq, message })
  }
}
