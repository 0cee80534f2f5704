// The strict writer agrees with an independent one wherever both accept, and refuses the rest.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalBytes, canonicalJson } from './canonical-json.ts'
import { LedgerError } from './ledger-error.ts'

const pointerOf = (value: unknown): string | undefined => {
  try {
    canonicalJson(value)
    return undefined
  } catch (error) {
    if (error instanceof LedgerError && error.code === 'BATON_CANONICAL_INVALID')
      return error.pointer
    throw error
  }
}

describe('canonical JSON', () => {
  test('equals an independent RFC 8785 writer on random JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value))
      }),
      { numRuns: 1_000 },
    )
  })

  test('equals it on random doubles', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value))
      }),
      { numRuns: 1_000 },
    )
  })

  test('writes the example of RFC 8785 section 3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    const names = Object.values(JSON.parse(canonicalJson(value)) as object)
    expect(canonicalJson(value).startsWith('{"\\r":"Carriage Return","1":"One"')).toBe(true)
    expect(names).toHaveLength(7)
    expect(canonicalJson([Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    )
  })

  test('never contains a raw line feed, so a line of a file is the hashed bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary-ascii' }), (value) => {
        expect(canonicalBytes(value).includes(0x0a)).toBe(false)
      }),
    )
  })

  const sparse: unknown[] = [1]
  sparse[2] = 3
  test.each([
    ['NaN', { a: [0, Number.NaN] }, '/a/1'],
    ['an infinity', { 'a/b~c': Infinity }, '/a~1b~0c'],
    ['undefined', { a: undefined }, '/a'],
    ['a hole', sparse, '/1'],
    ['a bigint', [1n], '/0'],
    ['a date', { at: new Date(0) }, '/at'],
    ['a map', new Map(), ''],
    ['a function', { toJSON: () => 1 }, '/toJSON'],
    ['a symbol key', { [Symbol('s')]: 1 }, ''],
    ['a lone surrogate in a value', ['\ud800'], '/0'],
    ['a lone surrogate in a key', { '\udc00': 1 }, '/\udc00'],
  ])('refuses %s and says where', (_, value, pointer) => {
    expect(pointerOf(value)).toBe(pointer)
  })

  test('refuses nesting deeper than 32 and accepts 32', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
    expect(pointerOf(nested(32))).toBeUndefined()
    expect(pointerOf(nested(33))).toBe('/0'.repeat(32))
    expect(pointerOf(nested(5_000))).toBe('/0'.repeat(32))
  })
})
