// What a compression had to keep is looked for where it arrives: whoever lost a fact on the way is found out (E23).
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleAgent, sampleKeyRing, sampleScan, sampleState } from '../fixtures/sample-handoff.ts'
import type { HandoffConstraints } from './agent-state.ts'
import { buildHandoff } from './build-handoff.ts'
import { canonicalJson } from './canonical-json.ts'
import { withoutLostFacts } from './checks/pinned-facts.ts'
import type { Summarise } from './compress-context.ts'
import type { Turn } from './generated/handoff.ts'
import type { HandoffMessage } from './handoff-message.ts'
import { judgeHandoff } from './judge-handoff.ts'
import { lostFacts, pinnedFacts, saidIn, valuesIn } from './pinned-facts.ts'
import { signHandoff } from './signature.ts'
import { statementsOf } from './statements.ts'
import { summariseTurns } from './summarise-turns.ts'
import { countTokens } from './token-count.ts'

const SAID = {
  decisions: 'We decided to keep clause 9 because of case law.',
  constraints: 'The report must be ready by Friday.',
  warnings: 'Warning: the annex has no date.',
  values: 'The loan is 240,000 EUR for file LN-77.',
} as const

const talk = { role: 'user', content: 'That sounds good to me, please go on with it. '.repeat(12) }
const conversationHistory: readonly Turn[] = [
  ...Object.values(SAID).map((content) => ({ role: 'assistant', content })),
  ...Array.from({ length: 40 }, () => talk),
]

const build = (
  condense: { readonly summarise?: Summarise } = {},
  constraints: HandoffConstraints = {},
) =>
  buildHandoff(
    sampleState({
      conversationHistory,
      currentState: { extractedClauses: [], riskFlags: [] },
    }),
    sampleAgent.type,
    { receiverContextWindowTokens: 4_000, ...constraints },
    condense,
  ).message

const judge = (message: HandoffMessage, more: object = {}) =>
  judgeHandoff(signHandoff(message, sampleKeyRing), {
    agent: sampleAgent,
    keyRing: sampleKeyRing,
    scan: sampleScan,
    ...more,
  })

/** Keeps everything but one statement. */
const dropping =
  (statement: string): Summarise =>
  (older, bounds) =>
    summariseTurns(older, bounds).replace(statement.slice(0, -1), 'something')

describe('E23 pinned facts', () => {
  it('are stated by whoever compresses, in version 2.2, and none of their words is', () => {
    const message = build()
    expect(message).toMatchObject({
      schemaVersion: '2.2',
      pinnedFacts: {
        decisions: [expect.stringMatching(/^[0-9a-f]{8}$/)],
        constraints: [expect.any(String)],
        warnings: [expect.any(String)],
        values: [expect.any(String), expect.any(String)],
      },
    })
    expect(judge(message)).toMatchObject({ valid: true, warnings: [] })
  })

  it.each(Object.entries(SAID))(
    'are missed where a summariser drops one of the %s',
    (pin, text) => {
      const message = build({ summarise: dropping(text) })
      const pointers = [0, 1].map((index) => `/pinnedFacts/${pin}/${index}`)
      const verdict = judge(message)
      expect(verdict).toMatchObject({
        valid: false,
        reason: 'INCOMPLETE_CONTEXT',
        details: message.pinnedFacts?.[pin as keyof typeof SAID]?.map((_, index) => ({
          pointer: pointers[index],
          rule: 'BATON_FACT_LOST',
        })),
        checks: { completeness: 'failed', budget: 'skipped' },
      })
      expect(JSON.stringify(verdict)).not.toContain(`"${text.slice(0, -1)}`)
    },
  )

  it('are missed where a sender claims what its conversation does not say', () => {
    const pinnedFacts = { ...build().pinnedFacts, values: ['0123abcd'] }
    expect(judge({ ...build(), pinnedFacts })).toMatchObject({
      reason: 'INCOMPLETE_CONTEXT',
      details: [{ pointer: '/pinnedFacts/values/0' }],
    })
  })

  it('are only warned of where the receiver is set so', () => {
    const message = build({ summarise: dropping(SAID.decisions) })
    expect(judge(message, { lostFacts: 'flag' })).toMatchObject({
      valid: true,
      warnings: [{ pointer: '/pinnedFacts/decisions/0', rule: 'BATON_FACT_LOST' }],
    })
    expect(judge(message, { lostFacts: 'return' })).toMatchObject({ valid: false })
  })

  it('may as well stand in a turn that is word for word', () => {
    const message = build({ summarise: dropping(SAID.decisions) })
    const verbatim = [{ role: 'user', content: `Remember. ${SAID.decisions} Go on!` }]
    expect(judge({ ...message, conversationHistoryVerbatim: verbatim })).toMatchObject({
      valid: true,
    })
  })

  it.each(['2.0', '2.1'] as const)('are left out where %s is asked for', (schemaVersion) => {
    const message = build({}, { schemaVersion })
    expect(message).not.toHaveProperty('pinnedFacts')
    expect(judge(message)).toMatchObject({ valid: true, message: { schemaVersion } })
  })

  it('are left out where nothing was compressed, or nothing of it has to be kept', () => {
    expect(build({}, { receiverContextWindowTokens: 100_000 }).schemaVersion).toBe('2.0')
    const idle = sampleState({ conversationHistory: Array.from({ length: 40 }, () => talk) })
    const { message } = buildHandoff(idle, 'a', { receiverContextWindowTokens: 4_000 })
    expect(message).not.toHaveProperty('pinnedFacts')
  })

  it('can be dropped with the words that a person took out, and the others stay', () => {
    const message = build({ summarise: dropping(SAID.decisions) })
    const rest = withoutLostFacts(message)
    expect(rest.pinnedFacts).toMatchObject({ decisions: [], constraints: [expect.any(String)] })
    expect(judge(rest)).toMatchObject({ valid: true })
    expect(withoutLostFacts(rest)).toBe(rest)
  })
})

