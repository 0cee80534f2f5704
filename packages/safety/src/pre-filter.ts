// Reads a normalised text once: reports the literals in it and says which of the costly probes can find anything at all.
import { buildAutomaton } from './automaton.ts'
import type { Literal, Report } from './automaton.ts'
import { JOINED_ANCHORS } from './rules/triggers.ts'
import type { Span } from './span-map.ts'

/** Shorter runs of base64 characters are taken for words and identifiers. */
const ENCODED_RUN_MIN = 24

/** What one pass saw. A trigger that stays shut proves that its probe would find nothing; an open one proves nothing. */
export interface Triggers {
  /** Runs of at least `ENCODED_RUN_MIN` base64 characters, whole and in order; of interest for base64, base32, hex and bits. */
  readonly runs: readonly Span[]
  /** How many characters could begin a percent, quoted-printable, entity or backslash escape. */
  readonly escapes: number
  /** Short runs of base64 characters follow one another as lines, or in groups of one length. */
  readonly broken: boolean
  /** So many words as make a list of codes follow one another, each of hexadecimal digits or a single character. */
  readonly codes: boolean
  /** Eight single letters or digits stand close together, the first of them a letter. */
  readonly spaced: boolean
  /** A joined anchor shows when everything but letters is left out. */
  readonly joined: boolean
}

/** One pass of constant work per code unit; the text is normalised, the report hears of the literals in text order. */
export type PreFilter = (text: string, report: Report) => Triggers

const IN_RUN = 1
const STARTS_ESCAPE = 2
const ALPHANUMERIC = 4
/** Hexadecimal digits, and the x of 0x. */
const IN_CODE = 8
const TRAITS = new Uint8Array(65_536)
const SMALL_LETTERS = 'abcdefghijklmnopqrstuvwxyz'
mark(`${SMALL_LETTERS.toUpperCase()}+/-_`, IN_RUN)
mark(SMALL_LETTERS, IN_RUN | ALPHANUMERIC)
mark('0123456789abcdefx', IN_RUN | ALPHANUMERIC | IN_CODE)
mark('%=&\\', STARTS_ESCAPE)

/** The last three units were: something else, a letter or digit, something else. */
const SINGLE = 0b010
const SINGLES_MIN = 8
/** A single, at most five separators, and the next single. */
const SINGLES_DISTANCE = 6

/** Shorter runs are no pieces of anything. */
const PIECE_MIN = 4
const LINES_MIN = 4
/** How many groups of a length are more than words that happen to be as long. */
const GROUPS_MIN = new Map([
  [4, 9],
  [8, 5],
])
const LINE_BREAK = 10

/** Fewer codes than this are a version, a time, an address or a row of a table. */
export const CODES_MIN = 16
/** With its prefix. */
const CODE_LENGTH_MAX = 10

/** Builds the pass for some literals. */
export function createPreFilter(literals: readonly Literal[]): PreFilter {
  const { classes, width, table, firstHit, bits } = buildAutomaton(literals)
  const letters = buildLettersOnly()
  return (text, report) => {
    const runs: Span[] = []
    const singles = new Singles(text)
    const codes = new Codes()
    const pieces = new Pieces(text)
    let state = 0
    let lettersState = 0
    let joined = false
    let run = 0
    let escapes = 0
    let word = 0
    let code = 0
    let recent = 0
    // Whatever is open at the end of the text ends there.
    const ended = `${text}\0`
    for (let index = 0; index < ended.length; index++) {
      const unit = ended.charCodeAt(index)
      state = table[state * width + (classes[unit] ?? 0)] ?? 0
      if (state >= firstHit) report(index + 1, bits[state] ?? 0)
      lettersState = letters.table[(lettersState << 5) | (letters.classes[unit] ?? 0)] ?? 0
      if (lettersState >= letters.firstHit) joined = true
      const traits = TRAITS[unit] ?? 0
      if ((traits & IN_RUN) === 0 && run >= PIECE_MIN) pieces.add(index - run, run)
      run = (run + 1) & -(traits & IN_RUN)
      if (run === ENCODED_RUN_MIN) runs.push([index + 1 - run, endOfRun(text, index)])
      escapes += (traits & STARTS_ESCAPE) >> 1
      const isAlphanumeric = (traits >> 2) & 1
      if (isAlphanumeric === 0 && word > 1) codes.add(word, word === code)
      word = (word + 1) & -isAlphanumeric
      code = (code + 1) & -(traits >> 3)
      recent = ((recent << 1) | isAlphanumeric) & 0b111
      if (recent === SINGLE) singles.add(index - 1)
    }
    return {
      runs,
      broken: pieces.areMany,
      escapes,
      codes: codes.areMany,
      spaced: singles.areMany,
      joined,
    }
  }
}

