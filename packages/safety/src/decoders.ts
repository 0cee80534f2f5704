// Recovers texts written in another alphabet of the machine: base64 and hex.
import { isBinary, PROBE_LENGTH } from './base64-probe.ts'
import { PieceMap } from './span-map.ts'
import type { Derived, Span } from './span-map.ts'
import { encodedRuns } from './pre-filter.ts'

const HEX_RUN_MIN = 32
const LETTERS_SHARE_MIN = 0.6
/** So much is decoded, and judged to be readable or not, at a time; a multiple of four characters of base64 and of two of hex. */
const PART_LENGTH = 8_192

/** The base64 and the hex runs among some parts of a text that give readable text, put together for each. */
export function decodeRuns(text: string, parts: readonly Span[]): Derived[] {
  const builders = { base64: new DerivedText('base64'), hex: new DerivedText('hex') }
  for (const run of parts.flatMap((part) => encodedRuns(text, part))) {
    const kind = readableKind(text, run)
    if (kind !== undefined) builders[kind].addToken(text, run)
  }
  return [...builders.base64.finish(), ...builders.hex.finish()]
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

/** More than 60 % letters and digits and almost no control or replacement characters. */
function isReadable(text: string): boolean {
  let letters = 0
  let broken = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (
      (unit >= 97 && unit <= 122) ||
      (unit >= 65 && unit <= 90) ||
      (unit >= 48 && unit <= 57) ||
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

/** Collects decoded tokens into one text. */
class DerivedText {
  readonly #kind: 'base64' | 'hex'
  readonly #pieces = new PieceMap()
  #text = ''
  #end = -1

  constructor(kind: 'base64' | 'hex') {
    this.#kind = kind
  }

  /** Tokens on consecutive lines are one text; others are kept apart. */
  addToken(source: string, [from, until]: Span): void {
    for (let start = from; start < until; start += PART_LENGTH) {
      const end = Math.min(until, start + PART_LENGTH)
      const decoded = decodeToken(source.slice(start, end), this.#kind)
      if (!isReadable(decoded)) continue
      const continues = this.#end >= 0 && start - this.#end <= 2
      if (this.#text.length > 0 && !continues) this.#text += '\n'
      this.#pieces.replace(this.#text.length, start, end)
      this.#text += decoded
      this.#end = end
    }
  }

  finish(): Derived[] {
    return this.#text === '' ? [] : [{ kind: this.#kind, text: this.#text, map: this.#pieces.map }]
  }
}
