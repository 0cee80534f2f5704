// Whether an approval override lets a message pass that the safety scanner rejects; whatever does not hold says why.
import { hash } from 'node:crypto'
import type { Detail } from '../detail.ts'
import type { KeyRing } from '../key-ring.ts'
import { verifyOverride } from '../approval-override.ts'
import type { ApprovalOverride } from '../approval-override.ts'
import type { ScanVerdict } from './safety.ts'

/** An override as the receiver found it, for one delivery. */
export interface OfferedOverride extends ApprovalOverride {
  /** By the clock that all receivers share. */
  readonly expired: boolean
}

export interface OverriddenDelivery {
  readonly handoffId: string
  readonly bytes: Uint8Array
  readonly keyRing: KeyRing
}

/** Undefined where the override covers this message and the scanner that rejects it now. */
export function checkOverride(
  override: OfferedOverride,
  { handoffId, bytes, keyRing }: OverriddenDelivery,
  scan: ScanVerdict | null,
): Detail | undefined {
  if (!verifyOverride(override, keyRing)) return BROKEN.signature
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
  signature: broken('signature', 'the release was not signed by a key that is believed here'),
  message: broken('message', 'the release was given for other bytes than these'),
  ruleset: broken('artefact', 'the scanner has changed since the message was reviewed'),
  expired: broken('expired', 'the release was not made use of in time'),
} as const
