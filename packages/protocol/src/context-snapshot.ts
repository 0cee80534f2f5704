// What the opaque context of another protocol says to who can read it: whoever judges a message has to read it too.
import { hash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { ContextSnapshot } from './generated/handoff.ts'

/** As much as a message may be. */
const TEXT_BYTES_MAX = 1_048_576

/**
 * The text of a snapshot, unpacked as its readers unpack it: once for its encoding, and once where the bytes themselves are packed.
 * Escapes of JSON are what they stand for. Throws where it cannot be unpacked within 1 MiB, or is not what its digest says.
 */
export function readSnapshot({ encoding, bytes, sha256 }: ContextSnapshot): string {
  const carried = Buffer.from(bytes, 'base64')
  const decoded = encoding === 'gzip+base64' ? unpack(carried) : carried
  if (hash('sha256', decoded) !== sha256) throw new Error('the digest is of other bytes')
  return unescaped((isPacked(decoded) ? unpack(decoded) : decoded).toString('utf8'))
}

const isPacked = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const unpack = (bytes: Uint8Array): Buffer => gunzipSync(bytes, { maxOutputLength: TEXT_BYTES_MAX })

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g
const WHITE: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', b: '\b' }

const unescaped = (text: string): string =>
  text.replaceAll(ESCAPE, (_, unit: string | undefined, plain = '') =>
    unit === undefined ? (WHITE[plain] ?? plain) : String.fromCharCode(Number.parseInt(unit, 16)),
  )
