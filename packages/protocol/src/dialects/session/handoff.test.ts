// A dispatch as a handoff, a handoff as a dispatch, and what became of it in the words of the handshake.
import { expect, it } from 'vitest'
import { buildHandoffMessage } from '../../build-handoff.ts'
import { HANDOFF_STATES } from '../../states.ts'
import { sampleScan } from '../../../fixtures/sample-handoff.ts'
import { judgeMessage } from '../../judge-message.ts'
import { announceOf } from './announce.ts'
import { readAsked } from './asked.ts'
import { dispatchOf } from './dispatch.ts'
import { statusOf, toProse, toResult } from './outcome.ts'
import type { EndedHandoff } from './outcome.ts'
import { resultOf } from './result.ts'
import { toDispatch, toHandoff, wantedOf } from './submission.ts'

const announced = announceOf({
  worker: { agent_id: 'baton/coder', model: null, model_tier: null, context_window: null },
  capabilities: { tools: ['terminal'], mcp_servers: ['context_mode'] },
  mcp_health: { context_mode: 'ok' },
  session: { context_id: 'design', active_tasks: 0, repo_state: null, session_fresh: true },
})

const making = {
  peer: 'hermes',
  contextId: 'design',
  taskId: 'abc-123',
  handoffId: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11',
  agentType: 'coder',
  announced,
  budgetMicroUSD: 1_000_000,
  now: new Date('2026-05-31T20:00:00Z'),
  expiryMs: 86_400_000,
  trace: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
}

const dispatch = dispatchOf({
  task: {
    task_id: 'abc-123',
    priority: 'high',
    reply_schema: 'structured',
    token_budget: 4000,
    data_subjects: ['subject-1'],
  },
  requirements: { required_mcp: ['context_mode'], required_capabilities: ['terminal'] },
  deadline: '2026-05-31T21:00:00Z',
  brief: 'Refactor the auth module.',
})

function messageOf(text: string) {
  const asked = readAsked(text)
  if (!asked.ok) throw new Error(asked.problem)
  const { agentState, targetAgentType, constraints } = toHandoff(asked.value, making)
  return buildHandoffMessage(agentState, targetAgentType, constraints)
}

it('S08 S10 S11 S12 becomes a whole handoff that keeps its terms', () => {
  const message = messageOf(JSON.stringify(dispatch))
  expect(judgeMessage(message, { scan: sampleScan })).toMatchObject({ valid: true })
  expect(message).toMatchObject({
    taskDescription: 'INITIAL',
    fromAgent: { agentId: 'hermes' },
    toAgent: { agentType: 'coder' },
    priority: 1,
    tokenBudget: 4000,
    replySchema: 'structured',
    deadline: '2026-05-31T21:00:00Z',
    requirements: { mcp: ['context_mode'], capabilities: ['terminal'] },
    externalRef: { protocol: 'session', id: 'hermes/abc-123' },
    dataSubjects: ['subject-1'],
    currentState: {
      brief: '[personal data]',
      session: { contextId: 'design', taskId: 'abc-123', verificationDepth: 'full', announced },
    },
    personalDataPayload: {
      '/currentState/brief': { subject: 'subject-1', value: 'Refactor the auth module.' },
    },
  })
})

it('S08 goes out again as it came in, under the id of its handoff', () => {
  const message = messageOf(JSON.stringify(dispatch))
  expect(toDispatch(message, 'the context', 'prose')).toEqual({
    ...dispatch,
    task: {
      task_id: making.handoffId,
      priority: 'high',
      reply_schema: 'structured',
      token_budget: 4000,
    },
    brief: 'the context',
  })
})

it('S03 S06 says in its constraints which tier it needs and whether it writes', () => {
  const message = messageOf(JSON.stringify(dispatch))
  expect(wantedOf({ ...message, constraints: ['model_tier:opus', 'access:write'] })).toEqual({
    mcp: ['context_mode'],
    capabilities: ['terminal'],
    modelTier: 'opus',
    writes: true,
  })
  expect(wantedOf(message)).toMatchObject({ modelTier: undefined, writes: false })
})

