// Labels are never lost nor lowered, over however many hops; what an agent adds goes on with them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentState, HandoffMessage } from '@baton/protocol'
import type { NextHandoff } from '@baton/protocol/settlement'
import type { AgentResult } from '../agent.ts'
import { passOn } from './next-handoffs.ts'
import {
  claimedFrom,
  messageOf,
  sampleAgent,
  sampleHandoff,
  sampleOptions,
} from '../../fixtures/sample-delivery.ts'

const CLASSES = ['public', 'internal', 'confidential', 'restricted'] as const
const DE = { jurisdiction: 'DE', transferMechanism: 'none' } as const
const INPUT_HASH = `sha256:${'0'.repeat(64)}`

const labelled: Partial<AgentState> = {
  dataClassification: 'restricted',
  residency: DE,
  externalRef: { protocol: 'partner', id: 'case-7' },
  delegation: { depth: 0, maxDepth: 12 },
  extensions: { 'x-tenant': 'acme' },
  personalData: { dataSubjects: ['s1'], payload: { '/currentState/name': 'Ada' } },
}

interface Hop {
  readonly nth?: number
  readonly next?: Partial<NextHandoff>
  readonly result?: Partial<AgentResult>
  readonly windowTokens?: number
}

type Handoff = ReturnType<typeof sampleHandoff>

function hop(handoff: Handoff, { nth = 1, next, result, windowTokens }: Hop = {}): Handoff {
  const answer: AgentResult = {
    subtask: { subtaskId: `step-${nth}`, description: 'one step', result: null },
    state: { text: 'the contract' },
    costUSD: 0,
    tokens: { prompt: 0, completion: 0 },
    next: [{ to: 'reader', taskDescription: 'go on', ...next }],
    ...result,
  }
  const [passed] = passOn(
    {
      claimed: claimedFrom(handoff),
      message: messageOf(handoff),
      execution: {
        kind: 'done',
        result: answer,
        agent: sampleAgent,
        traceparent: messageOf(handoff).traceparent,
      },
    },
    { ...sampleOptions, bounds: { windowTokensOf: () => windowTokens } },
  ).handoffs
  if (passed === undefined) throw new Error('nothing was passed on')
  return passed
}

const codeOf = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return undefined
}

describe('what carries over', () => {
  it('is every label, over as many hops as the depth allows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 11 }), (hops) => {
        let handoff = sampleHandoff(labelled)
        for (let nth = 1; nth <= hops; nth += 1) handoff = hop(handoff, { nth })
        const { personalData: _, extensions, ...labels } = labelled
        expect(messageOf(handoff)).toMatchObject({
          ...labels,
          ...extensions,
          schemaVersion: '2.1',
          delegation: { depth: hops, maxDepth: 12 },
          dataSubjects: ['s1'],
          personalDataPayload: { '/currentState/name': 'Ada' },
        })
      }),
      { numRuns: 20 },
    )
  })

  it('never falls below the strictest classification on the way, whatever agents ask for', () => {
    const asked = fc.option(fc.constantFrom(...CLASSES), { nil: undefined })
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 6 }), (wanted) => {
        let handoff = sampleHandoff({ dataClassification: 'internal' })
        let strictest = CLASSES.indexOf('internal')
        for (const [nth, dataClassification] of wanted.entries()) {
          const isLower =
            dataClassification !== undefined && CLASSES.indexOf(dataClassification) < strictest
          const next = dataClassification === undefined ? {} : { dataClassification }
          const run = () => (handoff = hop(handoff, { nth, next }))
          expect(codeOf(run)).toBe(isLower ? 'BATON_LABEL_LOWERED' : undefined)
          if (!isLower && dataClassification !== undefined)
            strictest = CLASSES.indexOf(dataClassification)
          expect(messageOf(handoff).dataClassification).toBe(CLASSES[strictest])
        }
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    { given: DE, asked: DE, code: undefined },
    { given: DE, asked: { ...DE, transferMechanism: 'scc' }, code: 'BATON_LABEL_LOWERED' },
    { given: DE, asked: { ...DE, jurisdiction: 'FR' }, code: 'BATON_LABEL_LOWERED' },
    { given: DE, asked: { ...DE, jurisdiction: 'EU' }, code: 'BATON_LABEL_LOWERED' },
    { given: { jurisdiction: 'EU', transferMechanism: 'scc' }, asked: DE, code: undefined },
  ] as const)('keeps data where it may be: $given, then $asked', ({ given, asked, code }) => {
    const handoff = sampleHandoff({ residency: given })
    expect(codeOf(() => hop(handoff, { next: { residency: asked } }))).toBe(code)
  })

  it('is changed where the agent says so: fields of its own, the reference, the shape of the answer', () => {
    const next = {
      extensions: { 'x-stage': 2 },
      externalRef: { protocol: 'partner', id: 'case-8' },
      replySchema: 'json',
      tokenBudget: 500,
    } as const
    const first = hop(sampleHandoff(labelled), { next })
    expect(messageOf(first)).toMatchObject({
      'x-tenant': 'acme',
      'x-stage': 2,
      externalRef: { id: 'case-8' },
      replySchema: 'json',
      tokenBudget: 500,
    })
    const second = messageOf(hop(first, { nth: 2 }))
    expect(second).toMatchObject({ 'x-stage': 2, replySchema: 'json' })
    expect(second).not.toHaveProperty('tokenBudget')
  })
})

