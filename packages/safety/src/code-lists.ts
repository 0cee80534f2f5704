// Recovers texts written as a list of character codes: binary, octal, decimal or hexadecimal, with separators between them.
import { isReadable } from './readable.ts'
import { PieceMap } from './span-map.ts'
import type { Derived } from './span-map.ts'

/** One code. `0b` is two hexadecimal digits as well: it is a prefix only where the digits alone would be too many. */
const WRITTEN = String.raw`(?:(?:0x|u\+)?[0-9a-f]{2,8}|0b[0-9a-f]{7,8})`
// Separators and digits exclude one another, and a code can be read in one way only, so that matching is linear. Of `CODES_MIN` codes at
// least.
const LIST = new RegExp(
  String.raw`(?<![0-9a-z])${WRITTEN}(?:["']?[ ,;:|/+&\r\n\t_-]{1,32}["']?${WRITTEN}(?![0-9a-z])){15,}`,
  'giu',
)
const CODE = /(?:0x|0b|u\+)?(?<digits>[0-9a-f]{2,8})/giu

/** How a code of each base is written; the first base in which a list is readable is taken. */
const BASES = [
  { base: 2, written: /^[01]{7,8}$/u },
  { base: 10, written: /^\d{2,7}$/u },
  { base: 8, written: /^0?[0-7]{2,3}$/u },
  { base: 16, written: /^[0-9a-f]{2,8}$/iu },
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
    let first = 0
    for (const { character, length } of characters) {
      const last = codes[first + length - 1]
      pieces.replace(decoded.length, codes[first]?.start ?? 0, last?.end ?? 0)
      decoded += character
      first += length
    }
  }
  return decoded === '' ? [] : [{ kind: 'codes', text: decoded, map: pieces.map }]
}

interface Character {
  readonly character: string
  /** In codes. */
  readonly length: number
}

function readCodes(codes: readonly Code[]): readonly Character[] | undefined {
  for (const { base, written } of BASES) {
    if (!codes.every(({ digits }) => written.test(digits))) continue
    const points = codes.map(({ digits }) => Number.parseInt(digits, base))
    const characters = asBytes(points) ?? asCodePoints(points)
    if (isReadable(characters.map(({ character }) => character).join(''))) return characters
  }
  return undefined
}

/** Bytes of UTF-8, where they are. */
function asBytes(points: readonly number[]): readonly Character[] | undefined {
  if (points.some((point) => point > 255) || points.every((point) => point < 128)) return undefined
  const text = Buffer.from(points).toString('utf8')
  if (text.includes('\ufffd')) return undefined
  return Array.from(text, (character) => ({ character, length: Buffer.byteLength(character) }))
}

/** Code points, or the units of UTF-16. */
const asCodePoints = (points: readonly number[]): readonly Character[] =>
  points.map((point) => ({
    character: point > CODE_POINT_MAX ? '\ufffd' : String.fromCodePoint(point),
    length: 1,
  }))
