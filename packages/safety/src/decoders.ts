// Recovers texts written in another alphabet of the machine: base64, hex, percent, entities, \u escapes.
import { type Derived, DERIVED_LENGTH_MAX } from './derived.ts'
import { decodeEscapes, ESCAPE_FORMS, ESCAPES_MIN } from './escapes.ts'
import { PieceMap } from './span-map.ts'

const BASE64_RUN_MIN = 24
const HEX_RUN_MIN = 32
const LETTERS_SHARE_MIN = 0.6
const PROBE_LENGTH = 32

const IN_BASE64 = 1
const STARTS_ESCAPE = 2
const CLASSES = new Uint8Array(65_536)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  CLASSES[character.charCodeAt(0)] = IN_BASE64
}
for (const character of '%&\\') CLASSES[character.charCodeAt(0)] = STARTS_ESCAPE

interface Run {
  readonly start: number
  readonly end: number
}

/** All decodings of a text that give readable text; at most `max`. */
export function decodeAll(text: string, max: number): Derived[] {
  const { runs, escapes } = survey(text)
  const derived = runs.length > 0 ? decodeRuns(text, runs, max) : []
  if (escapes < ESCAPES_MIN) return derived
  for (const form of ESCAPE_FORMS) {
    if (derived.length < max) derived.push(...decodeEscapes(text, form, max - derived.length))
  }
  return derived
}

/** One pass that says whether anything below is worth trying. */
function survey(text: string): { runs: Run[]; escapes: number } {
  const runs: Run[] = []
  let escapes = 0
  let start = 0
  for (let index = 0; index <= text.length; index++) {
    const found = CLASSES[text.charCodeAt(index)]
    if (found === IN_BASE64) continue
    if (index - start >= BASE64_RUN_MIN) runs.push({ start, end: index })
    if (found === STARTS_ESCAPE) escapes += 1
    start = index + 1
  }
  return { runs, escapes }
}

function decodeRuns(text: string, runs: readonly Run[], max: number): Derived[] {
  const builders = { base64: new DerivedText('base64'), hex: new DerivedText('hex') }
  for (const run of runs) {
    const token = text.slice(run.start, run.end)
    const kind = isHex(token) ? 'hex' : 'base64'
    if (kind === 'hex' && token.length < HEX_RUN_MIN) continue
    if (!isReadable(decodeToken(token.slice(0, PROBE_LENGTH), kind))) continue
    builders[kind].addToken(text, run)
    if (builders.base64.finished.length + builders.hex.finished.length >= max) break
  }
  return [...builders.base64.finish(), ...builders.hex.finish()].slice(0, max)
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
  addToken(source: string, run: Run): void {
    const step = this.#kind === 'hex' ? DERIVED_LENGTH_MAX * 2 : (DERIVED_LENGTH_MAX / 3) * 4
    const unit = Math.floor(step / 4) * 4
    for (let start = run.start; start < run.end; start += unit) {
      const end = Math.min(run.end, start + unit)
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
