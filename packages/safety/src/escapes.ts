// Decodes characters written as escapes: %XX, &#NN; and \uXXXX, where many of them stand together.
import { DERIVED_LENGTH_MAX, PieceMap } from './span-map.ts'
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

/** Decodes each stretch in which escapes stand close together; at most `max` texts. */
export function decodeEscapes(text: string, max: number): Derived[] {
  const derived: Derived[] = []
  for (const form of ESCAPE_FORMS) {
    if (derived.length < max) derived.push(...decodeForm(text, form, max - derived.length))
  }
  return derived
}

function decodeForm(text: string, form: EscapeForm, max: number): Derived[] {
  const derived: Derived[] = []
  let stretch = new EscapeStretch(text, form)
  for (const match of text.matchAll(form.expression)) {
    if (!stretch.accepts(match.index)) {
      stretch.finishInto(derived)
      if (derived.length >= max) return derived
      stretch = new EscapeStretch(text, form)
    }
    stretch.add(match.index, match[0])
  }
  if (derived.length < max) stretch.finishInto(derived)
  return derived
}

class EscapeStretch {
  readonly #source: string
  readonly #form: EscapeForm
  readonly #pieces = new PieceMap()
  #text = ''
  #escapes = 0
  #end = -1

  constructor(source: string, form: EscapeForm) {
    this.#source = source
    this.#form = form
  }

  accepts(index: number): boolean {
    return (
      this.#end < 0 ||
      (index - this.#end <= ESCAPE_DISTANCE && this.#text.length < DERIVED_LENGTH_MAX)
    )
  }

  add(index: number, whole: string): void {
    if (this.#end >= 0 && index > this.#end) {
      this.#pieces.copy(this.#text.length, this.#end)
      this.#text += this.#source.slice(this.#end, index)
    }
    const escaped = whole.slice(0, (DERIVED_LENGTH_MAX - this.#text.length) * 3)
    const decoded = this.#form.decode(escaped)
    this.#addDecoded(decoded, index, escaped)
    this.#escapes += this.#form.kind === 'percent' ? escaped.length / 3 : 1
    this.#end = index + whole.length
  }

  finishInto(derived: Derived[]): void {
    if (this.#escapes < ESCAPES_MIN) return
    derived.push({ kind: this.#form.kind, text: this.#text, map: this.#pieces.map })
  }

  /** Where each decoded character stands for an equal share of the source, it maps on its own. */
  #addDecoded(decoded: string, index: number, escaped: string): void {
    const share =
      this.#form.kind === 'percent' && decoded.length * 3 === escaped.length ? 3 : escaped.length
    for (let offset = 0; offset < escaped.length; offset += share) {
      this.#pieces.replace(
        this.#text.length + offset / share,
        index + offset,
        index + offset + share,
      )
    }
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
