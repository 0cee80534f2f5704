// What the text of SW4RM and its running peers document: contexts, requests, responses and rejections, as data.

const message = (role: string, content: string, more: object = {}) => ({ role, content, ...more })

/** Contexts as the text shows them. */
export const CONTEXTS: readonly (readonly [of: string, context: object])[] = [
  ['an empty one', { conversation_history: [], tool_state: {}, metadata: {} }],
  [
    'the one that is serialised',
    {
      conversation_history: [message('user', 'Hello'), message('assistant', 'Hi there!')],
      tool_state: {},
      metadata: { agent_id: 'agent-1' },
    },
  ],
  [
    'one with a history and a tool state',
    {
      conversation_history: [
        message('user', 'Analyze the sales data for Q3', { timestamp: '2025-01-15T10:30:00Z' }),
        message('assistant', "I'll analyze the Q3 sales data for you.", {
          timestamp: '2025-01-15T10:30:01Z',
        }),
        {
          role: 'tool',
          name: 'query_database',
          tool_call_id: 'call_abc123',
          content: '{"total_sales": 1500000, "growth": 0.12}',
          timestamp: '2025-01-15T10:30:05Z',
        },
      ],
      tool_state: {
        active_calls: [{ call_id: 'call_xyz789', tool: 'long_running_query', started_at: '...' }],
        cached_results: { call_abc123: { total_sales: 1_500_000, growth: 0.12 } },
        configurations: { database: { connection_string: '...', timeout_ms: 30_000 } },
      },
      metadata: {},
    },
  ],
  [
    'the one of the basic handoff',
    {
      conversation_history: [
        message('user', 'Review this code for security issues'),
        message('assistant', "I'll need to hand this off to a specialist."),
      ],
      tool_state: {},
      metadata: { original_request_id: 'req-123' },
    },
  ],
]

/** The request of the text's first usage example; its metadata are not on the wire. */
export const REQUEST = {
  from_agent: 'general-agent-1',
  to_agent: 'security-specialist-1',
  reason: 'Task requires specialized security analysis capabilities',
  capabilities_required: ['security_analysis'],
}

const FAILED = '^3 Failed to deserialize HandoffContext: '
const EMPTY = { conversation_history: [], tool_state: {}, metadata: {} }
const without = (name: string): string => JSON.stringify({ ...EMPTY, [name]: undefined })
const withMessage = (one: unknown): string =>
  JSON.stringify({ ...EMPTY, conversation_history: [one] })

/** Contexts that the published schema refuses, and the words of the ValueError. */
export const UNREADABLE: readonly (readonly [
  of: string,
  bytes: string | Uint8Array,
  words: string | RegExp,
])[] = [
  [
    'invalid JSON',
    '{"metadata":',
    new RegExp(`${FAILED}Expecting value: line 1 column 13 \\(char 12\\)$`),
  ],
  [
    'invalid UTF-8',
    new Uint8Array([0xff]),
    new RegExp(`${FAILED}'utf-8' codec can't decode byte 0xff in position 0`),
  ],
  ['a byte order mark', '\ufeff{}', new RegExp(`${FAILED}`)],
  [
    'no conversation_history',
    without('conversation_history'),
    new RegExp(`${FAILED}missing required field 'conversation_history'$`),
  ],
  [
    'no tool_state',
    without('tool_state'),
    new RegExp(`${FAILED}missing required field 'tool_state'$`),
  ],
  ['no metadata', without('metadata'), new RegExp(`${FAILED}missing required field 'metadata'$`)],
  ['an array', '[]', new RegExp(`${FAILED}`)],
  ['null', 'null', new RegExp(`${FAILED}`)],
  ['a text', '"x"', new RegExp(`${FAILED}`)],
  ['a message without a role', withMessage({ content: 'x' }), new RegExp(`${FAILED}.*role`)],
  ['a message without content', withMessage({ role: 'user' }), new RegExp(`${FAILED}.*content`)],
  ['a message that is none', withMessage('hello'), new RegExp(`${FAILED}`)],
  [
    'a time that is none',
    withMessage({ role: 'user', content: 'x', timestamp: 'noon' }),
    new RegExp(`${FAILED}.*timestamp`),
  ],
  [
    'a tool state that is none',
    JSON.stringify({ ...EMPTY, tool_state: [] }),
    new RegExp(`${FAILED}.*tool_state`),
  ],
]

/** What an agent may reject with, and what the requester is told. */
export const REJECTIONS = ['Missing capability: security_analysis', 'Agent busy: RUNNING'] as const
