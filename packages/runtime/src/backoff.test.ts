// Every wait lies within its bounds, for every attempt and every chance.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fullJitterMs } from './backoff.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const bound = fc.integer({ min: 1, max: 3_600_000 })

it('waits at least 0 and less than min(cap, base * 2^attempt), in whole milliseconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), bound, bound, chance, (attempt, baseMs, capMs, at) => {
      const wait = fullJitterMs(attempt, { baseMs, capMs }, () => at)
      expect(Number.isInteger(wait)).toBe(true)
      expect(wait).toBeGreaterThanOrEqual(0)
      expect(wait).toBeLessThan(Math.min(capMs, baseMs * 2 ** attempt))
    }),
  )
})

it('spreads: the whole range can occur', () => {
  const bounds = { baseMs: 100, capMs: 1_000 }
  expect(fullJitterMs(2, bounds, () => 0)).toBe(0)
  expect(fullJitterMs(2, bounds, () => 0.999_999)).toBe(399)
  expect(fullJitterMs(60, bounds, () => 0.5)).toBe(500)
})
