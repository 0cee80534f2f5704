// The one place that checks an Ed25519 signature; the browser's verifier puts its own in its place.
import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { concatBytes } from './bytes.ts'

/** What stands before the 32 bytes of an Ed25519 public key in SPKI DER. */
const SPKI_PREFIX = new Uint8Array([0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0])

/** Read once for as long as the caller holds the bytes, which must not change meanwhile. */
const read = new WeakMap<Uint8Array, KeyObject>()

function readKey(publicKey: Uint8Array): KeyObject {
  const known = read.get(publicKey)
  if (known !== undefined) return known
  const key = Buffer.from(concatBytes([SPKI_PREFIX, publicKey]))
  const made = createPublicKey({ key, format: 'der', type: 'spki' })
  read.set(publicKey, made)
  return made
}

/** Whether a signature (RFC 8032) over the message is by the raw 32-byte key; false for bad forms. */
export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  try {
    return verify(null, message, readKey(publicKey), signature)
  } catch {
    return false
  }
}
