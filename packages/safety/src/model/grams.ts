// Cuts a normalised text into words and names the hashed n-grams that end with each of them, in one linear pass without memory of its own.

/** A longer word is one of no known language: a key, a digest, an encoded text. */
const WORD_MAX = 32
/** A shorter word says something only beside others: "you", "the", "your" stand everywhere. */
const WORD_MIN = 5
const PIECE = 5
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
const LONG = 1
const NUMBER = 2

/** What is said again within so many words adds nothing: lists and floods repeat themselves. */
const REPEATED_WITHIN = 32
const MEMORY = 1 << 14

/** Hears of the words of a text and of their n-grams, in order; offsets are those of the text. */
export interface GramReader {
  /** An n-gram of the word that is told next, and where it stands. */
  gram: (hash: number, start: number, end: number) => void
  word: (start: number, end: number) => void
}

const LETTER = 1
const DIGIT = 2
const KINDS = new Uint8Array(65_536)
for (let unit = 97; unit <= 122; unit++) KINDS[unit] = LETTER
for (let unit = 48; unit <= 57; unit++) KINDS[unit] = DIGIT

/**
 * Words of one to three, and five characters in a row within a word. A word is of the letters and digits of ASCII, into which Latin
 * ones were folded; other scripts are not read, since the model learns from English.
 */
export function readGrams(text: string, reader: GramReader): void {
  const words = new WordCutter(text)
  const tell = (gram: number, start: number, end: number): void => {
    if (RECENT.isNew(gram)) reader.gram(gram, start, end)
  }
  let [before, previous] = [0, 0]
  let [startBefore, startPrevious] = [0, 0]
  RECENT.begin()
  for (let count = 0; words.next(); count++) {
    const { start, end, word, isLong } = words
    const isShort = end - start < WORD_MIN
    if (!isShort) tell(mix(word, 11), start, end)
    const pair = mix(previous, word)
    if (count >= 1) tell(mix(pair, 12), startPrevious, end)
    if (count >= 2) tell(mix(mix(before, pair), 13), startBefore, end)
    for (let from = start; !isShort && !isLong && from + PIECE <= end; from++)
      tell(mix(hashOfPiece(text, from), 14), from, from + PIECE)
    reader.word(start, end)
    RECENT.next()
    ;[before, previous] = [previous, word]
    ;[startBefore, startPrevious] = [startPrevious, start]
  }
}

/** Steps from word to word. */
class WordCutter {
  start = 0
  end = 0
  /** Its hash; numbers are one word, and so are words of no language. */
  word = 0
  isLong = false
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Goes to the next word, if there is one. */
  next(): boolean {
    const text = this.#text
    const { length } = text
    let index = this.end
    while (index < length && KINDS[text.charCodeAt(index)] === 0) index++
    this.start = index
    let kinds = 0
    let hash = OFFSET_BASIS
    for (; index < length; index++) {
      const unit = text.charCodeAt(index)
      const kind = KINDS[unit] ?? 0
      if (kind === 0) break
      kinds |= kind
      hash = Math.imul(hash ^ unit, PRIME)
    }
    this.end = index
    this.isLong = index - this.start > WORD_MAX
    this.word = this.isLong ? LONG : kinds === DIGIT ? NUMBER : hash
    return index > this.start
  }
}

/** Remembers what was said lately; what it has forgotten too early counts as new. */
class Recent {
  readonly #grams = new Int32Array(MEMORY)
  readonly #words = new Int32Array(MEMORY)
  /** Words of all texts are numbered, so that what another text said is long ago. */
  #word = 0

  begin(): void {
    this.#word += REPEATED_WITHIN
    if (this.#word < NUMBERS_MAX) return
    this.#words.fill(0)
    this.#word = REPEATED_WITHIN
  }

  next(): void {
    this.#word += 1
  }

  isNew(gram: number): boolean {
    const slot = (gram ^ (gram >>> 14)) & (MEMORY - 1)
    const isNew =
      this.#grams[slot] !== gram || this.#word - (this.#words[slot] ?? 0) >= REPEATED_WITHIN
    this.#grams[slot] = gram
    this.#words[slot] = this.#word
    return isNew
  }
}

/** Far more than a text has, and as much below what 32 bits hold. */
const NUMBERS_MAX = 1 << 30
/** One for all texts, since each is read without a break. */
const RECENT = new Recent()

function hashOfPiece(text: string, from: number): number {
  let hash = OFFSET_BASIS
  for (let index = from; index < from + PIECE; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME)
  return hash
}

function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ (right >>> 15) ^ right, 0x2c1b3c6d) + Math.imul(right, 0x297a2d39)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x85ebca6b) ^ (hash >>> 13)
}