describe('what an agent adds', () => {
  it('is turns, tool calls and people, after those of the message', () => {
    const turns = [{ role: 'user', content: 'Read it' }]
    const call = { tool: 'search', calledAt: '2026-01-02T03:04:06Z', inputHash: INPUT_HASH }
    const result = {
      conversation: [{ role: 'assistant', content: 'Read' }],
      toolCalls: [call],
      personalData: {
        dataSubjects: ['s2'],
        payload: { '/currentState/other': { subject: 's2', value: 'Grace' } },
      },
    }
    const message = messageOf(
      hop(sampleHandoff({ ...labelled, conversationHistory: turns }), { result }),
    )
    expect(message).toMatchObject({
      conversationHistoryVerbatim: [...turns, ...result.conversation],
      toolCallHistory: [call],
      dataSubjects: ['s1', 's2'],
      personalDataPayload: {
        '/currentState/name': { subject: 's1', value: 'Ada' },
        '/currentState/other': { subject: 's2', value: 'Grace' },
      },
    })
  })

  it('is compressed for the next receiver, also when it grew on a later hop', () => {
    const said = Array.from({ length: 12 }, (_, nth) => ({
      role: 'assistant',
      content: `We decided on option ${nth} because ${'it is cheaper '.repeat(40)}.`,
    }))
    const first = hop(sampleHandoff(), { windowTokens: 2_000 })
    const second: HandoffMessage = messageOf(
      hop(first, {
        nth: 2,
        windowTokens: 2_000,
        result: { conversation: said },
        next: { verbatimTurns: 2 },
      }),
    )
    expect(messageOf(first).conversationHistorySummary).toBe('')
    expect(second.conversationHistorySummary).not.toBe('')
    expect(second.conversationHistoryVerbatim).toEqual(said.slice(-2))
  })
})

describe('what the next receiver would refuse', () => {
  it('is not built: a chain that is too long', () => {
    const first = hop(sampleHandoff({ delegation: { depth: 0, maxDepth: 2 } }))
    expect(codeOf(() => hop(first, { nth: 2 }))).toBe('BATON_HANDOFF_INVALID')
  })

  it('is not built: the same subtask twice, by an agent that came twice', () => {
    const fix = 'Give every subtask, completed or remaining, its own id.'
    expect(() => hop(hop(sampleHandoff()))).toThrow(expect.objectContaining({ fix }))
  })

  it('is not built: a range that is none', () => {
    const next = { agentVersion: 'newest' }
    expect(codeOf(() => hop(sampleHandoff(), { next }))).toBe('BATON_HANDOFF_INVALID')
  })
})
