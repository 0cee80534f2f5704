// Recovers texts written in another alphabet of the machine: base64, base32, hex and bits, without separators.
import { isBinary, PROBE_LENGTH } from './base64-probe.ts'
import { isReadable } from './readable.ts'
import { reverse } from './rewrites.ts'
import { mirrorLetters, rotateLetters } from './rules/triggers.ts'
import { PieceMap } from './span-map.ts'
import type { Derived, Span } from './span-map.ts'

type Alphabet = 'base64' | 'base32' | 'hex' | 'bits'

const ALPHABETS: readonly { readonly name: Alphabet; readonly written: RegExp }[] = [
  { name: 'bits', written: /^[01]{64,}$/u },
  { name: 'hex', written: /^(?:[0-9a-f]{2}){16,}$/iu },
  { name: 'base32', written: /^(?:[A-Z2-7]{32,}|[a-z2-7]{32,})$/u },
]
/** So much is decoded, and judged to be readable or not, at a time; a multiple of what each alphabet writes whole bytes in. */
const PART_LENGTH = 8_192
/** A shorter run that is no text as it stands is an identifier (a UUID has 36 characters). */
const OTHERWISE_MIN = 40
const HEX = /^[0-9a-f]+$/iu
/** So many characters of text in a row are no accident among other bytes. */
const STRETCH_MIN = 20
// eslint-disable-next-line no-control-regex -- the class is exactly what no text has
const NO_TEXT = /[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+/u
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** The runs of characters of those alphabets in a text that give readable text, put together for each alphabet. */
export function decodeRuns(text: string, runs: readonly Span[]): Derived[] {
  const texts = new Map<Alphabet, DerivedText>()
  const textOf = (alphabet: Alphabet): DerivedText => {
    const known = texts.get(alphabet) ?? new DerivedText(alphabet)
    texts.set(alphabet, known)
    return known
  }
  for (const whole of runs) {
    const run: Span = [whole[0] + (text.startsWith('0x', whole[0]) ? 2 : 0), whole[1]]
    const token = text.slice(...run)
    const alphabet = alphabetOf(token)
    if (alphabet !== undefined) {
      textOf(alphabet).addToken(token, run[0])
      continue
    }
    if (token.length < OTHERWISE_MIN) continue
    for (const rewritten of REWRITES.map((rewrite) => rewrite(token))) {
      const other = alphabetOf(rewritten)
      if (other !== undefined) textOf(other).addWhole(rewritten, run)
    }
    if (!HEX.test(token)) textOf('base64').addStretches(token, run)
  }
  return [...texts.values()].flatMap((one) => one.finish())
}

/** What may have been done to an encoded text, of which no words are left to tell. */
const REWRITES: readonly ((token: string) => string)[] = [
  reverse,
  (token) => rotateLetters(token, 13),
  (token) => mirrorLetters(token),
]

/** Lines that are too short to be runs. */
const LINES = /(?<![a-z0-9+/_-])[a-z0-9+/_-]{4,23}(?:\r?\n[a-z0-9+/_-]{4,23}){3,}/giu
/** Groups of four or eight. */
const GROUPS =
  /(?<![a-z0-9+/_-])(?:[a-z0-9+/_-]{4}(?: [a-z0-9+/_-]{4}){8,}|[a-z0-9+/_-]{8}(?: [a-z0-9+/_-]{8}){4,})(?![a-z0-9+/_-])/giu

/** What was broken into short lines or groups, put together where it is readable: words of ordinary writing give no text. */
export function joinBroken(text: string): Derived[] {
  const texts = new Map<Alphabet, DerivedText>()
  for (const match of [...text.matchAll(LINES), ...text.matchAll(GROUPS)]) {
    const [found] = match
    // What stands before the first break may be a word of the sentence before.
    const [whole, behind] = [found, found.replace(/^\S+\s+/u, '')]
    for (const pieces of [whole, behind]) {
      const token = pieces.replaceAll(/\s+/gu, '')
      const alphabet = alphabetOf(token)
      if (alphabet === undefined || !isReadable(decodeToken(token, alphabet))) continue
      const end = match.index + found.length
      const broken = texts.get(alphabet) ?? new DerivedText(alphabet)
      texts.set(alphabet, broken)
      broken.addWhole(token, [end - pieces.length, end])
      break
    }
  }
  return [...texts.values()].flatMap((one) => one.finish())
}

/** The alphabet in which the first characters of a token are readable text. */
function alphabetOf(token: string): Alphabet | undefined {
  for (const { name, written } of ALPHABETS)
    if (written.test(token) && isReadable(decodeToken(token.slice(0, 2 * PROBE_LENGTH), name)))
      return name
  if (isBinary(token, [0, token.length]) && !isWide(Buffer.from(token.slice(0, 8), 'base64')))
    return undefined
  return isReadable(decodeToken(token.slice(0, PROBE_LENGTH), 'base64')) ? 'base64' : undefined
}

function decodeToken(token: string, alphabet: Alphabet): string {
  switch (alphabet) {
    case 'base64':
    case 'hex':
      return textOf(Buffer.from(token, alphabet))
    case 'base32':
      return bytesOf(token.toLowerCase(), 5, (digit) => BASE32.indexOf(digit)).toString('utf8')
    case 'bits':
      return bytesOf(token, 1, Number).toString('utf8')
  }
}

/** Whether bytes begin like ASCII in UTF-16. */
const isWide = (bytes: Buffer): boolean =>
  bytes.length >= 4 && bytes[0] !== 0 && bytes[1] === 0 && bytes[2] !== 0 && bytes[3] === 0

const textOf = (bytes: Buffer): string => bytes.toString(isWide(bytes) ? 'utf16le' : 'utf8')

/** The bytes of a text whose characters are worth so many bits each; bits that fill no byte are left out. */
function bytesOf(token: string, width: number, valueOf: (digit: string) => number): Buffer {
  const bytes = Buffer.alloc(Math.floor((token.length * width) / 8))
  let [buffer, bits, at] = [0, 0, 0]
  for (const digit of token) {
    buffer = ((buffer << width) | valueOf(digit)) & 0xfff
    bits += width
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = (buffer >> bits) & 0xff
  }
  return bytes
}

/** Collects decoded tokens of one alphabet into one text. */
class DerivedText {
  readonly #alphabet: Alphabet
  readonly #pieces = new PieceMap()
  #text = ''
  #end = -1

  constructor(alphabet: Alphabet) {
    this.#alphabet = alphabet
  }

  addToken(token: string, from: number): void {
    for (let start = 0; start < token.length; start += PART_LENGTH) {
      const part = token.slice(start, start + PART_LENGTH)
      const decoded = decodeToken(part, this.#alphabet)
      const place: Span = [from + start, from + start + part.length]
      if (isReadable(decoded)) this.#add(decoded, place)
      else if (this.#alphabet === 'base64') this.addStretches(part, place)
    }
  }

  /** A token that does not stand so in the text, but somewhere there. */
  addWhole(token: string, place: Span): void {
    this.#add(decodeToken(token, this.#alphabet), place)
  }

  /** The text between other bytes, wherever in a token it begins: base64 can be cut in at four places. */
  addStretches(token: string, place: Span): void {
    for (let cut = 0; cut < 4; cut++) {
      for (const stretch of decodeToken(token.slice(cut), 'base64').split(NO_TEXT))
        if (stretch.length >= STRETCH_MIN && isReadable(stretch)) this.#add(stretch, place)
    }
  }

  /** Tokens on consecutive lines are one text; others are kept apart. */
  #add(decoded: string, [start, end]: Span): void {
    const continues = this.#end >= 0 && start >= this.#end && start - this.#end <= 2
    if (this.#text.length > 0 && !continues) this.#text += '\n'
    this.#pieces.replace(this.#text.length, start, end)
    this.#text += decoded
    this.#end = end
  }

  finish(): Derived[] {
    if (this.#text === '') return []
    return [{ kind: this.#alphabet, text: this.#text, map: this.#pieces.map }]
  }
}
