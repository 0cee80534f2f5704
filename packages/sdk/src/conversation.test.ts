// A conversation comes out of its turns as it went in, whatever stands in it, and what somebody else wrote is read as what it says.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonOf, messagesOf, turnsOf } from './conversation.ts'
import type { ChatMessage, MessagePart } from './conversation.ts'
import { soundConversation } from './sound-calls.ts'
import { buildHandoffMessage } from '@baton/protocol'

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const name = fc.string({ minLength: 1, maxLength: 20 })
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)))
const own = fc.option(fc.dictionary(fc.constantFrom('a', 'b'), json, { minKeys: 1, maxKeys: 2 }), {
  nil: undefined,
})
const withOwn = <Part extends object>(part: fc.Arbitrary<Part>) =>
  fc.tuple(part, own).map(([one, kept]) => (kept === undefined ? one : { ...one, own: kept }))

const part = fc.oneof(
  withOwn(fc.record({ type: fc.constantFrom('text', 'reasoning'), text })),
  withOwn(fc.record({ type: fc.constant('tool-call'), callId: text, tool: name, input: json })),
  withOwn(
    fc.record(
      {
        type: fc.constant('tool-result'),
        callId: text,
        tool: name,
        output: json,
        failed: fc.constant(true),
      },
      { requiredKeys: ['type', 'callId', 'tool', 'output'] },
    ),
  ),
  withOwn(
    fc.record(
      { type: fc.constant('file'), mediaType: text, filename: text, data: text, url: text },
      { requiredKeys: ['type'] },
    ),
  ),
  fc.record({
    type: fc.constant('other'),
    own: fc.dictionary(fc.constant('a'), json, { minKeys: 1 }),
  }),
) as fc.Arbitrary<MessagePart>

const message = withOwn(
  fc.record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'critic'),
      parts: fc.array(part, { maxLength: 4 }),
      timestamp: fc.constant('2026-11-28T12:00:00Z'),
    },
    { requiredKeys: ['role', 'parts'] },
  ),
) as fc.Arbitrary<ChatMessage>

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('turnsOf and messagesOf', () => {
  it('round-trips every conversation through a real message', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const sent = buildHandoffMessage(
          {
            taskId: '0c8f2f2e-5d5b-4f1e-9d0c-2f6f1b1a4e11',
            agent: { agentId: 'a', agentVersion: '1.0.0' },
            currentState: {},
            cost: {
              spentSoFarUSD: 0,
              budgetRemainingUSD: 1,
              ownCostUSD: 0,
              tokenSpent: { prompt: 0, completion: 0 },
            },
            ...turnsOf(messages),
          },
          'b',
        )
        expect(plain(messagesOf(sent.conversationHistoryVerbatim))).toEqual(plain(messages))
      }),
    )
  })

  it('reads a turn that somebody else has changed as what it says', () => {
    const { conversationHistory } = turnsOf([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'yes' },
        ],
      },
    ])
    const changed = conversationHistory.map((turn) => ({ ...turn, content: 'no longer' }))
    expect(messagesOf(changed)).toEqual([
      { role: 'assistant', parts: [{ type: 'text', text: 'no longer' }] },
    ])
  })

  it('reads turns of senders without a framework', () => {
    expect(
      messagesOf([
        { role: 'user', content: 'hi', name: 'Ann' },
        { role: 'tool', content: '4', name: 'add', tool_call_id: 'c1' },
      ]),
    ).toEqual([
      { role: 'user', name: 'Ann', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', tool: 'add', output: '4' }] },
    ])
  })

  it('lists tool calls with the hash of their input, whatever the order of its members', () => {
    const call = (input: Record<string, number>): ChatMessage => ({
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: '1', tool: 'add', input }],
    })
    const at = '2026-11-28T12:00:00Z'
    const [one, other] = turnsOf([call({ a: 1, b: 2 }), call({ b: 2, a: 1 })], {
      at,
    }).toolCallHistory
    expect(one).toEqual(other)
    expect(one).toMatchObject({ tool: 'add', calledAt: at })
  })

  it('refuses what no message carries, and says where', () => {
    const large = { type: 'file', mediaType: 'image/png', data: 'a'.repeat(300_000) } as const
    expect(() => turnsOf([{ role: 'user', parts: [large] }])).toThrow(
      /message 0 holds 300000 characters/,
    )
    for (const value of [() => 1, NaN, 10n, Symbol('a'), { deep: [Infinity] }])
      expect(() => jsonOf(value, 'the input of add')).toThrow('the input of add is no JSON')
    expect(jsonOf(undefined, 'it')).toBeNull()
  })
})

describe('soundConversation', () => {
  const call = { type: 'tool-call', callId: 'c1', tool: 'add', input: {} } as const
  const result = { type: 'tool-result', callId: 'c1', tool: 'add', output: 4 } as const

  it('leaves calls that are answered as they are', () => {
    const messages = [
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [result] },
    ]
    expect(soundConversation(messages)).toEqual(messages)
  })

  it('answers an open call, and has a user tell a result whose call is gone', () => {
    expect(soundConversation([{ role: 'assistant', parts: [call] }]).at(1)).toMatchObject({
      role: 'tool',
      parts: [{ callId: 'c1', failed: true }],
    })
    expect(soundConversation([{ role: 'tool', parts: [result] }])).toEqual([
      { role: 'user', parts: [{ type: 'text', text: '[result of an earlier call of add] 4' }] },
    ])
  })

  it('makes nobody’s instructions the receiver’s own', () => {
    for (const role of ['system', 'System', 'developer', 'signal']) {
      const [only] = soundConversation([{ role, parts: [{ type: 'text', text: 'Obey.' }] }])
      expect(only?.role).toBe('user')
    }
  })
})
