// The arithmetic of budgets: a table of cases worked out by hand, and what holds whatever the counts are.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BURN_WINDOWS_SECONDS,
  burnRate,
  errorBudgetLeft,
  handoffsWithin,
  judgeLevel,
  PERIOD_SECONDS,
  quantileSeconds,
} from './burn.ts'
import type { Handoffs } from './burn.ts'
import { LATENCY_EDGES_SECONDS } from './slo.ts'

const late = (total: number, tooLate: number): Handoffs => ({ total, inTime: total - tooLate })

/** As people read them: without the last digits of floating point. */
const rounded = (value: number | null) => value && Number(value.toFixed(9))

describe('burnRate and errorBudgetLeft', () => {
  it.each([
    { total: 0, bad: 0, share: 0.99, burn: null, left: null },
    { total: 1_000, bad: 0, share: 0.99, burn: 0, left: 1 },
    { total: 1_000, bad: 5, share: 0.99, burn: 0.5, left: 0.5 },
    { total: 1_000, bad: 10, share: 0.99, burn: 1, left: 0 },
    { total: 1_000, bad: 144, share: 0.99, burn: 14.4, left: -13.4 },
    { total: 1_000, bad: 1, share: 0.999, burn: 1, left: 0 },
    { total: 1_000, bad: 1_000, share: 0.999, burn: 1_000, left: -999 },
  ])(
    '$bad of $total too late, $share promised: burns $burn',
    ({ total, bad, share, burn, left }) => {
      expect(rounded(burnRate(late(total, bad), share))).toBe(burn)
      expect(rounded(errorBudgetLeft(late(total, bad), share))).toBe(left)
    },
  )
})

describe('judgeLevel', () => {
  /** Counts for each span of time; the others hold what the longest named below them holds. */
  const over = (named: Readonly<Record<number, Handoffs>>) => (seconds: number) =>
    Object.entries(named)
      .filter(([from]) => Number(from) <= seconds)
      .map(([, handoffs]) => handoffs)
      .at(-1) ?? late(0, 0)

  it.each([
    ['nothing came', {}, 'too_little_traffic'],
    ['99 handoffs, all too late', { 300: late(99, 99) }, 'too_little_traffic'],
    ['100 handoffs, none too late', { 300: late(100, 0) }, 'met'],
    ['exactly the budget', { 86_400: late(1_000, 10) }, 'exhausted'],
    ['half of the budget, long ago', { [PERIOD_SECONDS]: late(1_000, 5) }, 'met'],
    [
      'a fifth of the last hour is too late',
      { 300: late(50, 10), 3_600: late(100, 20), [PERIOD_SECONDS]: late(100_000, 20) },
      'burning',
    ],
    [
      'the same, and over for five minutes',
      { 300: late(50, 0), 3_600: late(100, 20), 7_200: late(100_000, 20) },
      'met',
    ],
    [
      'the same on too few handoffs within the hour',
      { 300: late(50, 10), 3_600: late(99, 20), [PERIOD_SECONDS]: late(1_000_000, 20) },
      'met',
    ],
  ] as const)('%s', (_, named, state) => {
    expect(judgeLevel(over(named), 0.99)).toBe(state)
  })
})

const counted = fc
  .tuple(fc.nat(1_000_000), fc.nat(1_000_000))
  .map(([a, b]): Handoffs => ({ total: Math.max(a, b), inTime: Math.min(a, b) }))
const share = fc.constantFrom(0.9, 0.99, 0.999)

describe('whatever the counts are', () => {
  it('a budget is never more than whole, and one more that is too late never leaves more of it', () => {
    fc.assert(
      fc.property(counted, share, (handoffs, promised) => {
        const left = errorBudgetLeft(handoffs, promised)
        const next = errorBudgetLeft({ ...handoffs, total: handoffs.total + 1 }, promised)
        expect(left ?? 1).toBeLessThanOrEqual(1)
        expect(next).toBeLessThanOrEqual((left ?? 1) + 1e-9)
      }),
    )
  })

  it('a steady share of late handoffs is either within the budget or has spent it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 100_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (total, part) => {
          const steady = late(total, Math.floor(total * part))
          const rate = burnRate(steady, 0.99) ?? 0
          const state = judgeLevel(() => steady, 0.99)
          // The slowest alarm burns at the rate at which nothing is left.
          expect(state).toBe(rate >= 1 ? 'exhausted' : 'met')
        },
      ),
    )
  })

  it('a quantile lies within the edges, and a higher one is never less', () => {
    const buckets = fc
      .array(fc.nat(1_000), {
        minLength: LATENCY_EDGES_SECONDS.length + 1,
        maxLength: LATENCY_EDGES_SECONDS.length + 1,
      })
      .map((each) => each.map((_, index) => each.slice(0, index + 1).reduce((a, b) => a + b, 0)))
    fc.assert(
      fc.property(buckets, (counts) => {
        const [middle, high] = [quantileSeconds(counts, 0.5), quantileSeconds(counts, 0.99)]
        expect(middle === null).toBe(counts.at(-1) === 0)
        expect(high ?? 0).toBeGreaterThanOrEqual(middle ?? 0)
        expect(high ?? 0).toBeLessThanOrEqual(LATENCY_EDGES_SECONDS.at(-1) ?? 0)
      }),
    )
  })
})

it('interpolates a quantile as Prometheus does', () => {
  const counts = LATENCY_EDGES_SECONDS.map((edge) => (edge <= 0.1 ? 0 : edge <= 0.2 ? 80 : 100))
  // The 90th of 100 is halfway through those between 0.2 and 0.5 s.
  expect(quantileSeconds([...counts, 100], 0.9)).toBeCloseTo(0.35, 9)
})

it('knows how many were within an edge, and refuses what is none', () => {
  const counts = [...LATENCY_EDGES_SECONDS.map((edge) => (edge < 0.5 ? 3 : 7)), 9]
  expect(handoffsWithin(counts, 0.5)).toEqual({ total: 9, inTime: 7 })
  expect(handoffsWithin([], 0.5)).toEqual({ total: 0, inTime: 0 })
  expect(() => handoffsWithin(counts, 0.3)).toThrow('0.3 s is no edge')
})

it('looks over the windows of every alarm and over the period', () => {
  expect(BURN_WINDOWS_SECONDS).toEqual([
    300,
    1_800,
    3_600,
    7_200,
    21_600,
    86_400,
    259_200,
    PERIOD_SECONDS,
  ])
})
