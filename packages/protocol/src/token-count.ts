// Counts tokens with a real tokenizer (o200k_base), in linear time for any text.
import { createRequire } from 'node:module'

type CountTokens = (text: string, options: { disallowedSpecial: Set<string> }) => number

const require = createRequire(import.meta.url)
let loaded: CountTokens | undefined

/**
 * The number of tokens of a text. The tokenizer takes 0.4 s to load, so it is loaded when first
 * needed; text that looks like a control token is counted as the plain text it is.
 */
export function countTokens(text: string): number {
  loaded ??= (require('gpt-tokenizer/encoding/o200k_base') as { countTokens: CountTokens })
    .countTokens
  let tokens = 0
  for (const piece of piecesOf(text)) tokens += loaded(piece, PLAIN_TEXT)
  return tokens
}

const PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/** Never fewer than the tokens of the text, and cheap: no token is shorter than a byte. */
export function tokensAtMost(text: string): number {
  return Buffer.byteLength(text)
}

const PIECE_MAX = 4096
const WORD_MAX = 128

/**
 * Cuts the text where a tokenizer would cut anyway, before white space. Merging is quadratic in
 * the length of a word, so an endless word is cut as well; that adds a token per cut at most.
 */
function* piecesOf(text: string): Generator<string> {
  let start = 0
  let wordStart = 0
  for (let index = 0; index < text.length; index += 1) {
    const space = isSpace(text.charCodeAt(index))
    const full = index - start >= PIECE_MAX && space
    if (full || index - wordStart >= WORD_MAX) {
      yield text.slice(start, index)
      start = index
      wordStart = index
    } else if (space) wordStart = index
  }
  if (start < text.length) yield text.slice(start)
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
