// What the checks of a handoff say together.
import type { ScanVerdict } from './checks/safety.ts'
import type { Detail } from './detail.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { RejectionReason } from './rejection.ts'

export type CheckResult = 'passed' | 'failed' | 'skipped'

/** What each check of I6 said, in their order; `scan` is the scanner's own verdict if it ran. */
export interface Checks<V extends ScanVerdict = ScanVerdict> {
  readonly size: CheckResult
  readonly signature: CheckResult
  readonly schema: CheckResult
  readonly completeness: CheckResult
  readonly budget: CheckResult
  /** `released`: the scanner rejects it, and people have released it. */
  readonly safety: CheckResult | 'released'
  readonly scan: V | null
}

export interface Acceptance<V extends ScanVerdict = ScanVerdict> {
  readonly valid: true
  readonly message: HandoffMessage
  /** What it uses that a later major version will not have, and facts that its compression lost; it is valid all the same. */
  readonly warnings: readonly Detail[]
  readonly checks: Checks<V>
}

export interface Rejection<V extends ScanVerdict = ScanVerdict> {
  readonly valid: false
  readonly reason: RejectionReason
  readonly details: readonly Detail[]
  /** Present when the message could be read. */
  readonly message?: HandoffMessage
  readonly checks: Checks<V>
}

/** E04: accepted, or the reason of the first check that failed and all its details. */
export type Verdict<V extends ScanVerdict = ScanVerdict> = Acceptance<V> | Rejection<V>

/** The checks before any of them ran. */
export const NOT_CHECKED: Checks<never> = {
  size: 'skipped',
  signature: 'skipped',
  schema: 'skipped',
  completeness: 'skipped',
  budget: 'skipped',
  safety: 'skipped',
  scan: null,
}
