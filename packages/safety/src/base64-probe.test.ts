// A token is called binary only if decoding it shows at least two broken characters; text never is.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBinary, PROBE_LENGTH } from './base64-probe.ts'

/** Replacement and control characters in the decoded begin of a token. */
function brokenIn(token: string): number {
  const decoded = Buffer.from(token.slice(0, PROBE_LENGTH), 'base64').toString('utf8')
  // eslint-disable-next-line no-control-regex -- control characters are what is counted
  return decoded.match(/[\ufffd\x7f\x00-\x08\x0b\x0c\x0e-\x1f]/gu)?.length ?? 0
}

describe('isBinary', () => {
  it('promises at least two broken characters', () => {
    const tokens = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ABCXYZabcxyz0189+/-_'), minLength: 24 }),
      fc.uint8Array({ minLength: 18 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
      fc.uuid(),
    )
    fc.assert(
      fc.property(tokens, (token) => {
        expect(isBinary(token, [0, token.length]) && brokenIn(token) < 2).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('is false for text in any script', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', ' ', 'é', 'д', '中', '🙂', '\n') })
    fc.assert(
      fc.property(texts, (text) => {
        const token = Buffer.from(text).toString('base64url')
        expect(isBinary(token, [0, token.length])).toBe(false)
      }),
    )
  })

  it('is true for bytes that are no text, and reads only its span', () => {
    const token = Buffer.from([0, 1, 2, 0xff, 0xfe, 3]).toString('base64')
    expect(isBinary(`text ${token}`, [5, 5 + token.length])).toBe(true)
    expect(isBinary(`text ${token}`, [5, 8])).toBe(false)
  })
})
