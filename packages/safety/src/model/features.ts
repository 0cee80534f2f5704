// Cuts a text into tokens and names the hashed n-grams that end with each of them, in one linear pass.

/** A longer token is one of no known word: a key, a digest, an encoded text. */
const WORD_MAX = 32
const GRAM = 4
const START = 0x811c9dc5
const BLOB = 1
const NUMBER = 2

/** Scripts without blanks between words are read by the character. */
const TOKENS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}_])+/gu

/** The tokens of a text and their n-grams, as columns. */
export interface Features {
  readonly tokens: number
  /** UTF-16 offsets in the text. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** Hashed n-grams, in the order of the tokens that they end with. */
  readonly grams: readonly number[]
  /** The n-grams of token `i` are `grams[first[i]]` up to `grams[first[i + 1]]`. */
  readonly first: readonly number[]
  /** Where each n-gram begins in the text; it ends no later than its token. */
  readonly gramStarts: readonly number[]
  readonly gramEnds: readonly number[]
}

/** Words of one to three tokens, and four characters within a word; the text is normalised. */
export function readFeatures(text: string): Features {
  const starts: number[] = []
  const ends: number[] = []
  const grams: number[] = []
  const first: number[] = [0]
  const gramStarts: number[] = []
  const gramEnds: number[] = []
  const words: number[] = []
  const add = (gram: number, start: number, end: number): void => {
    grams.push(gram >>> 0)
    gramStarts.push(start)
    gramEnds.push(end)
  }
  for (const { 0: token, index: start } of text.matchAll(TOKENS)) {
    const end = start + token.length
    const last = words.length - 1
    const word = hashWord(token)
    add(mix(word, 11), start, end)
    if (last >= 0) {
      const pair = mix(words[last] ?? 0, word)
      add(mix(pair, 12), starts[last] ?? start, end)
      if (last >= 1) add(mix(mix(words[last - 1] ?? 0, pair), 13), starts[last - 1] ?? start, end)
    }
    if (token.length <= WORD_MAX)
      for (let from = 0; from + GRAM <= token.length; from++)
        add(mix(hashUnits(token, from, from + GRAM), 14), start + from, start + from + GRAM)
    words.push(word)
    starts.push(start)
    ends.push(end)
    first.push(grams.length)
  }
  return { tokens: words.length, starts, ends, grams, first, gramStarts, gramEnds }
}

function hashWord(token: string): number {
  if (token.length > WORD_MAX) return BLOB
  return /^\d+$/u.test(token) ? NUMBER : hashUnits(token, 0, token.length)
}

function hashUnits(text: string, from: number, until: number): number {
  let hash = START
  for (let index = from; index < until; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}

function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ (right >>> 15) ^ right, 0x2c1b3c6d) + Math.imul(right, 0x297a2d39)
  hash ^= hash >>> 15
  return Math.imul(hash, 0x85ebca6b) ^ (hash >>> 13)
}
