// The four phases: hints above a brief, JSON in a first reply, JSON in any reply, and blocked before the work begins.
import { expect, it } from 'vitest'
import { announceOf } from './announce.ts'
import { readAsked } from './asked.ts'
import { clampPrompt, dispatchOf } from './dispatch.ts'
import { readInline, writeInline } from './inline.ts'
import { findAnnounce, readReply } from './reply.ts'
import { resultOf } from './result.ts'
import { blockedResult, unmetBy, wantedBy } from './routing.ts'

const INLINE = `TASK DISPATCH (inline)
priority: high
reply_schema: structured
token_budget: 4000
required_mcp: [context_mode]

Brief: Refactor the auth module...`

const dispatch = dispatchOf({
  task: { task_id: 'abc-123', priority: 'high', reply_schema: 'structured', token_budget: 4000 },
  requirements: { required_mcp: ['context_mode'], required_capabilities: ['terminal', 'file'] },
  deadline: '2026-05-31T21:00:00Z',
  brief: 'Refactor the auth module.\n\nBrief: and the tests',
})

const announce = announceOf({
  worker: { agent_id: 'claude-code', model: null, model_tier: 'sonnet', context_window: 200_000 },
  capabilities: { tools: ['terminal'], mcp_servers: ['context_mode', 'trek'] },
  mcp_health: { context_mode: 'ok', trek: 'timeout' },
  session: { context_id: 'c', active_tasks: 0, repo_state: null, session_fresh: true },
})

it('S15 reads the documented header block', () => {
  expect(readInline(INLINE)).toEqual({
    ok: true,
    value: {
      taskId: null,
      priority: 'high',
      replySchema: 'structured',
      tokenBudget: 4000,
      requiredMcp: ['context_mode'],
      requiredCapabilities: [],
      deadline: null,
      brief: 'Refactor the auth module...',
    },
  })
})

it('S15 reads what it writes, whatever the brief says', () => {
  expect(readInline(writeInline(dispatch))).toEqual({
    ok: true,
    value: {
      taskId: 'abc-123',
      priority: 'high',
      replySchema: 'structured',
      tokenBudget: 4000,
      requiredMcp: ['context_mode'],
      requiredCapabilities: ['terminal', 'file'],
      deadline: '2026-05-31T21:00:00Z',
      brief: dispatch.brief,
    },
  })
})

it('S15 says which line it cannot read', () => {
  const changed = (from: string, to: string) => readInline(INLINE.replace(from, to))
  expect(changed('high', 'asap')).toMatchObject({ ok: false, pointer: '/priority' })
  expect(changed('4000', 'lots')).toMatchObject({ ok: false, pointer: '/token_budget' })
  expect(changed('priority: high', 'no colon')).toMatchObject({ ok: false, pointer: '/header' })
  expect(changed('Brief: Refactor the auth module...', '')).toMatchObject({ pointer: '/brief' })
  expect(readInline('Please look at TASK DISPATCH (inline)')).toBeUndefined()
})

it('S19 takes a dispatch, a header block and plain prose as the same kind of question', () => {
  expect(readAsked(`Here it is:\n${JSON.stringify(dispatch)}`)).toMatchObject({
    ok: true,
    value: { form: 'dispatch', taskId: 'abc-123', replySchema: 'structured' },
  })
  expect(readAsked(INLINE)).toMatchObject({ ok: true, value: { form: 'inline', taskId: null } })
  expect(readAsked('Refactor { this } please')).toMatchObject({
    ok: true,
    value: { form: 'prose', replySchema: 'prose', brief: 'Refactor { this } please' },
  })
  expect(readAsked(JSON.stringify({ ...dispatch, protocol_version: '3.0' }))).toMatchObject({
    ok: false,
    pointer: '/protocol_version',
  })
})

it('S16 finds an announcement in the first reply, among other text and braces', () => {
  const text = `Hello {not json} "{"\n\`\`\`json\n${JSON.stringify(announce, null, 2)}\n\`\`\`\nready { }`
  expect(findAnnounce(text)).toEqual({ ok: true, announce })
  const later = { ...announce, session: { ...announce.session, active_tasks: 2 } }
  expect(findAnnounce(`${JSON.stringify(announce)} ${JSON.stringify(later)}`)).toEqual({
    ok: true,
    announce: later,
  })
  expect(findAnnounce('Hello, I am a worker.')).toBeUndefined()
  expect(findAnnounce('{"type":"SESSION_ANNOUNCE","protocol_version":"1.0"}')).toMatchObject({
    ok: false,
    pointer: '/protocol_version',
  })
})

