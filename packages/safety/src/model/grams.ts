// Cuts a normalised text into words and names the hashed n-grams that end with each of them, in one linear pass.

/** A longer word is one of no known language: a key, a digest, an encoded text. */
const WORD_MAX = 32
/** A shorter word says something only beside others: "you", "the", "your" stand everywhere. */
const WORD_MIN = 5
const PIECE = 4
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
const LONG = 1
const NUMBER = 2

/** What is said again within so many words adds nothing: lists and floods repeat themselves. */
const REPEATED_WITHIN = 32
const MEMORY = 1 << 14

/** The words of a text and their n-grams, as columns; offsets are those of the text. */
export interface Grams {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Hashes, in the order of the words that the n-grams end with. */
  readonly hashes: readonly number[]
  /** The n-grams of word `i` are `hashes[first[i]]` up to `hashes[first[i + 1]]`. */
  readonly first: readonly number[]
  readonly gramStarts: readonly number[]
  readonly gramEnds: readonly number[]
}

const LETTER = 1
const DIGIT = 2
const KINDS = new Uint8Array(128)
for (let unit = 97; unit <= 122; unit++) KINDS[unit] = LETTER
for (let unit = 48; unit <= 57; unit++) KINDS[unit] = DIGIT

/**
 * Words of one to three, and four characters in a row within a word. A word is of the letters and digits of ASCII, into which Latin
 * ones were folded; other scripts are not read, since the model learns from English.
 */
export function readGrams(text: string): Grams {
  const [starts, ends]: [number[], number[]] = [[], []]
  const [hashes, gramStarts, gramEnds]: [number[], number[], number[]] = [[], [], []]
  const first = [0]
  const recent = new Recent()
  let [before, previous] = [0, 0]
  let [startBefore, startPrevious] = [0, 0]
  let index = 0
  for (let words = 0; ; words++) {
    while (index < text.length && kindAt(text, index) === 0) index++
    if (index >= text.length) return { starts, ends, hashes, first, gramStarts, gramEnds }
    const start = index
    let kinds = 0
    let hash = OFFSET_BASIS
    for (let kind = kindAt(text, index); kind !== 0; kind = kindAt(text, ++index)) {
      kinds |= kind
      hash = Math.imul(hash ^ text.charCodeAt(index), PRIME)
    }
    const isLong = index - start > WORD_MAX
    const word = isLong ? LONG : kinds === DIGIT ? NUMBER : hash
    const add = (gram: number, from: number, until: number): void => {
      if (!recent.isNew(gram, words)) return
      hashes.push(gram)
      gramStarts.push(from)
      gramEnds.push(until)
    }
    const isShort = index - start < WORD_MIN
    if (!isShort) add(mix(word, 11), start, index)
    const pair = mix(previous, word)
    if (words >= 1) add(mix(pair, 12), startPrevious, index)
    if (words >= 2) add(mix(mix(before, pair), 13), startBefore, index)
    if (!isShort && !isLong)
      for (let from = start; from + PIECE <= index; from++)
        add(mix(hashOf(text, from, from + PIECE), 14), from, from + PIECE)
    starts.push(start)
    ends.push(index)
    first.push(hashes.length)
    ;[before, previous] = [previous, word]
    ;[startBefore, startPrevious] = [startPrevious, start]
  }
}

/** Remembers what was said lately; what it has forgotten too early counts as new. */
class Recent {
  readonly #grams = new Int32Array(MEMORY)
  readonly #words = new Int32Array(MEMORY).fill(-REPEATED_WITHIN)

  isNew(gram: number, word: number): boolean {
    const slot = (gram ^ (gram >>> 14)) & (MEMORY - 1)
    const isNew = this.#grams[slot] !== gram || word - (this.#words[slot] ?? 0) >= REPEATED_WITHIN
    this.#grams[slot] = gram
    this.#words[slot] = word
    return isNew
  }
}

function kindAt(text: string, index: number): number {
  return KINDS[text.charCodeAt(index)] ?? 0
}

function hashOf(text: string, from: number, until: number): number {
  let hash = OFFSET_BASIS
  for (let index = from; index < until; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME)
  return hash
}

function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ (right >>> 15) ^ right, 0x2c1b3c6d) + Math.imul(right, 0x297a2d39)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x85ebca6b) ^ (hash >>> 13)
}
