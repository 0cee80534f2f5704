// Tokens are counted by the real tokenizer, only when asked, and in linear time.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { countTokens, tokensAtMost } from './token-count.ts'

const { cache } = createRequire(import.meta.url)
const isLoaded = () => Object.keys(cache).some((path) => path.includes('gpt-tokenizer'))

describe('token count', () => {
  it('loads the tokenizer when the first text is counted', () => {
    expect(isLoaded()).toBe(false)
    expect(countTokens('hello world')).toBe(2)
    expect(isLoaded()).toBe(true)
  })

  it.each([
    ['', 0],
    ['tokenization', 2],
    ['The quick brown fox jumps over the lazy dog.', 10],
    ['<|endoftext|>', 7],
    ['責任は無制限', 6],
  ])('counts %j', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens)
  })

  it('does not count more because it cuts long text', () => {
    const sentence = 'The quick brown fox jumps over the lazy dog. '
    expect(countTokens(sentence.repeat(1000))).toBeLessThanOrEqual(10_001)
    expect(countTokens(sentence.repeat(1000))).toBeGreaterThanOrEqual(10_000)
  })

  it('is never more than the bytes', () => {
    for (const text of ['abc', '責任', '😂😂', '\u0000\u0001', '!?!?', '   '])
      expect(countTokens(text)).toBeLessThanOrEqual(tokensAtMost(text))
  })

  it.each(['a', ' ', '\n', '1', '!?', '😂', '\u200b', "'s", '\ud800'])(
    'comes to an end with 1 MiB of %j',
    (unit) => {
      expect(countTokens(unit.repeat(Math.floor(1_048_576 / unit.length)))).toBeGreaterThan(1000)
    },
  )
})
