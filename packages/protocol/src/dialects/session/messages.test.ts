// The three messages of the session handshake: the documented examples, every field, and what is refused.
import { expect, it } from 'vitest'
import type { JsonValue } from '../../json.ts'
import { readAnnounce } from './announce.ts'
import { readDispatch } from './dispatch.ts'
import { readResult } from './result.ts'

const ANNOUNCE = {
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

const DISPATCH = {
  type: 'TASK_DISPATCH',
  protocol_version: '2.0',
  task: { task_id: 'abc-123', priority: 'high', reply_schema: 'structured', token_budget: 4000 },
  requirements: { required_mcp: ['context_mode'], required_capabilities: ['terminal', 'file'] },
  deadline: '2026-05-31T21:00:00Z',
  brief: 'Refactor the auth module. Focus on token refresh logic...',
}

const RESULT = {
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

const problemOf = (read: { ok: boolean; pointer?: string }) => (read.ok ? undefined : read.pointer)

it('S01 reads every field of the documented announcement', () => {
  expect(readAnnounce(ANNOUNCE)).toEqual({ ok: true, value: ANNOUNCE })
})

it('S01 takes an announcement that says only who it is, and trusts no tree that nobody calls clean', () => {
  const said = { type: 'SESSION_ANNOUNCE', protocol_version: '2.0', worker: { agent_id: 'w' } }
  expect(readAnnounce({ ...said, session: { repo_state: { branch: 'main' } } })).toMatchObject({
    ok: true,
    value: {
      worker: { model_tier: null, context_window: null },
      capabilities: { tools: [], mcp_servers: [] },
      mcp_health: {},
      session: { active_tasks: 0, repo_state: { clean: false }, session_fresh: false },
    },
  })
})

it.each<[string, JsonValue, string]>([
  ['no worker', { ...ANNOUNCE, worker: {} }, '/worker/agent_id'],
  [
    'a window in words',
    { ...ANNOUNCE, worker: { agent_id: 'a', context_window: 'large' } },
    '/worker/context_window',
  ],
  [
    'tools that are no list',
    { ...ANNOUNCE, capabilities: { tools: 'all' } },
    '/capabilities/tools',
  ],
  ['health that is no object', { ...ANNOUNCE, mcp_health: ['ok'] }, '/mcp_health'],
  ['tasks below zero', { ...ANNOUNCE, session: { active_tasks: -1 } }, '/session/active_tasks'],
  ['another type', { ...ANNOUNCE, type: 'HELLO' }, '/type'],
  ['no object', 'SESSION_ANNOUNCE', ''],
])('S01 refuses an announcement with %s', (_, value, pointer) => {
  expect(problemOf(readAnnounce(value))).toBe(pointer)
})

it('S08 reads every field of the documented dispatch', () => {
  expect(readDispatch(DISPATCH)).toEqual({ ok: true, value: DISPATCH })
})

it('S08 gives what is left out its usual value', () => {
  const least = {
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: 'a' },
    brief: 'b',
  }
  expect(readDispatch(least)).toEqual({
    ok: true,
    value: {
      ...least,
      task: { task_id: 'a', priority: 'normal', reply_schema: 'structured', token_budget: null },
      requirements: { required_mcp: [], required_capabilities: [] },
      deadline: null,
    },
  })
})

const withTask = (changes: object) => ({ ...DISPATCH, task: { ...DISPATCH.task, ...changes } })

it.each<[string, JsonValue, string]>([
  ['no task id', withTask({ task_id: null }) as JsonValue, '/task/task_id'],
  ['a priority that there is not', withTask({ priority: 'asap' }) as JsonValue, '/task/priority'],
  [
    'a reply schema that there is not',
    withTask({ reply_schema: 'xml' }) as JsonValue,
    '/task/reply_schema',
  ],
  ['a token budget of nothing', withTask({ token_budget: 0 }) as JsonValue, '/task/token_budget'],
  [
    'names as subjects',
    withTask({ data_subjects: ['ann@example.test'] }) as JsonValue,
    '/task/data_subjects',
  ],
  ['a deadline in words', { ...DISPATCH, deadline: 'tomorrow' }, '/deadline'],
  ['a day that there is not', { ...DISPATCH, deadline: '2026-13-01T00:00:00Z' }, '/deadline'],
  ['an empty brief', { ...DISPATCH, brief: ' ' }, '/brief'],
  [
    'servers that are no list',
    { ...DISPATCH, requirements: { required_mcp: 'all' } },
    '/requirements/required_mcp',
  ],
])('S08 refuses a dispatch with %s', (_, value, pointer) => {
  expect(problemOf(readDispatch(value))).toBe(pointer)
})

it('S13 reads every field of the documented result', () => {
  expect(readResult(RESULT)).toEqual({
    ok: true,
    value: { ...RESULT, summary: null, remaining: [] },
  })
})

it('S14 wants of each status what belongs to it', () => {
  const as = (status: string, more: object = {}) =>
    readResult({ ...RESULT, next_steps: [], artifacts: {}, status, ...more } as JsonValue)
  expect(problemOf(as('blocked'))).toBe('/blocked_reason')
  expect(as('blocked', { blocked_reason: 'trek is down' })).toMatchObject({ ok: true })
  expect(problemOf(as('error'))).toBe('/summary')
  expect(as('error', { artifacts: { error_summary: 'it broke' } })).toMatchObject({
    ok: true,
    value: { summary: 'it broke' },
  })
  expect(problemOf(as('partial'))).toBe('/remaining')
  expect(as('partial', { next_steps: ['the tests'] })).toMatchObject({
    ok: true,
    value: { remaining: ['the tests'] },
  })
  expect(as('partial', { remaining: ['a'], next_steps: ['b'] })).toMatchObject({
    value: { remaining: ['a'], next_steps: ['b'] },
  })
  expect(problemOf(as('finished'))).toBe('/status')
})

it('S19 reads every minor version, ignores what it does not know, and refuses other majors by saying so', () => {
  const later = {
    ...DISPATCH,
    protocol_version: '2.7',
    colour: 'red',
    task: { ...DISPATCH.task, x: 1 },
  }
  expect(readDispatch(later)).toEqual({ ok: true, value: { ...DISPATCH, protocol_version: '2.7' } })
  for (const version of ['1.9', '3.0', '2', '2.x', '20.0'])
    for (const read of [readAnnounce, readDispatch, readResult])
      expect(
        read({
          ...ANNOUNCE,
          ...DISPATCH,
          ...RESULT,
          type: typeOf(read),
          protocol_version: version,
        }),
      ).toMatchObject({
        ok: false,
        pointer: '/protocol_version',
        fix: expect.stringContaining('2.0'),
      })
})

const typeOf = (read: unknown): string =>
  read === readAnnounce
    ? 'SESSION_ANNOUNCE'
    : read === readDispatch
      ? 'TASK_DISPATCH'
      : 'TASK_RESULT'
