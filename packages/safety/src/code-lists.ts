// Recovers texts written as a list of character codes: binary, octal, decimal or hexadecimal, with separators between them.
import { isReadable } from './readable.ts'
import { PieceMap } from './span-map.ts'
import type { Derived } from './span-map.ts'

// Separators and digits exclude one another, so that matching is linear. Of `CODES_MIN` codes at least.
const LIST =
  /(?<![0-9a-z])(?:0x|0b|u\+)?[0-9a-f]{2,8}(?:["']?[ ,;:|/\r\n\t_-]{1,3}["']?(?:0x|0b|u\+)?[0-9a-f]{2,8}(?![0-9a-z])){15,}/giu
const CODE = /(?:0x|0b|u\+)?(?<digits>[0-9a-f]{2,8})/giu

/** How a code of each base is written; the first base in which a list is readable is taken. */
const BASES = [
  { base: 2, written: /^[01]{7,8}$/u },
  { base: 10, written: /^\d{2,7}$/u },
  { base: 16, written: /^(?:[0-9a-f]{2}|[0-9a-f]{4}|[0-9a-f]{8})$/iu },
  { base: 8, written: /^[0-7]{3}$/u },
] as const
const CODE_POINT_MAX = 0x10ffff

interface Code {
  readonly digits: string
  readonly start: number
  readonly end: number
}

/** The lists in a text that give readable text, put together. */
export function decodeCodeLists(text: string): Derived[] {
  const pieces = new PieceMap()
  let decoded = ''
  for (const { index, 0: list } of text.matchAll(LIST)) {
    const codes = Array.from(list.matchAll(CODE), (code) => ({
      digits: code.groups?.['digits'] ?? '',
      start: index + code.index,
      end: index + code.index + code[0].length,
    }))
    const characters = readCodes(codes)
    if (characters === undefined) continue
    if (decoded !== '') decoded += '\n'
    for (const [at, { start, end }] of codes.entries()) {
      pieces.replace(decoded.length, start, end)
      decoded += characters[at] ?? ''
    }
  }
  return decoded === '' ? [] : [{ kind: 'codes', text: decoded, map: pieces.map }]
}

/** One character for each code. */
function readCodes(codes: readonly Code[]): readonly string[] | undefined {
  for (const { base, written } of BASES) {
    if (!codes.every(({ digits }) => written.test(digits))) continue
    const points = codes.map(({ digits }) => Number.parseInt(digits, base))
    if (points.some((point) => point > CODE_POINT_MAX)) continue
    const characters = points.map((point) => String.fromCodePoint(point))
    if (isReadable(characters.join(''))) return characters
  }
  return undefined
}
