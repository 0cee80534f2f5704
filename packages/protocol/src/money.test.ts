// Dollars become whole micro-dollars and back without drift.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { microUSD, usdFromMicro } from './money.ts'

describe('microUSD', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.08, 80_000],
    [0.1 + 0.2, 300_000],
    [1.0000005, 1_000_001],
    [524.7867815, 524_786_782],
    [-1.0000005, -1_000_001],
    [0.0000005, 1],
    [-0.0000005, -1],
    [0.00000049, 0],
    [-0.00000049, 0],
    [1e-7, 0],
    [5e-324, 0],
    [1_000_000_000, 1e15],
    [1.005, 1_005_000],
    [4.35, 4_350_000],
  ])('%f dollars are %i', (usd, micro) => {
    expect(microUSD(usd)).toBe(micro)
  })

  it('comes back from dollars unchanged', () => {
    const amounts = fc.integer({ min: -1e15, max: 1e15 })
    expect(() =>
      fc.assert(fc.property(amounts, (micro) => microUSD(usdFromMicro(micro)) === micro)),
    ).not.toThrow()
  })

  it('is symmetrical', () => {
    const amounts = fc.double({ min: 0, max: 1e9, noNaN: true })
    expect(() =>
      fc.assert(fc.property(amounts, (usd) => microUSD(-usd) === (0 - microUSD(usd) || 0))),
    ).not.toThrow()
  })
})
