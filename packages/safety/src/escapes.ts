// Decodes characters written as escapes (%XX, =XX, &#NN; and &name;, \uXXXX and \xXX), where some of them stand together.
import { PieceMap } from './span-map.ts'
import type { Derived } from './span-map.ts'

/** Fewer escapes than this are ordinary writing. */
export const ESCAPES_MIN = 3
const ESCAPE_DISTANCE = 64
/** So much of the text beside escapes is read with them: a few of them may only stand between its words. */
const AROUND = 64

interface EscapeForm {
  readonly kind: string
  readonly expression: RegExp
  readonly decode: (escaped: string) => string
  /** How many characters of the source stand for one, where each stands for itself. */
  readonly width?: number
}

/** Names of what stands between words or letters. */
const NAMED: Readonly<Record<string, string>> = {
  nbsp: ' ',
  nonbreakingspace: ' ',
  zerowidthspace: '',
  nobreak: '',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  tab: ' ',
  newline: '\n',
  shy: '',
  zwnj: '',
  zwj: '',
  period: '.',
  comma: ',',
  colon: ':',
  semi: ';',
  excl: '!',
  quest: '?',
  num: '#',
  sol: '/',
  lowbar: '_',
  hyphen: '-',
  lpar: '(',
  rpar: ')',
  lsqb: '[',
  rsqb: ']',
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
}

const ESCAPE_FORMS: readonly EscapeForm[] = [
  { kind: 'percent', expression: /(?:%[0-9a-f]{2})+/giu, decode: decodeBytes, width: 3 },
  { kind: 'quoted', expression: /(?:=[0-9a-f]{2})+|=\r?\n/giu, decode: decodeBytes, width: 3 },
  {
    kind: 'entities',
    expression: new RegExp(
      `&(?:#(?:x0*[0-9a-f]{1,6}|0*\\d{1,7});?|(?:${Object.keys(NAMED).join('|')});|(?:nbsp|shy)(?!;))`,
      'giu',
    ),
    decode: decodeEntity,
  },
  {
    kind: 'escapes',
    expression:
      /\\u(?:0000[0-9a-f]{4}|0001[0-9a-f]{4}|0010[0-9a-f]{4}|[0-9a-f]{4})|\\[ux]\{0*[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}|%u[0-9a-f]{4}|\\[0-3][0-7]{2}|\\[nrt]/giu,
    decode: decodeEscape,
  },
]

/** For each form, the stretches in which its escapes stand close together, decoded and put together. */
export function decodeEscapes(text: string): Derived[] {
  return ESCAPE_FORMS.flatMap((form) => new EscapedText(text, form).read())
}

interface Escape {
  readonly at: number
  readonly whole: string
}

class EscapedText {
  readonly #source: string
  readonly #form: EscapeForm
  readonly #pieces = new PieceMap()
  #text = ''
  /** Up to where the source was read. */
  #done = 0

  constructor(source: string, form: EscapeForm) {
    this.#source = source
    this.#form = form
  }

  read(): Derived[] {
    let stretch: Escape[] = []
    let end = 0
    for (const { index, 0: whole } of this.#source.matchAll(this.#form.expression)) {
      if (index - end > ESCAPE_DISTANCE) {
        this.#addStretch(stretch)
        stretch = []
      }
      stretch.push({ at: index, whole })
      end = index + whole.length
    }
    this.#addStretch(stretch)
    if (this.#text === '') return []
    return [{ kind: this.#form.kind, text: this.#text, map: this.#pieces.map }]
  }

  #addStretch(stretch: readonly Escape[]): void {
    const [first] = stretch
    if (first === undefined || this.#countOf(stretch) < ESCAPES_MIN) return
    const start = Math.max(this.#done, first.at - AROUND)
    if (this.#text !== '' && start > this.#done) this.#text += '\n'
    this.#done = start
    for (const { at, whole } of stretch) {
      this.#copyUntil(at)
      this.#addDecoded(at, whole)
      this.#done = at + whole.length
    }
    this.#copyUntil(Math.min(this.#source.length, this.#done + AROUND))
  }

  #copyUntil(end: number): void {
    if (end <= this.#done) return
    this.#pieces.copy(this.#text.length, this.#done)
    this.#text += this.#source.slice(this.#done, end)
    this.#done = end
  }

  #countOf(stretch: readonly Escape[]): number {
    const { width } = this.#form
    if (width === undefined) return stretch.length
    return stretch.reduce((sum, { whole }) => sum + Math.ceil(whole.length / width), 0)
  }

  /** Where each decoded character stands for an equal share of the source, it maps on its own. */
  #addDecoded(at: number, whole: string): void {
    const { decode, width } = this.#form
    const decoded = decode(whole)
    const share =
      width !== undefined && decoded.length * width === whole.length ? width : whole.length
    for (let offset = 0; offset < whole.length; offset += share)
      this.#pieces.replace(this.#text.length + offset / share, at + offset, at + offset + share)
    this.#text += decoded
  }
}

/** A line break behind `=` is left out of quoted-printable text. */
function decodeBytes(escaped: string): string {
  return Buffer.from(escaped.replaceAll(/[^0-9a-f]/giu, ''), 'hex').toString('utf8')
}

function decodeEntity(escaped: string): string {
  if (escaped[1] !== '#') return NAMED[escaped.slice(1).replace(';', '').toLowerCase()] ?? ''
  const digits = escaped.slice(2).replace(';', '')
  return fromCodePoint(
    /^x/iu.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 10),
  )
}

/** Also those of eight digits, of three octal ones, and what stands for a break. */
function decodeEscape(escaped: string): string {
  if (/^.[nrt]$/iu.test(escaped)) return /n/iu.test(escaped) ? '\n' : ' '
  if (/^.\d/u.test(escaped)) return fromCodePoint(Number.parseInt(escaped.slice(1), 8))
  return fromCodePoint(Number.parseInt(escaped.slice(2).replaceAll(/[{}]/gu, ''), 16))
}

function fromCodePoint(codePoint: number): string {
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ''
}
