// Tables for a reader of bytes: words to compare four at a time, and which pairs of bytes a form allows.
import { encodeUtf8 } from './bytes.ts'

/** Bytes that must stand somewhere, at least four; the last word begins four bytes before the end. */
export interface Literal {
  readonly length: number
  readonly words: Int32Array
}

const WORD = 4

export function literal(text: string): Literal {
  const bytes = encodeUtf8(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const words = new Int32Array(Math.ceil(bytes.length / WORD))
  for (let at = 0; at < words.length; at += 1) {
    words[at] = view.getInt32(Math.min(at * WORD, bytes.length - WORD), true)
  }
  return { length: bytes.length, words }
}

/** What each letter of a form stands for; any other one stands for itself. */
const LETTERS: Readonly<Record<string, string>> = { h: '0123456789abcdef', d: '0123456789' }
const membersOf = (letter: string): Uint8Array => encodeUtf8(LETTERS[letter] ?? letter)

/** By two bytes, the second one times 256: a bit for each kind of pair that they are. */
const PAIRS = new Uint16Array(65_536)
const bits = new Map<string, number>()
/** As many as an entry of the table has bits. */
const KINDS_MAX = 16

/** The bit of a kind of pair, a letter of a form for each of the two. */
function bitOf(kind: string): number {
  const known = bits.get(kind)
  if (known !== undefined) return known
  if (bits.size === KINDS_MAX) throw new Error('the forms have more kinds of pairs than bits')
  const bit = 1 << bits.size
  bits.set(kind, bit)
  for (const first of membersOf(kind.charAt(0))) {
    for (const second of membersOf(kind.charAt(1))) {
      const pair = first + second * 256
      PAIRS[pair] = (PAIRS[pair] as number) | bit
    }
  }
  return bit
}

/** What may stand at each place of a word. */
export interface Form {
  readonly length: number
  /** The kind of each pair; the last one takes in the closing quote where the length is odd. */
  readonly pairs: Uint16Array
}

/** Hex digits where `places` has h, digits where it has d, and itself anywhere else. */
export function form(places: string): Form {
  const { length } = places
  const even = length % 2 === 0 ? places : `${places}"`
  const kinds = Array.from({ length: even.length / 2 }, (_, at) => even.slice(at * 2, at * 2 + 2))
  return { length, pairs: Uint16Array.from(kinds, bitOf) }
}

/** Not zero where the pair is not of the kind. */
export const misfit = (pair: number, kind: number): number => ~(PAIRS[pair] as number) & kind
