// Whether a release lets a message pass that the safety scanner rejects; whatever does not hold says why.
import { hash } from 'node:crypto'
import type { Detail } from '../detail.ts'
import type { KeyRing } from '../key-ring.ts'
import { verifyOverride } from '../approval-override.ts'
import type { Release } from '../approval-override.ts'
import type { ScanVerdict } from './safety.ts'

/** A release as the receiver found it, for one delivery. */
export interface OfferedOverride extends Release {
  /** By the clock that all receivers share. */
  readonly expired: boolean
}

export interface OverriddenDelivery {
  readonly handoffId: string
  readonly bytes: Uint8Array
  readonly keyRing: KeyRing
}

/** Undefined where the release covers this message and the scanner that rejects it now. */
export function checkOverride(
  release: OfferedOverride,
  { handoffId, bytes, keyRing }: OverriddenDelivery,
  scan: ScanVerdict | null,
): Detail | undefined {
  if (!verifyOverride(release, keyRing)) return BROKEN.signature
  if (release.handoffId !== handoffId || release.sha256 !== hash('sha256', bytes, 'hex'))
    return BROKEN.message
  if (release.reason !== 'SAFETY_VIOLATION') return BROKEN.message
  if (scan?.rulesetVersion !== release.rulesetVersion) return BROKEN.ruleset
  return release.expired ? BROKEN.expired : undefined
}

const broken = (rule: string, message: string): Detail => ({
  pointer: '',
  rule: `release.${rule}`,
  message,
  fix: 'It waits in the dead letter queue again; review it anew.',
})

const BROKEN = {
  signature: broken('signature', 'The release was not signed by a key that is believed here'),
  message: broken('message', 'The release was given for other bytes than these'),
  ruleset: broken('ruleset', 'The scanner has changed since the message was reviewed'),
  expired: broken('expired', 'The release was not made use of in time'),
} as const
