// A game day passes only where each of its alerts was quiet, fired once it was broken, and went once it was mended.
import { describe, expect, it } from 'vitest'
import type { GameDay, Scene } from './game-day.ts'
import { valueOf } from './read-metrics.ts'
import { runDay } from './run-day.ts'

const LIMITS = { calmMs: 30, holdMs: 0, fireMs: 30, goneMs: 30, pollMs: 1 }

type State = 'calm' | 'broken' | 'mended'

/** An alert engine that answers `firing` in each state. */
async function run(firing: Readonly<Record<State, readonly string[]>> | undefined) {
  let state: State = 'calm'
  const day: GameDay = {
    name: 'a-day',
    breaks: 'something',
    alerts: ['BatonOutboxStale'],
    watched: { metric: 'baton_outbox_depth', how: 'max' },
    timesFaster: 60,
    seconds: 1,
    perSecond: 1,
    breakIt: async () => void (state = 'broken'),
    mend: { says: ['mend it'], run: async () => void (state = 'mended') },
  }
  const told: string[] = []
  const result = await runDay(
    day,
    {
      scene: {} as Scene,
      judge: firing && {
        firing: async () => new Set(firing[state]),
        stop: async () => undefined,
      },
      readMetric: async () => ({ calm: 1, broken: 50, mended: 2 })[state],
      tell: (phase, words) => told.push(`${phase} ${words}`),
      pause: () => Promise.resolve(),
    },
    LIMITS,
  )
  return { result, told }
}

describe('runDay', () => {
  it('passes where the alert fires and goes, and shows the metric turn', async () => {
    const { result, told } = await run({
      calm: [],
      broken: ['BatonOutboxStale', 'BatonProcessDown'],
      mended: [],
    })
    expect(result.verdict).toBe('passed')
    expect(result.others).toEqual(['BatonProcessDown'])
    expect(result.metric).toMatchObject({ before: 1, during: 50, after: 2 })
    expect(told).toContain('mending mend it')
  })

  it.each([
    ['never fires', { calm: [], broken: [], mended: [] }],
    [
      'fires before anything is broken',
      { calm: ['BatonOutboxStale'], broken: ['BatonOutboxStale'], mended: [] },
    ],
    [
      'goes on once it is mended',
      { calm: [], broken: ['BatonOutboxStale'], mended: ['BatonOutboxStale'] },
    ],
    ['is another one', { calm: [], broken: ['BatonDeadLetters'], mended: [] }],
  ])('fails where the alert %s', async (_, firing) => {
    expect((await run(firing)).result.verdict).toBe('failed')
  })

  it('says of an alert that never fired neither when it fired nor when it went', async () => {
    const { result } = await run({ calm: [], broken: [], mended: [] })
    expect(result.alerts).toEqual([
      { alert: 'BatonOutboxStale', firedAfterSeconds: null, goneAfterSeconds: null },
    ])
  })

  it('judges nothing without a judge, and shows the metric', async () => {
    const { result } = await run(undefined)
    expect(result).toMatchObject({ verdict: 'not judged', alerts: [], metric: { during: 50 } })
  })
})

describe('valueOf', () => {
  const lines = [
    '# TYPE a gauge',
    'a{queue="x",agent="y"} 3',
    'a{queue="z"} 5',
    'a_total{queue="x"} 7',
    'b 2',
  ]

  it.each([
    [{ metric: 'a', how: 'sum' }, 8],
    [{ metric: 'a', how: 'max' }, 5],
    [{ metric: 'a', how: 'min' }, 3],
    [{ metric: 'a', where: { agent: 'y' }, how: 'sum' }, 3],
    [{ metric: 'b', how: 'max' }, 2],
    [{ metric: 'c', how: 'max' }, null],
  ] as const)('reads %j', (watched, value) => {
    expect(valueOf(watched, lines)).toBe(value)
  })
})