const ended = (changes: Partial<EndedHandoff>): EndedHandoff => ({
  state: 'COMPLETED',
  reason: null,
  details: null,
  acceptedAt: new Date(0),
  erasedAt: null,
  result: { pr: 'p', next_steps: ['merge'] },
  ...changes,
})

it('S14 tells every lifecycle state as the mapping has it', () => {
  const told = (acceptedAt: Date | null) =>
    Object.fromEntries(HANDOFF_STATES.map((state) => [state, statusOf({ state, acceptedAt })]))
  expect(told(null)).toEqual({
    QUEUED: null,
    AWAITING_APPROVAL: null,
    DISPATCHED: null,
    EXECUTING: null,
    COMPLETED: 'done',
    PARTIAL: 'partial',
    REJECTED: 'blocked',
    BLOCKED: 'blocked',
    EXPIRED: 'blocked',
    CANCELED: 'error',
    DEAD_LETTERED: 'blocked',
    ROLLED_BACK: 'error',
  })
  expect(told(new Date(0))['EXPIRED']).toBe('error')
})

it('S13 S14 tells an outcome with what belongs to its status, and no text of a refusal', () => {
  expect(toResult('t', ended({}), 7)).toMatchObject({
    status: 'done',
    tokens_spent: 7,
    next_steps: ['merge'],
    artifacts: { pr: 'p' },
  })
  const relayed = resultOf('u', 'done', { tokens_spent: 9, artifacts: { pr: 'q' } })
  expect(toResult('t', ended({ result: { ...relayed, tokens: {} } }), 7)).toEqual({
    ...relayed,
    task_id: 't',
  })
  const remaining = [{ subtaskId: 'b', description: 'the tests' }]
  expect(toResult('t', ended({ state: 'PARTIAL', result: { remaining } }), 7)).toMatchObject({
    status: 'partial',
    remaining: ['the tests'],
  })
  const details = [
    { rule: 'requiredMcp', expected: 'trek' },
    { rule: 'requiredCapability', expected: 'file' },
  ]
  expect(toResult('t', ended({ state: 'BLOCKED', reason: 'BLOCKED', details }), 7)).toMatchObject({
    status: 'blocked',
    tokens_spent: 0,
    blocked_reason: 'unmet requirements: mcp trek, capability file',
  })
  const told = (...entries: object[]) =>
    toResult('t', ended({ state: 'BLOCKED', reason: 'BLOCKED', details: entries }), 7)
  expect(told({ rule: 'session.model_tier', expected: 'opus' })).toMatchObject({
    blocked_reason: 'unmet requirements: model_tier opus',
  })
  expect(told({ rule: 'sessionBlocked', expected: 'no disk' })).toMatchObject({
    blocked_reason: 'no disk',
  })
  const unsafe = ended({
    state: 'DEAD_LETTERED',
    reason: 'SAFETY_VIOLATION',
    details: [{ rule: 'x', expected: 'y' }],
  })
  expect(toResult('t', unsafe, 7)).toMatchObject({ blocked_reason: 'safety_violation' })
  expect(toResult('t', ended({ state: 'EXPIRED' }), 7)).toMatchObject({
    status: 'error',
    summary: 'expired',
  })
  expect(toResult('t', ended({ erasedAt: new Date(0) }), 7)).toMatchObject({
    artifacts: { erased: true },
  })
  expect(toResult('t', ended({ state: 'EXECUTING' }), 7)).toBeUndefined()
})

it('S09 says an outcome in prose to who asked for prose', () => {
  const said = (changes: Partial<EndedHandoff>) => {
    const result = toResult('t', ended(changes), 0)
    return result === undefined ? undefined : toProse(result)
  }
  expect(said({ result: 'All is well.' })).toBe('All is well.')
  expect(said({ result: { a: 1 } })).toBe('{"a":1}')
  expect(said({ state: 'CANCELED' })).toBe('[error] canceled')
  expect(said({ state: 'EXPIRED', acceptedAt: null })).toBe('[blocked] expired')
})
