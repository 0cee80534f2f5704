// Makes the copy of a text that rules are matched against, with the way back to the original offsets.
import {
  foldCharacter,
  foldLookalikes,
  hasLookalikes,
  isExplained,
  isInvisible,
  isTag,
  isVariationSelector,
} from './characters.ts'
import { identityMap, PieceMap } from './span-map.ts'
import type { Span, SpanMap } from './span-map.ts'

/** A text carried by characters that nobody sees. */
export interface HiddenText {
  readonly kind: 'tags' | 'selectors'
  readonly text: string
  readonly span: Span
}

/** The match copy: lower case, folded, without invisible characters. */
export interface Normalised {
  readonly text: string
  /** The same, character by character, in the case of the source: alphabets of the machine tell the cases apart. */
  readonly cased: string
  readonly map: SpanMap
  readonly hidden: readonly HiddenText[]
  /** Invisible characters that no script or emoji explains, and where the first to the last of them stand. */
  readonly unexplained: { readonly count: number; readonly span: Span }
}

const TAG_RUN_MIN = 6
const SELECTOR_RUN_MIN = 8
const BLACK_FLAG = 0x1f3f4
const CANCEL_TAG = 0xe007f

// eslint-disable-next-line no-control-regex -- the class is exactly "not ASCII"
const NON_ASCII = /[^\x00-\x7f]+/gu

/** Normalises a text; plain ASCII costs one native pass. */
export function normalise(text: string): Normalised {
  NON_ASCII.lastIndex = 0
  const first = NON_ASCII.exec(text)
  if (first === null)
    return {
      text: text.toLowerCase(),
      cased: text,
      map: identityMap,
      hidden: [],
      unexplained: { count: 0, span: [0, 0] },
    }
  return new Folding(text).run(first)
}

class Folding {
  readonly #source: string
  readonly #pieces = new PieceMap()
  readonly #hidden: HiddenText[] = []
  #text = ''
  #cased = ''
  #unexplained = 0
  #firstUnexplained = 0
  #lastUnexplained = 0
  #mixes = false

  constructor(source: string) {
    this.#source = source
  }

  run(first: RegExpExecArray): Normalised {
    let done = 0
    for (
      let run: RegExpExecArray | null = first;
      run !== null;
      run = NON_ASCII.exec(this.#source)
    ) {
      this.#copy(done, run.index)
      done = run.index + run[0].length
      this.#fold(run.index, done)
    }
    this.#copy(done, this.#source.length)
    const text = this.#mixes ? foldLookalikes(this.#text) : this.#text
    return {
      text,
      cased: this.#mixes ? casedAs(text, this.#text, this.#cased) : this.#cased,
      map: this.#pieces.map,
      hidden: this.#hidden,
      unexplained: {
        count: this.#unexplained,
        span: [this.#firstUnexplained, this.#lastUnexplained],
      },
    }
  }

  #copy(from: number, until: number): void {
    if (from === until) return
    this.#pieces.copy(this.#text.length, from)
    const part = this.#source.slice(from, until)
    this.#text += part.toLowerCase()
    this.#cased += part
  }

  #fold(from: number, until: number): void {
    let position = from
    while (position < until) {
      const codePoint = codePointIn(this.#source, position)
      const next = position + (codePoint > 0xffff ? 2 : 1)
      if (isInvisible(codePoint)) {
        position = this.#drop(position, codePoint)
        continue
      }
      const folded = foldCharacter(codePoint)
      if (folded.text.length > 0) {
        this.#pieces.replace(this.#text.length, position, next)
        this.#text += folded.text
        this.#cased += folded.cased
        this.#mixes ||= hasLookalikes(codePoint)
      }
      position = next
    }
  }

  /** Drops one invisible character, or a whole run that carries text; answers where reading goes on. */
  #drop(position: number, codePoint: number): number {
    if (isTag(codePoint)) return this.#dropRun(position, isTag)
    const next = position + (codePoint > 0xffff ? 2 : 1)
    const after = codePointIn(this.#source, next)
    if (isVariationSelector(codePoint) && isVariationSelector(after))
      return this.#dropRun(position, isVariationSelector)
    if (!isExplained(codePoint, this.#before(position), after)) this.#count(1, [position, next])
    return next
  }

  #dropRun(start: number, belongs: (codePoint: number) => boolean): number {
    const run: number[] = []
    let end = start
    for (;;) {
      const codePoint = codePointIn(this.#source, end)
      if (!belongs(codePoint)) break
      run.push(codePoint)
      end += codePoint > 0xffff ? 2 : 1
    }
    if (belongs === isTag) this.#keepTags(run, [start, end])
    else this.#keepSelectors(run, [start, end])
    return end
  }

  #keepTags(run: readonly number[], span: Span): void {
    if (
      this.#before(span[0]) === BLACK_FLAG &&
      run.at(-1) === CANCEL_TAG &&
      run.length <= TAG_RUN_MIN + 1
    )
      return
    this.#count(run.length, span)
    if (run.length < TAG_RUN_MIN) return
    const text = Buffer.from(run.map((tag) => tag - 0xe0000)).toString('latin1')
    this.#hidden.push({ kind: 'tags', text, span })
  }

  /** Variation selectors 1-16 and 17-256 stand for the bytes 0-15 and 16-255. */
  #keepSelectors(run: readonly number[], span: Span): void {
    this.#count(run.length, span)
    if (run.length < SELECTOR_RUN_MIN) return
    const bytes = Uint8Array.from(run, (selector) =>
      selector < 0xe0100 ? selector - 0xfe00 : selector - 0xe0100 + 16,
    )
    this.#hidden.push({ kind: 'selectors', text: new TextDecoder().decode(bytes), span })
  }

  #count(count: number, [first, last]: Span): void {
    if (this.#unexplained === 0) this.#firstUnexplained = first
    this.#unexplained += count
    this.#lastUnexplained = last
  }

  #before(position: number): number {
    const unit = this.#source.charCodeAt(position - 1)
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    return isLow ? codePointIn(this.#source, position - 2) : unit
  }
}

/** A text in which letters were replaced, in the case that each had before. */
function casedAs(text: string, before: string, cased: string): string {
  if (text === before) return cased
  return Array.from({ length: text.length }, (_, index) => {
    if (text[index] === before[index]) return cased[index]
    return cased[index] === before[index] ? text[index] : text[index]?.toUpperCase()
  }).join('')
}

/**
 * The character at a position, or 0 behind the end; half of one stands for itself. `codePointAt` cannot be relied on: compiled by Node
 * 26, it reads behind the end of a string that was cut from a longer one, and so answers now the half and now the whole.
 */
function codePointIn(text: string, position: number): number {
  if (position < 0 || position >= text.length) return 0
  const unit = text.charCodeAt(position)
  if (unit < 0xd800 || unit > 0xdbff || position + 1 >= text.length) return unit
  const next = text.charCodeAt(position + 1)
  return next >= 0xdc00 && next <= 0xdfff ? (unit - 0xd800) * 0x400 + next - 0xdc00 + 0x10000 : unit
}
