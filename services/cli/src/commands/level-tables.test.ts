// `slo` and `top` fit the terminal they are shown on, and put first what hurts most.
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { levelsText } from './level-tables.ts'
import { percent, percentOf } from './service-levels.ts'
import type { Levels } from './service-levels.ts'
import { frameOf } from './top.ts'

const burn = (rate: number | null) =>
  [300, 1_800, 3_600, 7_200, 21_600, 86_400, 259_200, 2_592_000].map((seconds) => ({
    seconds,
    rate,
  }))
const QUEUE = { transport: 'queue', share: 0.99, withinMs: 500 }
const PAIR = { ...QUEUE, perSecond: 1.25, p50Ms: 31, p99Ms: 118 }
const NONE = { handoffs: 0, attained: null, errorBudgetLeft: null, burn: burn(null) } as const
const recent = (perSecond: number) => ({ perSecond, p50Ms: null, p99Ms: null })
const hours = (...newest: (number | null)[]) => [
  ...Array<number | null>(24 - newest.length).fill(null),
  ...newest,
]

const LEVELS: Levels = {
  at: '2026-11-23T03:00:07.000Z',
  since: '2026-11-21T03:00:00.000Z',
  periodDays: 30,
  trafficMin: 100,
  objectives: [
    { ...QUEUE, ...NONE, transport: 'http', state: 'too_little_traffic', hours: hours() },
    {
      ...QUEUE,
      share: 0.999,
      withinMs: 2_000,
      state: 'met',
      handoffs: 120_000,
      attained: 0.99999,
      errorBudgetLeft: 0.99,
      burn: burn(0.01),
      hours: hours(1, 1, 0.9999, 1),
    },
    {
      ...QUEUE,
      state: 'burning',
      handoffs: 120_000,
      attained: 0.9942,
      errorBudgetLeft: 0.42,
      burn: burn(15.2),
      hours: hours(1, 0.995, 0.98, 0.96, 0.93, 0.8),
    },
  ],
  pairs: [
    {
      ...PAIR,
      fromAgent: 'intake',
      toAgent: 'legal-analysis',
      state: 'exhausted',
      handoffs: 4_000,
      attained: 0.9,
      errorBudgetLeft: -9,
      burn: burn(10),
      p99Ms: 1_970,
    },
    {
      ...PAIR,
      fromAgent: 'a\u001b[2J',
      toAgent: '法務分析',
      state: 'too_little_traffic',
      handoffs: 31,
      attained: 1,
      errorBudgetLeft: 1,
      burn: burn(0),
    },
  ],
  pairsLeftOut: 0,
  rates: [
    {
      title: 'refused by a check',
      limit: 0.02,
      state: 'over',
      windows: [
        { part: 5, whole: 100, share: 0.05 },
        { part: 30, whole: 1_000, share: 0.03 },
      ],
    },
    {
      title: 'rolled back to the sender',
      limit: 0.01,
      state: 'too_little_traffic',
      windows: [
        { part: 0, whole: 0, share: null },
        { part: 1, whole: 31, share: 1 / 31 },
      ],
    },
    {
      title: 'compressed before sending',
      limit: null,
      state: 'no_limit',
      windows: [
        { part: 0, whole: 9, share: 0 },
        { part: 0, whole: 9, share: 0 },
      ],
    },
  ],
  recent: {
    sent: recent(12.4),
    accepted: { perSecond: 12.1, p50Ms: 31, p99Ms: 118 },
    refused: recent(0),
    rolledBack: recent(0),
  },
  waiting: {
    deadLetters: 2,
    deadLetterOldestAgeSeconds: 5_400,
    approvals: 1,
    escalations: 0,
    alerts: 0,
  },
  outbox: { depth: 3, oldestAgeSeconds: 0.4 },
  queues: [
    { agent: 'intake', depth: 1, oldestAgeSeconds: 0.1 },
    { agent: 'legal-analysis', depth: 40, oldestAgeSeconds: 95 },
  ],
}
const view = { columns: 100, rows: 24, isPaused: false, failure: '' }

