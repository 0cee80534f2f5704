// An approval override: the signed permission that people gave one message to pass the safety check once.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** What two people allowed: exactly these bytes, past exactly this scanner, until then. */
export interface OverrideTerms {
  readonly id: string
  readonly handoffId: string
  /** Lower-case hex digest of the signed bytes. */
  readonly sha256: string
  /** The scanner whose rejection is overridden. */
  readonly rulesetVersion: string
  readonly reason: string
  readonly reviewers: readonly string[]
  /** RFC 3339 in UTC with milliseconds. */
  readonly expiresAt: string
}

export interface ApprovalOverride extends OverrideTerms {
  readonly keyId: string
  /** `hmac-sha256:` and 64 hex digits. */
  readonly signature: string
}

const PREFIX = 'hmac-sha256:'

/** Signs with the active key. An override can never pass for a message: no message begins like one. */
export function signOverride(terms: OverrideTerms, keyRing: KeyRing): ApprovalOverride {
  const keyId = keyRing.activeKeyId
  const mac = macOf({ ...terms, keyId }, keyRing)
  if (mac === undefined) throw new TypeError(`The key ring has no key ${keyId}`)
  return { ...terms, keyId, signature: PREFIX + mac.toString('hex') }
}

/** Whether exactly these terms were signed with a key that is still believed; in constant time. */
export function verifyOverride(override: ApprovalOverride, keyRing: KeyRing): boolean {
  if (keyRing.keys.get(override.keyId)?.status === 'revoked') return false
  const mac = macOf(override, keyRing)
  const digits = override.signature.slice(PREFIX.length)
  if (mac === undefined || override.signature !== PREFIX + digits) return false
  if (!/^[0-9a-f]{64}$/.test(digits)) return false
  return timingSafeEqual(mac, Buffer.from(digits, 'hex'))
}

type SignedTerms = Omit<ApprovalOverride, 'signature'>

// A JSON array of texts: whatever a name contains, no two different terms have one text.
function macOf(terms: SignedTerms, keyRing: KeyRing): Buffer | undefined {
  const entry = keyRing.keys.get(terms.keyId)
  if (entry === undefined) return undefined
  const { id, handoffId, sha256, rulesetVersion, reason, reviewers, expiresAt, keyId } = terms
  const text = JSON.stringify([
    [id, handoffId, sha256, rulesetVersion, reason, expiresAt, keyId],
    reviewers,
  ])
  return createHmac('sha256', entry.key).update(`baton/release/v1\n${text}`).digest()
}
