// What the session handshake's text and its running peers document: messages, requests, answers and errors, as data.

/** Message 1, as the text shows it. */
export const ANNOUNCE = {
  type: 'SESSION_ANNOUNCE',
  protocol_version: '2.0',
  worker: {
    agent_id: 'claude-code',
    model: 'claude-sonnet-4-20250514',
    model_tier: 'sonnet',
    context_window: 200_000,
  },
  capabilities: {
    tools: ['browser', 'terminal', 'file', 'patch'],
    mcp_servers: ['context_mode', 'claude_mem', 'trek'],
  },
  mcp_health: { context_mode: 'ok', claude_mem: 'ok', trek: 'timeout' },
  session: {
    context_id: 'handshake:hermes-switch',
    active_tasks: 2,
    repo_state: { branch: 'main', clean: true },
    session_fresh: true,
  },
}

/** Message 2; its deadline is long over. */
export const DISPATCH = {
  type: 'TASK_DISPATCH',
  protocol_version: '2.0',
  task: { task_id: 'abc-123', priority: 'high', reply_schema: 'structured', token_budget: 4000 },
  requirements: { required_mcp: ['context_mode'], required_capabilities: ['terminal', 'file'] },
  deadline: '2026-05-31T21:00:00Z',
  brief: 'Refactor the auth module. Focus on token refresh logic...',
}

/** Message 3. */
export const RESULT = {
  type: 'TASK_RESULT',
  protocol_version: '2.0',
  task_id: 'abc-123',
  status: 'done',
  tokens_spent: 3240,
  next_steps: ['Run the full test suite to verify refactor', 'Open PR for review'],
  blocked_reason: null,
  artifacts: {
    pr: 'https://example.test/hermes-agent/pull/72',
    files_changed: ['src/auth/token_refresh.py', 'tests/auth/test_token_refresh.py'],
  },
}

/** The four statuses: what a worker reports, and what its orchestrator is told of it through Baton. */
export const STATUSES: readonly (readonly [reported: object, told: object])[] = [
  [RESULT, RESULT],
  [
    { ...RESULT, status: 'blocked', tokens_spent: 0, blocked_reason: 'no disk', artifacts: {} },
    { status: 'blocked', tokens_spent: 0, blocked_reason: 'no disk', artifacts: {} },
  ],
  [
    // What went wrong stays with the worker: records and answers have the class of it.
    { ...RESULT, status: 'error', summary: 'the tests broke' },
    { status: 'error', summary: 'baton_session_error', blocked_reason: null },
  ],
  [
    { ...RESULT, status: 'partial', remaining: ['the tests'] },
    { ...RESULT, status: 'partial', remaining: ['the tests'] },
  ],
  // Each says why: a worker that does not is taken to have failed.
  [{ ...RESULT, status: 'blocked', blocked_reason: null }, { status: 'error' }],
  [{ ...RESULT, status: 'error' }, { status: 'error' }],
  [{ ...RESULT, status: 'partial', next_steps: [] }, { status: 'error' }],
  [{ ...RESULT, status: 'finished' }, { status: 'error' }],
]

/** Phase 1. */
export const INLINE = `TASK DISPATCH (inline)
priority: high
reply_schema: structured
token_budget: 4000
required_mcp: [context_mode]

Brief: Refactor the auth module...`

const SENDING = { role: 'user', parts: [{ text: '[A2A HANDSHAKE v1] hello' }] }
const rpc = (changes: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendMessage', ...changes })
const of = (message: object, beside: object = {}) => rpc({ params: { message, ...beside } })

interface Refused {
  readonly what: string
  readonly body: string
  /** Who asks: `hermes-switch` unless it is said; nobody where it is null. */
  readonly as?: string | null
  readonly status?: number
  readonly code: number
  readonly message: string
  readonly retryable?: boolean
  readonly id?: number | null
}

const TOKEN = 'the request carries no bearer of a session peer'
const PARAMS = 'Invalid params: '
const REQUEST = 'Invalid Request: '

/** Every error of a call, with its text: HTTP 200, except for who may not call and what is too large. */
export const REFUSED: readonly Refused[] = [
  {
    what: 'no JSON',
    body: '{',
    code: -32700,
    message: 'Parse error: not one strict JSON value',
    id: null,
  },
  { what: 'no object', body: '[]', code: -32600, message: `${REQUEST}not an object`, id: null },
  {
    what: 'no version',
    body: rpc({ jsonrpc: '1.0' }),
    code: -32600,
    message: `${REQUEST}jsonrpc must be "2.0", with a method`,
  },
  {
    what: 'no method',
    body: rpc({ method: null }),
    code: -32600,
    message: `${REQUEST}jsonrpc must be "2.0", with a method`,
  },
  {
    what: 'an id that is none',
    body: rpc({ id: {} }),
    code: -32600,
    message: `${REQUEST}id must be a string or a number`,
    id: null,
  },
  {
    what: 'another method',
    body: rpc({ method: 'tasks/get' }),
    code: -32601,
    message: 'Method not found: use SendMessage or message/send',
  },
  { what: 'no params', body: rpc({}), code: -32602, message: `${PARAMS}params must be an object` },
  {
    what: 'contextId at the root of params',
    body: of(SENDING, { contextId: 'c' }),
    code: -32602,
    message: `${PARAMS}contextId belongs inside message, not beside it`,
  },
  {
    what: 'no message',
    body: rpc({ params: {} }),
    code: -32602,
    message: `${PARAMS}message must be an object`,
  },
  {
    what: 'another role',
    body: of({ ...SENDING, role: 'system' }),
    code: -32602,
    message: `${PARAMS}role must be user or agent`,
  },
  {
    what: 'no text',
    body: of({ role: 'user', parts: [] }),
    code: -32602,
    message: `${PARAMS}parts must be a list with at least one text`,
  },
  {
    what: 'an empty contextId',
    body: of({ ...SENDING, contextId: '' }),
    code: -32602,
    message: `${PARAMS}contextId must be a text of 1 to 256 characters`,
  },
  {
    what: 'a dispatch of another major',
    body: of({
      ...SENDING,
      parts: [{ text: JSON.stringify({ ...DISPATCH, protocol_version: '3.0' }) }],
    }),
    code: -32602,
    message: '/protocol_version: this version of the protocol is not spoken here',
  },
  {
    what: 'a dispatch without a brief',
    body: of({ ...SENDING, parts: [{ text: JSON.stringify({ ...DISPATCH, brief: null }) }] }),
    code: -32602,
    message: '/brief: is required',
  },
  {
    what: 'a priority that there is not',
    body: of({ ...SENDING, parts: [{ text: INLINE.replace('high', 'asap') }] }),
    code: -32602,
    message: '/priority: expected one of urgent, high, normal, low',
  },
  {
    what: 'a peer that may not dispatch',
    as: 'silent',
    body: of({ ...SENDING, parts: [{ text: INLINE }] }),
    code: -32000,
    message: 'this peer may not dispatch tasks here',
  },
  {
    what: 'no bearer',
    as: null,
    body: of(SENDING),
    status: 401,
    code: -32000,
    message: TOKEN,
    id: null,
  },
  {
    what: 'a wrong bearer',
    as: 'nobody',
    body: of(SENDING),
    status: 401,
    code: -32000,
    message: TOKEN,
    id: null,
  },
  {
    what: 'more than 1 MiB',
    body: JSON.stringify('a'.repeat(1_048_577)),
    status: 413,
    code: -32000,
    message: 'the body is larger than a handoff may be',
    id: null,
  },
]