function endOfRun(text: string, from: number): number {
  let end = from
  while (end < text.length && ((TRAITS[text.charCodeAt(end)] ?? 0) & IN_RUN) !== 0) end++
  return end
}

function mark(characters: string, traits: number): void {
  for (const character of characters) TRAITS[character.charCodeAt(0)] = traits
}

/** Counts single letters and digits that follow one another closely. */
class Singles {
  areMany = false
  readonly #text: string
  #count = 0
  #last = 0

  constructor(text: string) {
    this.#text = text
  }

  add(index: number): void {
    if (this.#count > 0 && index - this.#last <= SINGLES_DISTANCE) this.#count += 1
    else this.#count = this.#text.charCodeAt(index) >= 97 ? 1 : 0
    this.#last = index
    if (this.#count >= SINGLES_MIN) this.areMany = true
  }
}

/** Counts words that follow one another and may be character codes. */
class Codes {
  areMany = false
  #count = 0

  add(length: number, isCode: boolean): void {
    this.#count = isCode && length <= CODE_LENGTH_MAX ? this.#count + 1 : 0
    if (this.#count >= CODES_MIN) this.areMany = true
  }
}

/** Counts runs of base64 characters that may be pieces of one: lines of them, or groups of one length with blanks between. */
class Pieces {
  areMany = false
  readonly #text: string
  #lines = 1
  #groups = 1
  #length = 0
  #end = -1

  constructor(text: string) {
    this.#text = text
  }

  add(start: number, length: number): void {
    const gap = start - this.#end
    const isLine = gap <= 2 && this.#text.charCodeAt(start - 1) === LINE_BREAK
    const isGroup = gap === 1 && length === this.#length
    this.#lines = isLine && length < ENCODED_RUN_MIN ? this.#lines + 1 : 1
    this.#groups = isGroup ? this.#groups + 1 : 1
    this.#length = length
    this.#end = start + length
    if (this.#lines >= LINES_MIN || this.#groups >= (GROUPS_MIN.get(length) ?? Infinity))
      this.areMany = true
  }
}

interface LettersOnly {
  /** 1 to 26 for the letters, 0 for anything else. */
  readonly classes: Uint8Array
  /** The state after a unit is `table[state << 5 | class]`; anything but a letter leaves the state as it is. */
  readonly table: Uint16Array
  readonly firstHit: number
}

/** The automaton of the joined anchors, for a text in which only letters count. */
function buildLettersOnly(): LettersOnly {
  const source = buildAutomaton(JOINED_ANCHORS.map((text) => ({ text, bits: 1 })))
  const classes = new Uint8Array(65_536)
  const table = new Uint16Array(source.bits.length << 5)
  for (let letter = 1; letter <= 26; letter++) classes[96 + letter] = letter
  for (let state = 0; state < source.bits.length; state++) {
    table[state << 5] = state
    for (let letter = 1; letter <= 26; letter++) {
      const step = state * source.width + (source.classes[96 + letter] ?? 0)
      table[(state << 5) | letter] = source.table[step] ?? 0
    }
  }
  return { classes, table, firstHit: source.firstHit }
}
