// What each kind of note key signs: the text itself, or the text under a header with the time.
import { encodeUtf8 } from '../bytes.ts'
import { verifyEd25519 } from '../ed25519.ts'
import { SIGNATURE_TYPES } from './key.ts'
import type { VerifierKey } from './key.ts'
import type { VerifiedSignature } from './note.ts'

const TIMESTAMP_BYTES = 8

/** The bytes that a cosigner signs, by C2SP tlog-cosignature; `timestamp` in POSIX seconds. */
export const cosignedMessage = (text: string, timestamp: number): Uint8Array =>
  encodeUtf8(`cosignature/v1\ntime ${timestamp}\n${text}`)

/** What the signature says when it is the key's own; undefined when it is not. */
export function verifyNoteSignature(
  key: VerifierKey,
  text: string,
  bytes: Uint8Array,
): VerifiedSignature | undefined {
  const { name, keyId, type, publicKey } = key
  if (type === SIGNATURE_TYPES.ed25519) {
    const isSigned = verifyEd25519(publicKey, encodeUtf8(text), bytes)
    return isSigned ? { name, keyId, type, timestamp: null } : undefined
  }
  if (bytes.length !== TIMESTAMP_BYTES + 64) return undefined
  const timestamp = readTimestamp(bytes)
  if (timestamp === undefined) return undefined
  const isSigned = verifyEd25519(
    publicKey,
    cosignedMessage(text, timestamp),
    bytes.subarray(TIMESTAMP_BYTES),
  )
  return isSigned ? { name, keyId, type, timestamp } : undefined
}

function readTimestamp(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, TIMESTAMP_BYTES)
  const timestamp = view.getUint32(0) * 2 ** 32 + view.getUint32(4)
  return Number.isSafeInteger(timestamp) ? timestamp : undefined
}

/** The timestamp as a cosignature carries it: a big-endian uint64. */
export function timestampBytes(timestamp: number): Uint8Array {
  const bytes = new Uint8Array(TIMESTAMP_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Math.floor(timestamp / 2 ** 32))
  view.setUint32(4, timestamp % 2 ** 32)
  return bytes
}
