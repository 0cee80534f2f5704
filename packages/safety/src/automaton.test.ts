// The literal scan reports exactly the occurrences that a naive search finds.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLiteralScan, STATES_MAX } from './automaton.ts'

function occurrences(text: string, literals: readonly string[]): string[] {
  const found: string[] = []
  for (const [index, literal] of literals.entries()) {
    for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1))
      found.push(`${at + literal.length}:${index}`)
  }
  return found.toSorted()
}

describe('createLiteralScan', () => {
  it('has as many states as its table can name, and says so where literals need more', () => {
    // A state for each unit, and one for the begin.
    const longest = 'a'.repeat(STATES_MAX - 1)
    let ends = 0
    createLiteralScan([{ text: longest, bits: 1 }])(`b${longest}a`, () => (ends += 1))
    expect(ends).toBe(2)
    expect(() => createLiteralScan([{ text: `${longest}a`, bits: 1 }])).toThrow(
      'the literals need 65537 states',
    )
  })

  it('equals a naive search', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', 'д', '字'),
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 1, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'д', '字', 'x') }),
        (literals, text) => {
          const found: string[] = []
          const scan = createLiteralScan(
            literals.map((literal, index) => ({ text: literal, bits: 1 << index })),
          )
          scan(text, (end, bits) => {
            for (let index = 0; index < literals.length; index++)
              if ((bits & (1 << index)) !== 0) found.push(`${end}:${index}`)
          })
          expect(found.toSorted()).toEqual(occurrences(text, literals))
        },
      ),
    )
  })
})