const done = resultOf('abc-123', 'done', { tokens_spent: 12, artifacts: { pr: 'p' } })
const asked = { taskId: 'abc-123', replySchema: 'structured' } as const

it.each([
  ['alone', JSON.stringify(done)],
  ['in a code fence', `Done.\n\`\`\`json\n${JSON.stringify(done, null, 2)}\n\`\`\`\nBye`],
  ['after other braces', `function () { return {a: 1} } {"x": {}} ${JSON.stringify(done)} {`],
  ['inside braces that are no JSON', `result = { ${JSON.stringify(done)} }`],
  [
    'after the example that it was shown',
    `${JSON.stringify({ ...done, task_id: 'example' })} ${JSON.stringify(done)}`,
  ],
  [
    'before one of another task',
    `${JSON.stringify(done)} ${JSON.stringify({ ...done, task_id: 'other' })}`,
  ],
])('S17 finds a result %s', (_, text) => {
  expect(readReply(text, asked)).toEqual({ kind: 'result', result: done })
})

it.each([
  ['no result', 'I am done, see the pull request.'],
  ['half a result', JSON.stringify(done).slice(0, -2)],
  ['a result of another task', JSON.stringify({ ...done, task_id: 'other' })],
  ['a result without its reason', JSON.stringify({ ...done, status: 'blocked' })],
  ['a member twice', JSON.stringify(done).replace('{', '{"status":"done",')],
])('S17 takes %s as an error, and keeps the text', (_, text) => {
  expect(readReply(text, asked)).toMatchObject({
    kind: 'result',
    result: { task_id: 'abc-123', status: 'error', artifacts: { raw_text: text } },
  })
})

it('S17 reads hostile text in linear time', () => {
  for (const text of ['{'.repeat(1_000_000), '{"a":'.repeat(200_000), '{"'.repeat(500_000)]) {
    const startedAt = performance.now()
    expect(readReply(text, asked)).toMatchObject({ kind: 'result', result: { status: 'error' } })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  }
})

it('S09 holds a reply against the schema that was asked for', () => {
  const text = `Done: ${JSON.stringify(done)}`
  const as = (replySchema: 'prose' | 'structured' | 'json', reply: string) =>
    readReply(reply, { taskId: 'abc-123', replySchema })
  expect(as('structured', text)).toEqual({ kind: 'result', result: done })
  expect(as('json', text)).toMatchObject({ result: { status: 'error' } })
  expect(as('json', `\`\`\`json\n${JSON.stringify(done)}\n\`\`\``)).toEqual({
    kind: 'result',
    result: done,
  })
  expect(as('prose', 'All is well.')).toMatchObject({
    result: { status: 'done', artifacts: { text: 'All is well.' } },
  })
  expect(as('prose', text)).toEqual({ kind: 'result', result: done })
  expect(as('prose', ' ')).toMatchObject({ result: { status: 'error' } })
})

it('S22 knows an acknowledgement of long work from an answer', () => {
  expect(readReply('[queued] I will come back.', asked)).toEqual({ kind: 'queued' })
  expect(readReply(`[queued] ${JSON.stringify(done)}`, asked)).toEqual({
    kind: 'result',
    result: done,
  })
})

it('S18 answers blocked before any work where a server is dead or a capability is missing', () => {
  const unmet = unmetBy(
    { announce, mcp: [], capabilities: [] },
    wantedBy({ requirements: { required_mcp: ['trek'], required_capabilities: ['file'] } }),
  )
  expect(blockedResult('abc-123', unmet)).toEqual(
    resultOf('abc-123', 'blocked', {
      tokens_spent: 0,
      blocked_reason: 'unmet requirements: mcp trek, capability file',
    }),
  )
})

it('S22 cuts a prompt at 256 Ki characters, never inside of one', () => {
  expect(clampPrompt('a'.repeat(262_145))).toHaveLength(262_144)
  expect(clampPrompt(`${'a'.repeat(262_143)}😀`)).toBe('a'.repeat(262_143))
})
