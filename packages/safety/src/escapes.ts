// Decodes characters written as escapes: %XX, &#NN; and \uXXXX, where many of them stand together.
import { PieceMap } from './span-map.ts'
import type { Derived } from './span-map.ts'

/** Fewer escapes than this are ordinary writing. */
export const ESCAPES_MIN = 12
const ESCAPE_DISTANCE = 64

interface EscapeForm {
  readonly kind: string
  readonly expression: RegExp
  readonly decode: (escaped: string) => string
}

const ESCAPE_FORMS: readonly EscapeForm[] = [
  { kind: 'percent', expression: /(?:%[0-9a-f]{2})+/giu, decode: decodePercent },
  { kind: 'entities', expression: /&#(?:x[0-9a-f]{1,6}|\d{1,7});?/giu, decode: decodeEntity },
  {
    kind: 'escapes',
    expression: /\\u(?:\{[0-9a-f]{1,6}\}|[0-9a-f]{4})|\\x[0-9a-f]{2}/giu,
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
    if (this.#text !== '') this.#text += '\n'
    let done = first.at
    for (const { at, whole } of stretch) {
      if (at > done) {
        this.#pieces.copy(this.#text.length, done)
        this.#text += this.#source.slice(done, at)
      }
      this.#addDecoded(at, whole)
      done = at + whole.length
    }
  }

  #countOf(stretch: readonly Escape[]): number {
    if (this.#form.kind !== 'percent') return stretch.length
    return stretch.reduce((sum, { whole }) => sum + whole.length / 3, 0)
  }

  /** Where each decoded character stands for an equal share of the source, it maps on its own. */
  #addDecoded(at: number, whole: string): void {
    const decoded = this.#form.decode(whole)
    const isEqual = this.#form.kind === 'percent' && decoded.length * 3 === whole.length
    const share = isEqual ? 3 : whole.length
    for (let offset = 0; offset < whole.length; offset += share)
      this.#pieces.replace(this.#text.length + offset / share, at + offset, at + offset + share)
    this.#text += decoded
  }
}

function decodePercent(escaped: string): string {
  return Buffer.from(escaped.replaceAll('%', ''), 'hex').toString('utf8')
}

function decodeEntity(escaped: string): string {
  const digits = escaped.slice(2).replace(';', '')
  return fromCodePoint(
    /^x/iu.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 10),
  )
}

function decodeEscape(escaped: string): string {
  return fromCodePoint(Number.parseInt(escaped.slice(2).replaceAll(/[{}]/gu, ''), 16))
}

function fromCodePoint(codePoint: number): string {
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ''
}
