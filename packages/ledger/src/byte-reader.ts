// Goes through canonical JSON byte by byte: each step takes what must stand there, or the reading fails.
// Literals are compared four bytes at a time, forms by pairs of bytes.
import { encodeUtf8 } from './bytes.ts'

/** Bytes that must stand somewhere, at least four; the last word begins four bytes before the end. */
export interface Literal {
  readonly length: number
  readonly words: Int32Array
}

const WORD = 4

/** The bytes of a text of ASCII. */
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
const misfit = (pair: number, kind: number): number => ~(PAIRS[pair] as number) & kind

export const QUOTE = 0x22
export const SQUARE_END = 0x5d
export const CURLY_END = 0x7d
const BACKSLASH = 0x5c
const SPACE = 0x20
const TILDE = 0x7e
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const NAME_MAX = 256
/** Every whole number of so many digits is exact. */
const DIGITS_MAX = 15

/** A name that was read before, and where: most stand at the same place of the next record again. */
export interface Name {
  from: number
  text: string
}

// Printable, and for itself in JSON.
const isOfName = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= SPACE && byte <= TILDE && byte !== QUOTE && byte !== BACKSLASH

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= NINE

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #text: string
  #at = 0
  #fits = true

  /** `text` has one character for each byte, which for a byte of ASCII is the same. */
  constructor(bytes: Uint8Array, text: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#text = text
  }

  /** Begins anew at `from`. */
  start(from: number): void {
    this.#at = from
    this.#fits = true
  }

  /** Whether every step since `start` took what it had to, and the last one ended at `end`. */
  isThrough(end: number): boolean {
    return this.#fits && this.#at === end
  }

  fail(): void {
    this.#fits = false
  }

  /** Takes the literal, if it is next. */
  takes({ length, words }: Literal): boolean {
    const view = this.#view
    const from = this.#at
    const last = words.length - 1
    const end = from + length
    if (end > view.byteLength) return false
    let differing = view.getInt32(end - WORD, true) ^ (words[last] as number)
    for (let at = 0; at < last; at += 1) {
      differing |= view.getInt32(from + at * WORD, true) ^ (words[at] as number)
    }
    if (differing !== 0) return false
    this.#at = end
    return true
  }

  skip(expected: Literal): void {
    if (!this.takes(expected)) this.#fits = false
  }

  takesByte(byte: number): boolean {
    if (this.#bytes[this.#at] !== byte) return false
    this.#at += 1
    return true
  }

  skipByte(byte: number): void {
    if (!this.takesByte(byte)) this.#fits = false
  }

  /** A word of this form, and its closing quote. */
  formed({ length, pairs }: Form): string {
    const view = this.#view
    const from = this.#at
    this.#at = from + length
    if (from + pairs.length * 2 > view.byteLength) this.#fits = false
    else {
      let misfits = 0
      for (let at = 0; at < pairs.length; at += 1) {
        misfits |= misfit(view.getUint16(from + at * 2, true), pairs[at] as number)
      }
      if (misfits !== 0) this.#fits = false
    }
    this.skipByte(QUOTE)
    return this.#text.slice(from, from + length)
  }

  /** A name and its closing quote; the very text of `last` where that stands there again. */
  name(last: Name): string {
    const bytes = this.#bytes
    const from = this.#at
    const { length } = last.text
    let same = 0
    // With its quote: another name may begin like the last one.
    while (same <= length && bytes[from + same] === bytes[last.from + same]) same += 1
    if (length === 0 || same <= length) return this.#newName(last)
    this.#at = from + same
    return last.text
  }

  #newName(last: Name): string {
    const bytes = this.#bytes
    const from = this.#at
    let end = from
    while (isOfName(bytes[end])) end += 1
    this.#at = end
    const hasEdge = bytes[from] === SPACE || bytes[end - 1] === SPACE
    if (end === from || end > from + NAME_MAX || hasEdge) this.#fits = false
    this.skipByte(QUOTE)
    if (!this.#fits) return ''
    last.from = from
    last.text = this.#text.slice(from, end)
    return last.text
  }

  /** A whole number of at most 15 digits. */
  count(): number {
    const bytes = this.#bytes
    const from = this.#at
    let end = from
    let value = 0
    while (isDigit(bytes[end])) {
      value = value * 10 + (bytes[end] as number) - ZERO
      end += 1
    }
    this.#at = end
    const hasLeadingZero = bytes[from] === ZERO && end > from + 1
    if (end === from || end > from + DIGITS_MAX || hasLeadingZero) this.#fits = false
    return value
  }

  /** The same with a sign, which zero has not. */
  integer(): number {
    if (!this.takesByte(MINUS)) return this.count()
    const value = this.count()
    if (value === 0) this.#fits = false
    return -value
  }

  /** The text that `pattern`, which is sticky, finds next. */
  part(pattern: RegExp): string {
    const from = this.#at
    pattern.lastIndex = from
    if (!this.#fits || !pattern.test(this.#text)) {
      this.#fits = false
      return 'null'
    }
    this.#at = pattern.lastIndex
    return this.#text.slice(from, this.#at)
  }
}
