// The arithmetic of budgets: a table of cases worked out by hand, and what holds whatever the counts are.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BURN_WINDOWS_SECONDS,
  budgetLeft,
  burnRate,
  handoffsWithin,
  judgeLevel,
  PERIOD_SECONDS,
  quantileSeconds,
} from './burn.ts'
import type { Handoffs } from './burn.ts'
import { BURN_ALARMS } from './objectives.ts'
import { LATENCY_EDGES_SECONDS } from './slo.ts'

const late = (total: number, tooLate: number): Handoffs => ({ total, inTime: total - tooLate })

describe('burnRate and budgetLeft', () => {
  it.each([
    // handoffs, too late, share, burn rate, budget left
    [0, 0, 0.99, null, null],
    [1_000, 0, 0.99, 0, 1],
    [1_000, 5, 0.99, 0.5, 0.5],
    [1_000, 10, 0.99, 1, 0],
    [1_000, 144, 0.99, 14.4, -13.4],
    [1_000, 1, 0.999, 1, 0],
    [1_000, 1_000, 0.999, 1_000, -999],
  ])(
    '%i handoffs, %i too late, %f promised: burns %s, %s left',
    (total, bad, share, burn, left) => {
      expect(burnRate(late(total, bad), share)).toEqual(
        burn === null ? null : expect.closeTo(burn, 9),
      )
      expect(budgetLeft(late(total, bad), share)).toEqual(
        left === null ? null : expect.closeTo(left, 9),
      )
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
        const left = budgetLeft(handoffs, promised)
        const next = budgetLeft({ ...handoffs, total: handoffs.total + 1 }, promised)
        if (left === null) return handoffs.total === 0
        return left <= 1 && next !== null && next <= left + 1e-9
      }),
    )
  })

  it('a steady share of late handoffs burns in every alarm whose rate it passes, and in no other', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 100_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (total, part) => {
          const steady = late(total, Math.floor(total * part))
          const rate = burnRate(steady, 0.99) ?? 0
          const state = judgeLevel(() => steady, 0.99)
          if (rate >= 1) return state === 'exhausted'
          return state === (BURN_ALARMS.some(({ rateMin }) => rate > rateMin) ? 'burning' : 'met')
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
        if (middle === null || high === null) return counts.at(-1) === 0
        return middle >= 0 && high >= middle && high <= (LATENCY_EDGES_SECONDS.at(-1) ?? 0)
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
