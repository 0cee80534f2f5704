// Text stands encrypted beside the log; the record holds a salted commitment that says nothing.
import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const SALT_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const DOMAIN = Buffer.from('baton/commit/v1\n')

/** Where a segment belongs; authenticated with the ciphertext, so that it cannot be moved. */
export interface SegmentPlace {
  readonly origin: string
  readonly seq: number
  readonly segment: number
}

export interface SealedSegment {
  readonly nonce: Buffer
  /** AES-256-GCM over salt || text, followed by the 16-byte tag. */
  readonly ciphertext: Buffer
}

/** A fresh 32-byte salt: without it a guessable text would stay findable after erasure. */
export const newSalt = (): Buffer => randomBytes(SALT_BYTES)

/** SHA-256("baton/commit/v1\n" || salt || bytes). */
export function commitment(salt: Uint8Array, bytes: Uint8Array): Buffer {
  return createHash('sha256').update(DOMAIN).update(salt).update(bytes).digest()
}

const placeBytes = ({ origin, seq, segment }: SegmentPlace): Buffer =>
  Buffer.from(`${origin}|${seq}|${segment}`)

/** Encrypts salt || bytes under the subject's key, bound to its place. A fresh nonce every time. */
export function sealSegment(
  key: KeyObject,
  place: SegmentPlace,
  plain: { readonly salt: Uint8Array; readonly bytes: Uint8Array },
): SealedSegment {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(placeBytes(place))
  const first = cipher.update(plain.salt)
  const second = cipher.update(plain.bytes)
  return { nonce, ciphertext: Buffer.concat([first, second, cipher.final(), cipher.getAuthTag()]) }
}

/** The text and salt of a sealed segment; undefined when key, place or bytes do not fit. */
export function openSegment(
  key: KeyObject,
  place: SegmentPlace,
  sealed: SealedSegment,
): { salt: Buffer; bytes: Buffer } | undefined {
  const { nonce, ciphertext } = sealed
  if (nonce.length !== NONCE_BYTES || ciphertext.length < SALT_BYTES + TAG_BYTES) return undefined
  const end = ciphertext.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(placeBytes(place))
  decipher.setAuthTag(ciphertext.subarray(end))
  try {
    const plain = Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()])
    return { salt: plain.subarray(0, SALT_BYTES), bytes: plain.subarray(SALT_BYTES) }
  } catch {
    return undefined
  }
}

/** Whether an opened segment is the one the record committed to. */
export function opensCommitment(
  committed: Uint8Array,
  opened: { readonly salt: Uint8Array; readonly bytes: Uint8Array },
): boolean {
  const actual = commitment(opened.salt, opened.bytes)
  return committed.length === actual.length && timingSafeEqual(actual, committed)
}
