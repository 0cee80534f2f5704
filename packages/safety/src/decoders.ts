// Recovers texts written in another alphabet of the machine: base64 and hex.
import { isBinary, PROBE_LENGTH } from './base64-probe.ts'
import { DERIVED_LENGTH_MAX, PieceMap } from './span-map.ts'
import type { Derived, Span } from './span-map.ts'
import { encodedRuns } from './pre-filter.ts'

const HEX_RUN_MIN = 32
const LETTERS_SHARE_MIN = 0.6

/** The base64 and hex runs among some parts of a text that give readable text; at most `max` texts. */
export function decodeRuns(text: string, parts: readonly Span[], max: number): Derived[] {
  const builders = { base64: new DerivedText('base64'), hex: new DerivedText('hex') }
  for (const run of parts.flatMap((part) => encodedRuns(text, part))) {
    const kind = readableKind(text, run)
    if (kind === undefined) continue
    builders[kind].addToken(text, run)
    if (builders.base64.finished.length + builders.hex.finished.length >= max) break
  }
  return [...builders.base64.finish(), ...builders.hex.finish()].slice(0, max)
}

/** How a run is encoded, if its first bytes are readable text. */
function readableKind(text: string, run: Span): 'base64' | 'hex' | undefined {
  const token = text.slice(...run)
  const kind = isHex(token) ? 'hex' : 'base64'
  if (kind === 'hex' ? token.length < HEX_RUN_MIN : isBinary(text, run)) return undefined
  return isReadable(decodeToken(token.slice(0, PROBE_LENGTH), kind)) ? kind : undefined
}

function isHex(token: string): boolean {
  return token.length % 2 === 0 && /^[0-9a-f]+$/iu.test(token)
}

function decodeToken(token: string, kind: 'base64' | 'hex'): string {
  return Buffer.from(token, kind).toString('utf8')
}

/** More than 60 % letters and almost no control or replacement characters. */
function isReadable(text: string): boolean {
  let letters = 0
  let broken = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (
      (unit >= 97 && unit <= 122) ||
      (unit >= 65 && unit <= 90) ||
      (unit > 0xbf && unit !== 0xfffd)
    )
      letters += 1
    else if (
      unit === 0xfffd ||
      unit === 127 ||
      (unit < 32 && unit !== 9 && unit !== 10 && unit !== 13)
    )
      broken += 1
  }
  return letters > text.length * LETTERS_SHARE_MIN && broken <= 1 + text.length / 64
}

/** Collects decoded tokens into texts of bounded length. */
class DerivedText {
  readonly finished: Derived[] = []
  readonly #kind: 'base64' | 'hex'
  #text = ''
  #pieces = new PieceMap()
  #end = -1

  constructor(kind: 'base64' | 'hex') {
    this.#kind = kind
  }

  /** Tokens on consecutive lines are one text; others are kept apart. */
  addToken(source: string, [from, until]: Span): void {
    const step = this.#kind === 'hex' ? DERIVED_LENGTH_MAX * 2 : (DERIVED_LENGTH_MAX / 3) * 4
    const unit = Math.floor(step / 4) * 4
    for (let start = from; start < until; start += unit) {
      const end = Math.min(until, start + unit)
      const decoded = decodeToken(source.slice(start, end), this.#kind)
      if (!isReadable(decoded)) continue
      if (this.#text.length + decoded.length > DERIVED_LENGTH_MAX) this.#flush()
      const continues = this.#end >= 0 && start - this.#end <= 2
      if (this.#text.length > 0 && !continues) this.#text += '\n'
      this.#pieces.replace(this.#text.length, start, end)
      this.#text += decoded
      this.#end = end
    }
  }

  finish(): readonly Derived[] {
    this.#flush()
    return this.finished
  }

  #flush(): void {
    if (this.#text.length === 0) return
    this.finished.push({ kind: this.#kind, text: this.#text, map: this.#pieces.map })
    this.#text = ''
    this.#pieces = new PieceMap()
    this.#end = -1
  }
}
