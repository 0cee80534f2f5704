// Signs and verifies the exact bytes of a message: HMAC-SHA-256 over its RFC 8785 form (E10).
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { canonicalBytes } from './canonical-json.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { KeyRing } from './key-ring.ts'

export interface SignedHandoff {
  /** The message with `signatureKeyId` and `signature` set, as it is shown to people. */
  readonly message: HandoffMessage
  /** RFC 8785 bytes of the message without `signature`: what is stored, sent and verified. */
  readonly bytes: Uint8Array
  readonly sha256: Uint8Array
  readonly keyId: string
  /** `hmac-sha256:` and 64 hex digits. */
  readonly signature: string
}

/** A message on its way: bytes, and the signature that stands beside them. */
export interface Delivery {
  readonly bytes: Uint8Array
  readonly keyId: string
  readonly signature: string
}

export type SignatureProblem = 'malformed' | 'unknown-key' | 'revoked-key' | 'mismatch'
export type SignatureCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: SignatureProblem }

const PREFIX = 'hmac-sha256:'
const DIGEST_BYTES = 32

/** RFC 8785 bytes of the message without its `signature`. Throws BATON_NOT_CANONICAL. */
export function encodeMessage(message: HandoffMessage): Uint8Array {
  const { signature: _, ...unsigned } = message
  return canonicalBytes(unsigned)
}

/** Signs with the active key, whose id becomes part of the signed bytes. Throws BATON_NOT_CANONICAL. */
export function signHandoff(message: HandoffMessage, keyRing: KeyRing): SignedHandoff {
  const keyId = keyRing.activeKeyId
  const entry = keyRing.keys.get(keyId)
  if (entry === undefined) throw new TypeError(`The key ring has no key ${keyId}`)
  const named = { ...message, signatureKeyId: keyId }
  const bytes = encodeMessage(named)
  const signature = PREFIX + macOf(bytes, entry.key).toString('hex')
  const sha256 = hash('sha256', bytes, 'buffer')
  return { message: { ...named, signature }, bytes, sha256, keyId, signature }
}

/** Whether these bytes were signed with a key that is still believed; in constant time. */
export function verifySignature(
  bytes: Uint8Array,
  { keyId, signature }: Pick<Delivery, 'keyId' | 'signature'>,
  keyRing: KeyRing,
): SignatureCheck {
  const claimed = claimedMac(signature)
  if (claimed === undefined) return { ok: false, why: 'malformed' }
  const entry = keyRing.keys.get(keyId)
  if (entry === undefined) return { ok: false, why: 'unknown-key' }
  if (entry.status === 'revoked') return { ok: false, why: 'revoked-key' }
  return timingSafeEqual(claimed, macOf(bytes, entry.key))
    ? { ok: true }
    : { ok: false, why: 'mismatch' }
}

/**
 * The delivery of a message that carries its own `signature` and `signatureKeyId`, as outsiders
 * send it. Absent ones become empty strings, which no key ring accepts. Throws BATON_NOT_CANONICAL.
 */
export function deliveryOf(message: HandoffMessage): Delivery {
  const { signature = '', signatureKeyId: keyId = '' } = message
  return { bytes: encodeMessage(message), keyId, signature }
}

function macOf(bytes: Uint8Array, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

function claimedMac(signature: unknown): Buffer | undefined {
  if (typeof signature !== 'string') return undefined
  if (signature.length !== PREFIX.length + DIGEST_BYTES * 2 || !signature.startsWith(PREFIX))
    return undefined
  const digits = signature.slice(PREFIX.length)
  if (!/^[0-9a-f]{64}$/.test(digits)) return undefined
  return Buffer.from(digits, 'hex')
}
