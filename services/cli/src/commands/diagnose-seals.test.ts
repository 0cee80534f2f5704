// What the doctor says of seals, people and waivers: without a seal something is broken, and nothing that is missing counts as kept.
import { describe, expect, it } from 'vitest'
import { judgeBegun, judgeSealers, judgeSeals } from './diagnose-seals.ts'
import type { SealFacts } from './diagnose-seals.ts'
import { summaryOf } from './doctor.ts'

const NOW = Date.parse('2026-11-25T12:00:00.000Z')
const before = (ms: number) => new Date(NOW - ms).toISOString()
const seals = (changes: object = {}) => ({
  entries: 9,
  sealedAt: before(1_000),
  witnessed: 9,
  anchorsAgreed: 1,
  anchorsUnasked: 0,
  handovers: [],
  isKeyInForce: true,
  ...changes,
})
const HANDOVER = { seal: 7, at: before(60_000), from: '00112233', to: '1f2e3d4c' }
const judged = (changes: Partial<SealFacts>) =>
  judgeSeals({
    seals: seals(),
    records: 100,
    isKeyKnown: true,
    isWaived: false,
    unsealedSinceMs: null,
    nowMs: NOW,
    ...changes,
  }).map(({ mark, text }) => `${mark}: ${text}`)

describe('the seals of a log', () => {
  it.each<readonly [string, Partial<SealFacts>, readonly RegExp[]]>([
    ['are kept', {}, [/^passed/, /^passed: 9 seals of 9/]],
    ['nobody makes', { isKeyKnown: false, seals: null }, [/^failed.*BATON_SEAL_PUBLIC_KEY/]],
    [
      'nobody makes, as somebody said',
      { isKeyKnown: false, seals: null, isWaived: true },
      [/^unknown: waived/],
    ],
    ['are not there yet', { seals: seals({ entries: 0 }) }, [/^failed.*no seal/]],
    [
      'have nothing to cover',
      { seals: seals({ entries: 0 }), records: 0 },
      [/^unknown.*no record yet/],
    ],
    ['are late', { unsealedSinceMs: NOW - 61_000 }, [/^failed.*for 61 s/, /^passed/]],
    ['are coming', { unsealedSinceMs: NOW - 2_000 }, [/^passed/, /^passed/]],
    [
      'have stopped',
      { seals: seals({ sealedAt: before(3_600_000) }) },
      [/^unknown.*3600 s old/, /^passed/],
    ],
    [
      'were handed over',
      { seals: seals({ handovers: [HANDOVER] }) },
      [/^passed/, /^passed/, /^passed: it was handed to 1f2e3d4c with seal 7/],
    ],
    [
      'were handed over, which is not known here',
      { seals: seals({ handovers: [HANDOVER], isKeyInForce: false }) },
      [/^passed/, /^passed/, /^unknown.*set BATON_SEAL_PUBLIC_KEY/],
    ],
    ['nobody has seen', { seals: seals({ witnessed: 0 }) }, [/^passed/, /^failed.*no witness/]],
  ])('that %s', (_, changes, expected) => {
    const found = judged(changes)
    expect(found).toHaveLength(expected.length)
    for (const [at, pattern] of expected.entries()) expect(found[at]).toMatch(pattern)
  })
})

describe('what processes began with', () => {
  const person = { code: 'PERSON', value: 'ann:reviewer:00112233aabbccdd', sha256: null }
  const allowed = { code: 'ALLOWED', value: 'BATON_ALLOW_PLAINTEXT', sha256: null }

  it('is kept where people are named and nothing is waived', () => {
    const marks = judgeBegun(new Map([['gateway', [person]]])).map(({ mark }) => mark)
    expect(marks).toEqual(['passed', 'passed'])
  })

  it('names who has no people, and what is allowed', () => {
    const found = judgeBegun(
      new Map([
        ['gateway', [person]],
        ['receiver', [allowed]],
      ]),
    )
    expect(found).toMatchObject([
      { mark: 'unknown', text: expect.stringContaining('receiver began without BATON_PEOPLE') },
      { mark: 'unknown', ids: ['receiver: BATON_ALLOW_PLAINTEXT'] },
    ])
  })
})

it('that nothing is broken is said only where everything was judged', () => {
  const said = (...marks: readonly ('passed' | 'failed' | 'unknown')[]) =>
    summaryOf(marks.map((mark) => ({ mark })))
  expect(said('passed', 'passed')).toBe('Nothing is broken.')
  expect(said('passed', 'unknown')).toBe(
    'Nothing is known to be broken; 1 rule marked – is not kept here, or cannot be judged.',
  )
  expect(said('failed', 'unknown')).toBe('1 rule is broken.')
})

describe('who seals', () => {
  const seen = {
    holder: 'one /var/lib/sealer.json',
    epoch: 3,
    witness: 'witness+key',
    isHeld: true,
    standbys: ['two /var/lib/sealer.json'],
  }
  const told = (changes: Partial<Parameters<typeof judgeSealers>[0]>) =>
    judgeSealers({ ...seen, ...changes }).map(({ mark, text }) => `${mark}: ${text}`)

  it('is told with who stands by', () => {
    expect(told({})[0]).toMatch(/^passed: one .* seals \(lease 3\); two .* stands by$/)
  })
  it('has to be mended where nobody stands by, or nobody leads', () => {
    expect(told({ standbys: [] })[0]).toMatch(/^unknown.*nobody stands by/)
    expect(told({ isHeld: false })[0]).toMatch(/^unknown: nobody holds the lease; one/)
  })
  it('is one alone where no witness is asked, and a second one waits in vain', () => {
    expect(told({ witness: null, standbys: [] })[0]).toMatch(/^passed.*no other one was set up/)
    expect(told({ witness: null })[0]).toMatch(/^unknown.*a standby needs a witness/)
    expect(told({ holder: '' })).toEqual([])
    expect(judgeSealers(undefined)).toEqual([])
  })
})