describe('slo', () => {
  it('shows everything where there is room', () => {
    expect(levelsText(LEVELS, 160)).toMatchInlineSnapshot(`
      "Service levels, 30 days; counted for 2.0 days; 2026-11-23 03:00:07 UTC

      OBJECTIVE               FOR  HANDOFFS  IN TIME  ERROR BUDGET LEFT  BURN 1 H    6 H    3 D  BURN BY HOUR, 24 H        STATE
      queue within 500 ms    99 %   120,000  99.42 %  ████░░░░░░  42 %      15.2×  15.2×  15.2×  ··················▁▂▃▅▆█  ▲ burning
      queue within 2.0 s   99.9 %   120,000  99.99 %  █████████░  99 %       0.0×   0.0×   0.0×  ····················▁▁▂▁  ✓ met
      No handoffs by http.

      PAIR                     BY     HANDOFFS   /S    P50     P99  IN TIME  BURN 1 H  STATE
      intake → legal-analysis  queue     4,000  1.3  31 ms   2.0 s     90 %     10.0×  ✗ exhausted
      a [2J → 法務分析         queue        31  1.3  31 ms  118 ms    100 %      0.0×  – too little traffic to judge

      RATE                       15 MIN     1 H           OF  LIMIT  STATE
      refused by a check         5.00 %  3.00 %  30 of 1,000    2 %  ✗ over
      rolled back to the sender       –  3.23 %      1 of 31    1 %  – too little traffic to judge
      compressed before sending  0.00 %  0.00 %       0 of 9      –
      dead letters that wait                  2                   0  ✗ over

      Waits for a person: 2 dead letters (oldest 90.0 min), 1 approval."
    `)
  })

  it('leaves columns out where there is little', () => {
    expect(levelsText(LEVELS, 80)).toMatchInlineSnapshot(`
      "Service levels, 30 days; counted for 2.0 days; 2026-11-23 03:00:07 UTC

      OBJECTIVE               FOR  IN TIME  ERROR BUDGET LEFT  BURN 1 H  STATE
      queue within 500 ms    99 %  99.42 %  ████░░░░░░  42 %      15.2×  ▲ burning
      queue within 2.0 s   99.9 %  99.99 %  █████████░  99 %       0.0×  ✓ met
      No handoffs by http.

      PAIR                     HANDOFFS   /S    P50     P99  IN TIME  STATE
      intake → legal-analysis     4,000  1.3  31 ms   2.0 s     90 %  ✗ exhausted
      a [2J → 法務分析               31  1.3  31 ms  118 ms    100 %  – too little

      RATE                       15 MIN     1 H           OF  LIMIT  STATE
      refused by a check         5.00 %  3.00 %  30 of 1,000    2 %  ✗ over
      rolled back to the sender       –  3.23 %      1 of 31    1 %  – too little
      compressed before sending  0.00 %  0.00 %       0 of 9      –
      dead letters that wait                  2                   0  ✗ over

      Waits for a person: 2 dead letters (oldest 90.0 min), 1 approval."
    `)
  })

  it.each([160, 120, 100, 80, 60, 40, 20])('is never wider than %i columns', (width) => {
    const widths = levelsText(LEVELS, width)
      .split('\n')
      .map((line) => stringWidth(line))
    expect(Math.max(...widths)).toBeLessThanOrEqual(width)
  })

  it('says that nothing is counted yet', () => {
    const empty = { ...LEVELS, since: null, pairs: [], objectives: LEVELS.objectives.slice(0, 1) }
    expect(levelsText(empty, 80).split('\n').slice(0, 3)).toEqual([
      'Service levels, 30 days: nothing is counted yet',
      '',
      'No handoffs by http.',
    ])
  })
})

describe('top', () => {
  it('shows what goes through, what waits and who is slow', () => {
    expect(frameOf(LEVELS, view)).toMatchInlineSnapshot(`
      "Baton at 03:00:07 UTC, counted every 10 s   space pauses, q quits

      per second sent 12.4, accepted 12.1, refused 0.0, rolled back 0.0
      latency    p50 31 ms, p99 118 ms
      waits      outbox 3 (oldest 400 ms), queues 41 (oldest 95.0 s)
      people     2 dead letters (oldest 90.0 min), 1 approval
      objective  queue within 500 ms for 99 %: ▲ burning, 42 % left
      objective  queue within 2.0 s for 99.9 %: ✓ met, 99 % left

      QUEUE           WAIT  OLDEST
      legal-analysis    40  95.0 s
      intake             1  100 ms

      PAIR                     BY     HANDOFFS   /S    P50     P99  IN TIME  BURN 1 H  STATE
      intake → legal-analysis  queue     4,000  1.3  31 ms   2.0 s     90 %     10.0×  ✗ exhausted
      a [2J → 法務分析         queue        31  1.3  31 ms  118 ms    100 %      0.0×  – too little"
    `)
  })

  it('says that it is paused, and why it could not read', () => {
    const frame = frameOf(LEVELS, { ...view, isPaused: true, failure: 'no answer' })
    expect(frame.split('\n').slice(0, 2)).toEqual([
      'Baton at 03:00:07 UTC, PAUSED   space goes on, q quits',
      '✗ failed: no answer',
    ])
  })

  it('shows as many pairs as there is room for, the busiest first', () => {
    const pairs = Array.from({ length: 50 }, (_, index) => ({
      ...(LEVELS.pairs[0] ?? never()),
      fromAgent: `agent-${index}`,
      perSecond: index,
    }))
    const frame = frameOf({ ...LEVELS, pairs }, view).split('\n')
    expect(frame.length).toBeLessThanOrEqual(view.rows)
    expect(frame.find((line) => line.includes('agent-'))).toContain('agent-49')
  })
})

function never(): never {
  throw new Error('the fixture has a pair')
}

it('never shows as whole what is not, nor as none what is some', () => {
  expect([percent(0.99999), percent(1), percent(0.9984), percent(-13.4)]).toEqual([
    '99.99 %',
    '100 %',
    '99.84 %',
    '-1,340 %',
  ])
  expect([percentOf(0.000001), percentOf(0), percentOf(0.03)]).toEqual([
    '0.01 %',
    '0.00 %',
    '3.00 %',
  ])
})
