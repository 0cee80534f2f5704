// The builder compresses the conversation when the message would fill the receiver's window.
import { describe, expect, it } from 'vitest'
import type { AgentState, HandoffConstraints } from './agent-state.ts'
import { buildHandoff, buildHandoffMessage } from './build-handoff.ts'
import { canonicalJson } from './canonical-json.ts'
import { sampleState } from '../fixtures/sample-handoff.ts'
import { countTokens } from './token-count.ts'

const build = (changes: Partial<AgentState> = {}, constraints: HandoffConstraints = {}) =>
  buildHandoffMessage(sampleState(changes), 'risk-scoring-agent', constraints)

describe('compression in the builder (E03, E32 c)', () => {
  const talk =
    'We looked at the clauses one after the other and talked about what they might mean. '
  const conversationHistory = Array.from({ length: 500 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Turn ${index}. ${talk.repeat(6)}`,
  }))
  const tokens = countTokens(JSON.stringify(conversationHistory))

  it('brings 50K tokens under the threshold of the window', () => {
    expect(tokens).toBeGreaterThan(50_000)
    const built = buildHandoff(sampleState({ conversationHistory }), 'b', {
      receiverContextWindowTokens: 32_000,
    })
    expect(built.compression.compressed).toBe(true)
    expect(built.message.conversationHistorySummary).not.toBe('')
    expect(built.message.conversationHistoryVerbatim).toEqual(conversationHistory.slice(-5))
    expect(countTokens(canonicalJson(built.message))).toBeLessThan(32_000 * 0.8)
  })

  it('lets a summary that was written ahead stand, though another count of tokens would keep another number of turns', () => {
    const constraints = { receiverContextWindowTokens: 32_000 }
    const written = { text: 'What was written ahead.', turns: 493 }
    const { message, compression } = buildHandoff(
      sampleState({ conversationHistory }),
      'b',
      constraints,
      { written },
    )
    expect(compression).toMatchObject({ compressed: true, turnsSummarised: 493 })
    expect(message).toMatchObject({
      conversationHistorySummary: written.text,
      conversationHistoryVerbatim: conversationHistory.slice(493),
    })
  })

  it('does nothing when the window is large or unknown', () => {
    const large = buildHandoff(sampleState({ conversationHistory }), 'b', {
      receiverContextWindowTokens: 200_000,
    })
    expect(large.compression.compressed).toBe(false)
    expect(large.message.conversationHistoryVerbatim).toHaveLength(500)
    expect(build({ conversationHistory }).conversationHistoryVerbatim).toHaveLength(500)
  })

  it('can be told another threshold and another number of turns', () => {
    const constraints = {
      receiverContextWindowTokens: 200_000,
      compressionThreshold: 0.1,
      verbatimTurns: 2,
    }
    expect(build({ conversationHistory }, constraints).conversationHistoryVerbatim).toHaveLength(2)
  })

  it.each<[string, Partial<AgentState>, string]>([
    [
      'a turn without content',
      { conversationHistory: [{ role: 'user' } as never] },
      '/conversationHistoryVerbatim/0/content',
    ],
    [
      'turns that are no list',
      { conversationHistory: 'hello' as never },
      '/conversationHistoryVerbatim',
    ],
    ['state that is not JSON', { currentState: { big: 1n as never } }, '/currentState/big'],
    [
      'a summary that is no text',
      { conversationHistorySummary: 1 as never },
      '/conversationHistorySummary',
    ],
  ])('says where %s is', (_, changes, pointer) => {
    const constraints = { receiverContextWindowTokens: 10 }
    expect(() => build(changes, constraints)).toThrow(expect.objectContaining({ pointer }))
  })

  it('compresses more turns than a message may hold', () => {
    const turns = Array.from({ length: 12_000 }, () => ({ role: 'user', content: 'go on' }))
    const message = build({ conversationHistory: turns }, { receiverContextWindowTokens: 8000 })
    expect(message.conversationHistoryVerbatim).toHaveLength(5)
  })

  it('carries the summary it was given further', () => {
    const conversationHistorySummary = 'It was decided to keep clause 9 because of case law.'
    expect(build({ conversationHistorySummary }).conversationHistorySummary).toBe(
      conversationHistorySummary,
    )
    const compressed = build(
      { conversationHistory, conversationHistorySummary },
      { receiverContextWindowTokens: 32_000 },
    )
    expect(compressed.conversationHistorySummary).toContain('keep clause 9 because of case law')
  })
})
