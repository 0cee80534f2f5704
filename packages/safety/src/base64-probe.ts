// Tells base64 of binary data, identifiers and random bytes from base64 of text, without decoding it into a string.
import type { Span } from './span-map.ts'

/** How many characters of a token decide whether it is worth decoding. */
export const PROBE_LENGTH = 32

const SEXTETS = new Uint8Array(65_536)
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
for (const [sextet, character] of [...ALPHABET, '+', '/'].entries())
  SEXTETS[character.charCodeAt(0)] = sextet
SEXTETS['-'.charCodeAt(0)] = 62
SEXTETS['_'.charCodeAt(0)] = 63

const ASCII_TEXT = 0
const CONTINUATION = 1
const LEAD = 2
const NEVER_TEXT = 3
const BYTE_KINDS = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(byte))

function kindOf(byte: number): number {
  if (byte < 32) return byte === 9 || byte === 10 || byte === 13 ? ASCII_TEXT : NEVER_TEXT
  if (byte < 127) return ASCII_TEXT
  if (byte >= 0x80 && byte < 0xc0) return CONTINUATION
  return byte >= 0xc2 && byte < 0xf5 ? LEAD : NEVER_TEXT
}

/**
 * Whether the first bytes of a base64 token hold at least two that no text has: control characters, bytes that UTF-8
 * never uses, leads without and continuations after something that is no lead. Decoding shows each of them as broken.
 */
export function isBinary(text: string, [start, end]: Span): boolean {
  const until = Math.min(end, start + PROBE_LENGTH)
  let broken = 0
  let before = ASCII_TEXT
  for (let at = start; at + 4 <= until; at += 4) {
    const bytes =
      (sextetAt(text, at) << 18) |
      (sextetAt(text, at + 1) << 12) |
      (sextetAt(text, at + 2) << 6) |
      sextetAt(text, at + 3)
    for (let shift = 16; shift >= 0; shift -= 8) {
      const kind = BYTE_KINDS[(bytes >> shift) & 0xff] ?? 0
      if (kind === NEVER_TEXT) broken += 1
      if (before === LEAD && kind !== CONTINUATION) broken += 1
      if (before === ASCII_TEXT && kind === CONTINUATION) broken += 1
      before = kind
    }
  }
  return broken >= 2
}

function sextetAt(text: string, index: number): number {
  return SEXTETS[text.charCodeAt(index)] ?? 0
}
