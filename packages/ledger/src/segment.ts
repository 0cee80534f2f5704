// Text stands encrypted beside the log; the record holds a salted commitment that says nothing.
import {
  createCipheriv,
  createDecipheriv,
  hash,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { SEGMENT_CHARACTERS_MAX } from './check-entry.ts'
import type { PayloadReference } from './record.ts'

const DOMAIN = Buffer.from('baton/commit/v1\n')
const SALT_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Where a segment belongs; authenticated with the ciphertext, so that it cannot be moved. */
export interface SegmentPlace {
  readonly origin: string
  readonly seq: number
  readonly segment: number
}

export interface EncryptedSegment {
  readonly nonce: Buffer
  /** AES-256-GCM over a packed text, followed by the 16-byte tag. */
  readonly ciphertext: Buffer
}

/** A text with its fresh salt, and what a record may say about it. */
export interface SaltedText {
  /** 32 random bytes, then the text in UTF-8. */
  readonly salted: Buffer
  /** The length of the text alone. */
  readonly bytes: number
  readonly commitment: Buffer
}

/**
 * Salts a text and commits to it: SHA-256("baton/commit/v1\n" || salt || bytes). Without the salt a
 * guessable text could still be confirmed after erasure.
 */
export function saltText(text: string): SaltedText {
  const bytes = Buffer.byteLength(text)
  const framed = Buffer.allocUnsafe(DOMAIN.length + SALT_BYTES + bytes)
  framed.set(DOMAIN)
  framed.set(takeRandomBytes(SALT_BYTES), DOMAIN.length)
  framed.write(text, DOMAIN.length + SALT_BYTES, 'utf8')
  return {
    salted: framed.subarray(DOMAIN.length),
    bytes,
    commitment: hash('sha256', framed, 'buffer'),
  }
}

/** The commitment to a salt followed by a text, as in an encrypted segment. */
const commitment = (salted: Uint8Array): Buffer =>
  hash('sha256', Buffer.concat([DOMAIN, salted]), 'buffer')

/** From here on Postgres would keep the ciphertext out of its row; shorter texts save less than a compressor costs to open. */
const COMPRESSED_FROM_BYTES = 2_048
/** Higher levels gain little on messages and cost several times as much. */
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 3 }
/** As long as the longest text of a segment can be in UTF-8; nothing makes a reader unpack more. */
const TEXT_BYTES_MAX = 3 * SEGMENT_CHARACTERS_MAX

/** A salt and its text as they are encrypted. */
export interface PackedText {
  readonly packed: Buffer
  /** The length of the compressed text; undefined where the text stands as it is. */
  readonly zstdBytes?: number
}

/**
 * Compresses the text where that makes it shorter; ciphertext cannot be compressed any more. The salt stays in front,
 * and the commitment is to the text itself: whoever verifies needs nothing of this.
 */
export function packText(salted: Buffer): PackedText {
  const text = salted.subarray(SALT_BYTES)
  if (text.length < COMPRESSED_FROM_BYTES) return { packed: salted }
  // Told its length, the compressor makes tables of that size.
  const compressed = zstdCompressSync(text, { params: PARAMETERS, pledgedSrcSize: text.length })
  if (compressed.length >= text.length) return { packed: salted }
  const packed = Buffer.concat([salted.subarray(0, SALT_BYTES), compressed])
  return { packed, zstdBytes: compressed.length }
}

/** How a record says that a text is stored. */
type Stored = Pick<PayloadReference, 'bytes' | 'zstdBytes'>

/** Undefined for what is not such a text of exactly the length that the record names; never makes more of it. */
function unpackText(packed: Buffer, { bytes, zstdBytes }: Stored): Buffer | undefined {
  if (zstdBytes === undefined) return packed
  const compressed = packed.subarray(SALT_BYTES)
  if (compressed.length !== zstdBytes || bytes > TEXT_BYTES_MAX) return undefined
  try {
    const text = zstdDecompressSync(compressed, { maxOutputLength: Math.max(1, bytes) })
    return Buffer.concat([packed.subarray(0, SALT_BYTES), text])
  } catch {
    return undefined
  }
}

const placeBytes = ({ origin, seq, segment }: SegmentPlace): Buffer =>
  Buffer.from(`${origin}|${seq}|${segment}`)

/** Encrypts a packed text under the subject's key, bound to its place. A fresh nonce every time. */
export function encryptSegment(
  key: KeyObject,
  place: SegmentPlace,
  packed: Uint8Array,
): EncryptedSegment {
  const nonce = takeRandomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(placeBytes(place))
  const encrypted = cipher.update(packed)
  return { nonce, ciphertext: Buffer.concat([encrypted, cipher.final(), cipher.getAuthTag()]) }
}

/**
 * The salt and text of an encrypted segment that `reference` names; undefined when key, place or bytes do not fit.
 */
export function openSegment(
  key: KeyObject,
  place: Omit<SegmentPlace, 'segment'>,
  {
    reference,
    encrypted,
  }: { readonly reference: SegmentReference; readonly encrypted: EncryptedSegment },
): Buffer | undefined {
  const packed = decrypt(key, { ...place, segment: reference.segment }, encrypted)
  return packed && unpackText(packed, reference)
}

type SegmentReference = Stored & Pick<PayloadReference, 'segment'>

function decrypt(
  key: KeyObject,
  place: SegmentPlace,
  { nonce, ciphertext }: EncryptedSegment,
): Buffer | undefined {
  if (nonce.length !== NONCE_BYTES || ciphertext.length < SALT_BYTES + TAG_BYTES) return undefined
  const end = ciphertext.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(placeBytes(place))
  decipher.setAuthTag(ciphertext.subarray(end))
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()])
  } catch {
    return undefined
  }
}

/** Whether an opened segment is the text of `bytes` bytes that the record committed to. */
export function opensCommitment(
  salted: Uint8Array,
  committed: { readonly bytes: number; readonly commitment: string },
): boolean {
  const expected = Buffer.from(committed.commitment, 'hex')
  const actual = commitment(salted)
  if (salted.length - SALT_BYTES !== committed.bytes) return false
  return expected.length === actual.length && timingSafeEqual(actual, expected)
}

/** The text of an opened segment. */
export const textOf = (salted: Buffer): string => salted.toString('utf8', SALT_BYTES)

const BLOCK_BYTES = 16_384

let block = Buffer.alloc(0)
let used = 0

/** `length` fresh random bytes, at most a block; no byte is ever handed out twice. */
export function takeRandomBytes(length: number): Buffer {
  if (used + length > block.length) {
    block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK_BYTES))
    used = 0
  }
  used += length
  return block.subarray(used - length, used)
}
