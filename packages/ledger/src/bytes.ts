// Bytes as text and back, strictly: one text per value. Needs no Buffer, so it runs in a browser too.

const STRICT_UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const UTF_8 = new TextEncoder()
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SEXTETS = new Int8Array(128).fill(-1)
for (let value = 0; value < 64; value += 1) SEXTETS[ALPHABET.charCodeAt(value)] = value
const NIBBLES = new Int8Array(128).fill(-1)
for (let value = 0; value < 16; value += 1) NIBBLES[value.toString(16).charCodeAt(0)] = value
const CHUNK_BYTES = 3 * 4096

export const encodeUtf8 = (text: string): Uint8Array => UTF_8.encode(text)

/** The text of UTF-8 bytes; undefined when they are not UTF-8. Keeps a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT_UTF_8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The same text by itself: a slice keeps alive the whole text that it was cut from. */
export const detached = (text: string): string => JSON.parse(JSON.stringify(text)) as string

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 1) text += HEX[bytes[at] as number] as string
  return text
}

/** The bytes of lower-case hex; undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length >> 1)
  return putHex(text, bytes, 0) ? bytes : undefined
}

/** Puts the bytes of lower-case hex into `target`; false for any other text. */
export function putHex(text: string, target: Uint8Array, from: number): boolean {
  const length = text.length >> 1
  let nibbles = 0
  for (let at = 0; at < length; at += 1) {
    const high = NIBBLES[text.charCodeAt(at * 2)] ?? -1
    const low = NIBBLES[text.charCodeAt(at * 2 + 1)] ?? -1
    nibbles |= high | low
    target[from + at] = high * 16 + low
  }
  return nibbles >= 0 && text.length % 2 === 0
}

export function isHex(text: string): boolean {
  let nibbles = 0
  for (let at = 0; at < text.length; at += 1) nibbles |= NIBBLES[text.charCodeAt(at)] ?? -1
  return nibbles >= 0
}

/** RFC 4648 section 4, with padding. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + CHUNK_BYTES)))
  }
  return text
}

/** The bytes of RFC 4648 base64; undefined for a text that `toBase64` would not have written. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='))
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  const characters = text.length - padding
  let bits = 0
  let word = 0
  let length = 0
  for (let at = 0; at < characters; at += 1) {
    const sextet = SEXTETS[text.charCodeAt(at)] ?? -1
    if (sextet < 0) return undefined
    word = ((word << 6) | sextet) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[length] = (word >> bits) & 0xff
    length += 1
  }
  const leftover = word & ((1 << bits) - 1)
  return leftover === 0 ? bytes : undefined
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false
  return true
}