describe('E23 pinned facts and the window', () => {
  const dense = Array.from({ length: 600 }, (_, index) => ({
    role: 'tool',
    content: `Lot ${index}: ${index * 17} pieces at ${index * 31}.50 EUR, order N-${index * 7}.`,
  }))
  const windowTokens = 8_000

  it('never make a message longer than its receiver’s window', () => {
    const { message } = buildHandoff(sampleState({ conversationHistory: dense }), 'a', {
      receiverContextWindowTokens: windowTokens,
    })
    expect(message.pinnedFacts?.values?.length).toBeGreaterThan(100)
    expect(countTokens(canonicalJson(message))).toBeLessThan(windowTokens)
  })
})

const GOLDEN = new URL('../golden/', import.meta.url)
const golden = readdirSync(GOLDEN).map(
  (file): { readonly name: string; readonly turns: readonly Turn[] } =>
    JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')),
)

describe('E23 what the extract keeps is found again', () => {
  const pinnedAndLost = (turns: readonly Turn[], summary = '') => {
    const older = { turns, summary }
    const pinned = pinnedFacts(statementsOf(turns, summary), 1_000_000)
    const text = summariseTurns(older, { tokensMax: 1_000_000, kept: 0 })
    return { pinned, text, lost: pinned === undefined ? [] : lostFacts(pinned, [text]) }
  }

  it.each(golden)('of $name, and after a second compression', ({ turns }) => {
    const once = pinnedAndLost(turns)
    expect(Object.values(once.pinned ?? {}).flat().length).toBeGreaterThan(5)
    expect(once.lost).toEqual([])
    expect(pinnedAndLost([talk], once.text).lost).toEqual([])
  })

  it('of any conversation', () => {
    const words = fc.constantFrom(
      'must',
      'risk: ',
      'decided',
      ' ',
      '. ',
      '\n',
      '- ',
      ': ',
      '4.2',
      'No. 5',
      '€1,0',
      'İ',
      '\r',
      '!?',
    )
    const text = fc.oneof(
      fc.array(words, { maxLength: 300 }).map((some) => some.join('')),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
    )
    const turn = fc.record({ role: fc.string({ minLength: 1, maxLength: 20 }), content: text })
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
        expect(pinnedAndLost(turns).lost).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})

describe('what is looked for', () => {
  it.each([
    ['Pay €1,200.50, by 2026-11-23.', ['€1,200.50', '2026-11-23']],
    ['(see §4.2/b; LN-77: 80%)', ['§4.2/b', '77', '80%']],
    ['no digits: none', []],
    ['clause 4.2... and v2_beta!', ['4.2', 'v2_beta']],
  ])('are the numbers and ids of %j', (text, values) => {
    expect(valuesIn(text)).toEqual(values)
  })

  it('is found behind whoever said it', () => {
    const { statements } = saidIn('- agent: for x: We  MUST stop. Then go!\nplain')
    for (const one of ['we must stop', 'then go', 'plain']) expect(statements).toContain(one)
  })

  it.each([
    ['letters', 'a'.repeat(262_144)],
    ['full stops', `1${'.'.repeat(262_000)}a`],
    ['speakers', ': '.repeat(131_072)],
    ['line breaks', '\n'.repeat(262_144)],
    ['spaces', ' '.repeat(262_144)],
  ])('takes no more than linear time for nothing but %s', (_, text) => {
    expect(saidIn(text).statements.size).toBeLessThan(10_000)
  })
})
