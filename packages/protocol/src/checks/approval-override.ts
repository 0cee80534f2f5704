// Whether an approval override lets a message pass that the safety scanner rejects; whatever does not hold says why.
import { hash } from 'node:crypto'
import type { Detail } from '../detail.ts'
import type { ScanVerdict } from './safety.ts'

/** What people allowed: exactly these bytes, past exactly this scanner, until then. */
export interface ApprovalOverride {
  readonly id: string
  readonly handoffId: string
  /** Lower-case hex digest of the signed bytes. */
  readonly sha256: string
  /** The scanner whose rejection is overridden. */
  readonly rulesetVersion: string
  readonly reason: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly expiresAt: string
}

/** An override as the receiver found it, for one delivery. */
export interface OfferedOverride extends ApprovalOverride {
  /** By the clock that all receivers share. */
  readonly expired: boolean
}

export interface OverriddenDelivery {
  readonly handoffId: string
  readonly bytes: Uint8Array
  /** Whether the people whom it takes signed exactly these terms. */
  readonly isSigned: boolean
}

/** Undefined where the override covers this message and the scanner that rejects it now. */
export function checkOverride(
  override: OfferedOverride,
  { handoffId, bytes, isSigned }: OverriddenDelivery,
  scan: ScanVerdict | null,
): Detail | undefined {
  if (!isSigned) return BROKEN.signature
  if (override.handoffId !== handoffId || override.sha256 !== hash('sha256', bytes, 'hex'))
    return BROKEN.message
  if (override.reason !== 'SAFETY_VIOLATION') return BROKEN.message
  if (scan?.rulesetVersion !== override.rulesetVersion) return BROKEN.ruleset
  return override.expired ? BROKEN.expired : undefined
}

const broken = (rule: string, message: string): Detail => ({
  pointer: '',
  rule: `release.${rule}`,
  message,
  fix: 'It waits in the dead letter queue again; review it anew.',
})

const BROKEN = {
  signature: broken('signature', 'the people whom the release takes have not signed it'),
  message: broken('message', 'the release was given for other bytes than these'),
  ruleset: broken('artefact', 'the scanner has changed since the message was reviewed'),
  expired: broken('expired', 'the release was not made use of in time'),
} as const
