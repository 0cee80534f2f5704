// The one place that checks an Ed25519 signature; the browser's verifier puts its own in its place.
import { createPublicKey, verify } from 'node:crypto'
import { concatBytes } from './bytes.ts'

/** What stands before the 32 bytes of an Ed25519 public key in SPKI DER. */
const SPKI_PREFIX = new Uint8Array([0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0])

/** Whether a signature (RFC 8032) over the message is by the raw 32-byte key; false for bad forms. */
export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const key = Buffer.from(concatBytes([SPKI_PREFIX, publicKey]))
  try {
    return verify(null, message, createPublicKey({ key, format: 'der', type: 'spki' }), signature)
  } catch {
    return false
  }
}
