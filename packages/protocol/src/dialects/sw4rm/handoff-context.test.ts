// Contexts: read and written byte for byte as Python does, refused in its words; held to the schema where that is asked.
import { describe, expect, it } from 'vitest'
import recorded from '../../../fixtures/sw4rm/vectors.json' with { type: 'json' }
import {
  contextFrom,
  contextObject,
  deserializeContext,
  HANDOFF_CONTEXT_SCHEMA,
  prepareHandoffContext,
  serializeContext,
} from './index.ts'

interface Answer {
  readonly error?: string
  readonly ascii?: string
  readonly utf8?: string
}

const NOT_JSON =
  'Failed to serialize HandoffContext: Out of range float values are not JSON compliant'

const attempt = (work: () => Uint8Array): string => {
  try {
    return Buffer.from(work()).toString('base64')
  } catch (error) {
    return (error as Error).message
  }
}

/** What Baton makes of the bytes, in the form in which the peer answers. */
function answerOf(bytes: Uint8Array): Answer {
  try {
    const context = deserializeContext(bytes, { mode: 'lenient' })
    return {
      ascii: attempt(() => serializeContext(context)),
      utf8: attempt(() => serializeContext(context, { ensureAscii: false })),
    }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** The peer writes NaN and Infinity; Baton refuses to. */
function expected({ error, ascii, utf8 }: Answer): Answer {
  if (error !== undefined) return { error }
  const text = Buffer.from(ascii ?? '', 'base64').toString()
  return /(?:^|[[,:])(?:NaN|-?Infinity)/.test(text)
    ? { ascii: NOT_JSON, utf8: NOT_JSON }
    : ({ ascii, utf8 } as Answer)
}

const errorOf = (text: string | Uint8Array, mode: 'strict' | 'lenient' = 'strict') => {
  try {
    deserializeContext(Buffer.from(text), { mode })
    return 'read'
  } catch (error) {
    return (error as Error).message
  }
}

describe('as a running peer', () => {
  it.each(recorded.vectors)('W05 W06 $name', ({ source, ...peer }) => {
    expect(answerOf(Buffer.from(source, 'base64'))).toEqual(expected(peer))
  })
})

describe('strictly', () => {
  const sound = {
    conversation_history: [{ role: 'user', content: 'Hello', timestamp: '2025-01-15T10:30:00Z' }],
    tool_state: {},
    metadata: {},
  }
  const changed = (change: object) => JSON.stringify({ ...sound, ...change })

  it('W02 reads what satisfies the published schema', () => {
    expect(HANDOFF_CONTEXT_SCHEMA.required).toEqual([
      'conversation_history',
      'tool_state',
      'metadata',
    ])
    expect(contextObject(deserializeContext(Buffer.from(changed({ more: 1 }))))).toEqual(sound)
  })

  it.each([
    ['{}', "missing required field 'conversation_history'"],
    [changed({ tool_state: undefined }), "missing required field 'tool_state'"],
    [
      changed({ conversation_history: [{ role: 'user' }] }),
      "missing required field 'content' in conversation_history/0",
    ],
    [changed({ conversation_history: {} }), 'conversation_history must be array'],
    [changed({ metadata: null }), 'metadata must be object'],
    [
      changed({ conversation_history: [{ ...sound.conversation_history[0], timestamp: 'now' }] }),
      'conversation_history/0/timestamp must match format "date-time"',
    ],
    ['{"conversation_history":[],"tool_state":{"a":NaN},"metadata":{}}', 'NaN is not JSON'],
    ['[]', ' must be object'],
  ])('W02 W06 refuses %s', (text, why) => {
    expect(errorOf(text)).toBe(`Failed to deserialize HandoffContext: ${why}`)
    expect(errorOf(text, 'lenient')).toBe(
      text === '[]'
        ? "Failed to deserialize HandoffContext: 'list' object has no attribute 'get'"
        : 'read',
    )
  })

  it('W06 refuses what is too large or too deep, before it looks closer', () => {
    expect(errorOf(Buffer.alloc(1_048_577, ' '))).toMatch(/1048577 bytes; 1048576 are allowed$/)
    expect(errorOf('['.repeat(500_000))).toMatch(/maximum recursion depth exceeded$/)
  })
})

describe('in a program', () => {
  it('W01 has defaults, and becomes plain values and back', () => {
    const empty = { conversation_history: [], tool_state: {}, metadata: {} }
    expect(contextObject(contextFrom({}))).toEqual(empty)
    expect(Buffer.from(serializeContext(contextFrom({}))).toString()).toBe(JSON.stringify(empty))
    expect(contextObject(deserializeContext(Buffer.from('{}'), { mode: 'lenient' }))).toEqual(empty)
  })

  it('W03 W04 keeps unknown members and their order', () => {
    const text =
      '{"conversation_history":[{"name":"q","content":"{}","role":"tool","tool_call_id":"c1","9":[],"1":true}],"tool_state":{"other":1.0,"active_calls":[]},"metadata":{}}'
    expect(Buffer.from(serializeContext(deserializeContext(Buffer.from(text)))).toString()).toBe(
      text,
    )
  })

  it('W05 refuses what has no JSON in the words of the peer', () => {
    const failing = (tool_state: object) => () => serializeContext(contextFrom({ tool_state }))
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const words = 'Failed to serialize HandoffContext: '
    expect(failing({ at: new Date(0) })).toThrow(
      `${words}Object of type Date is not JSON serializable`,
    )
    expect(failing({ call: () => 1 })).toThrow(
      `${words}Object of type function is not JSON serializable`,
    )
    expect(failing({ n: Number.NaN })).toThrow(
      `${words}Out of range float values are not JSON compliant`,
    )
    expect(failing(circle)).toThrow(`${words}Circular reference detected`)
  })

  it('W05 writes numbers as Python would have them', () => {
    const tool_state = { whole: 3, part: 0.5, zero: -0, large: 2n ** 70n }
    expect(Buffer.from(serializeContext(contextFrom({ tool_state }))).toString()).toContain(
      '"tool_state":{"whole":3,"part":0.5,"zero":-0.0,"large":1180591620717411303424}',
    )
  })

  it('W01 gives a program what JSON can say, and refuses a key that poisons', () => {
    const read = (text: string) =>
      contextObject(deserializeContext(Buffer.from(`{"tool_state":${text}}`), { mode: 'lenient' }))[
        'tool_state'
      ]
    expect(read('[1.0,18446744073709551616,NaN,"\\ud800"]')).toEqual([
      1,
      '18446744073709551616',
      'NaN',
      '\ufffd',
    ])
    expect(() => read('{"__proto__":{"polluted":1}}')).toThrow('__proto__ is not allowed')
    expect({}).not.toHaveProperty('polluted')
  })

  it('W14 is prepared: the last 50 messages, active calls and pending approvals', () => {
    const history = Array.from({ length: 53 }, (_, index) => ({
      role: 'user',
      content: String(index),
    }))
    const tools = {
      active_calls: [{ call_id: 'c' }],
      cached_results: { c: 1 },
      configurations: { a: 1 },
    }
    const prepared = contextObject(prepareHandoffContext(history, tools))
    expect(prepared).toEqual({
      conversation_history: history.slice(3),
      tool_state: { active_calls: [{ call_id: 'c' }], pending_approvals: [] },
      metadata: { original_history_length: 53, trimmed: true },
    })
    expect(contextObject(prepareHandoffContext(history.slice(0, 2), {}, 2))['metadata']).toEqual({
      original_history_length: 2,
      trimmed: false,
    })
  })
})
