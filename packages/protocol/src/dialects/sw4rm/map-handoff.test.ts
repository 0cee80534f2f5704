// A request becomes a whole handoff that satisfies the schema, and comes out of it as it went in.
import { describe, expect, it } from 'vitest'
import { buildHandoffMessage } from '../../build-handoff.ts'
import { sampleScan } from '../../../fixtures/sample-handoff.ts'
import { judgeMessage } from '../../judge-message.ts'
import {
  contextFrom,
  contextObject,
  contextOf,
  deserializeContext,
  fromHandoff,
  handoffRequest,
  serializeContext,
  toHandoff,
} from './index.ts'
import type { HandoffRequest } from './index.ts'

const options = { nowMs: Date.UTC(2026, 0, 1), salt: Buffer.alloc(32, 1), budgetUSD: 1 }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const context = contextFrom({
  conversation_history: [
    { role: 'user', content: 'Review this code' },
    {
      role: 'tool',
      name: 'query',
      tool_call_id: 'c1',
      content: '{"growth":0.12}',
      timestamp: '2025-01-15T10:30:05Z',
      extra: 1,
    },
  ],
  tool_state: {
    active_calls: [{ call_id: 'c2' }],
    cached_results: { c1: { total: 1.5 } },
    configurations: {
      database: { connection_string: 'host=db password=hunter2', timeout_ms: 30_000 },
    },
    pending_approvals: [],
    ratio: 1n,
  },
  metadata: { agent_id: 'agent-1', data_subjects: ['subject-7'] },
})
const snapshot = Buffer.concat([Buffer.from(' '), serializeContext(context)])

const request = (changes: Partial<HandoffRequest> = {}) =>
  handoffRequest({
    requestId: 'req-1',
    fromAgent: 'general-agent-1',
    toAgent: 'security-specialist-1',
    reason: 'needs security analysis',
    contextSnapshot: snapshot,
    ...changes,
  })

function messageOf(asked: HandoffRequest, mapping = options) {
  const { agentState, targetAgentType, constraints } = toHandoff(asked, mapping)
  return buildHandoffMessage({ ...agentState, traceparent }, targetAgentType, constraints)
}

describe('a request', () => {
  const message = messageOf(request({ capabilitiesRequired: ['security_analysis'] }))

  it('W07 becomes a handoff that starts its task', () => {
    expect(message).toMatchObject({
      parentHandoffId: null,
      fromAgent: { agentId: 'general-agent-1' },
      toAgent: { agentType: 'security-specialist-1' },
      taskDescription: 'INITIAL',
      currentState: { reason: 'needs security analysis' },
      costTracking: { costSpentSoFarUSD: 0, costBudgetRemainingUSD: 1 },
      requirements: { capabilities: ['security_analysis'] },
      externalRef: { protocol: 'sw4rm', id: 'req-1' },
      dataSubjects: ['subject-7'],
      priority: 2,
    })
    expect(judgeMessage(message, { scan: sampleScan })).toMatchObject({ valid: true })
    const again = messageOf(request({ capabilitiesRequired: ['security_analysis'] }))
    expect({ ...again, timestamp: '' }).toEqual({ ...message, timestamp: '' })
  })

  it('W03 W04 keeps turns and the parts of the tool state readable', () => {
    expect(message.conversationHistoryVerbatim).toEqual([
      { role: 'user', content: 'Review this code' },
      {
        role: 'tool',
        name: 'query',
        tool_call_id: 'c1',
        content: '{"growth":0.12}',
        timestamp: '2025-01-15T10:30:05Z',
        extra: 1,
      },
    ])
    expect(message.currentState['tool_state']).toMatchObject({
      active_calls: [{ call_id: 'c2' }],
      cached_results: { c1: { total: 1.5 } },
      pending_approvals: [],
      configurations: { database: { timeout_ms: 30_000 } },
    })
  })

  it('W16 shows no secret outside of the opaque bytes', () => {
    const { contextSnapshot, ...readable } = message
    expect(JSON.stringify(readable)).not.toContain('hunter2')
    expect(message['x-sw4rm']).toMatchObject({
      withheld: ['/tool_state/configurations/database/connection_string'],
    })
    expect(Buffer.from(contextSnapshot?.bytes ?? '', 'base64').toString()).toContain('hunter2')
  })

  it('W05 comes out again with the very bytes', () => {
    const back = fromHandoff(message)
    expect(Buffer.from(back.contextSnapshot ?? []).equals(snapshot)).toBe(true)
    expect(back).toEqual({
      ...request({ capabilitiesRequired: ['security_analysis'] }),
      contextSnapshot: back.contextSnapshot,
    })
  })

  it('W13 keeps the history back where it is asked to', () => {
    const withheld = messageOf(request({ preserveHistory: false }))
    expect(withheld.conversationHistoryVerbatim).toEqual([])
    const back = fromHandoff(withheld)
    expect(back.preserveHistory).toBe(false)
    expect(deserializeContext(back.contextSnapshot ?? new Uint8Array())).toEqual({
      ...context,
      conversation_history: [],
    })
    expect(JSON.stringify(withheld)).not.toContain('Review this code')
    expect(Buffer.from(withheld.contextSnapshot?.bytes ?? '', 'base64').toString()).not.toContain(
      'Review',
    )
  })

  it('W17 turns time-out, budget and priority into what Baton keeps to', () => {
    const deadlineEpochMs = options.nowMs + 60_000
    const budget = {
      deadlineEpochMs,
      tokenBudgetRemaining: 500,
      currentDepth: 1,
      maxDelegationDepth: 3,
    }
    const bounded = messageOf(request({ timeoutMs: 30_000, priority: 0, budget }))
    expect(bounded).toMatchObject({
      priority: 0,
      expiresAt: '2026-01-01T00:00:30.000Z',
      deadline: '2026-01-01T00:01:00.000Z',
      tokenBudget: 500,
      delegation: { depth: 1, maxDepth: 3 },
    })
    expect(fromHandoff(bounded)).toMatchObject({ timeoutMs: 30_000, priority: 0, budget })
    expect(messageOf(request({ priority: 99 })).priority).toBe(3)
    const wall = { deadlineEpochMs, wallTimeRemainingMs: 1000 }
    expect(messageOf(request({ budget: wall })).deadline).toBe('2026-01-01T00:00:01.000Z')
  })

  it('W02 is refused strictly where lenient reading takes it', () => {
    const odd = request({
      contextSnapshot: Buffer.from('{"conversation_history":"none","more":[]}'),
    })
    expect(() => messageOf(odd, { ...options, mode: 'strict' } as never)).toThrow(
      'Failed to deserialize HandoffContext: ',
    )
    expect(messageOf(odd).currentState).toMatchObject({
      conversation_history: 'none',
      tool_state: {},
    })
  })

  it('W08 needs no context', () => {
    const bare = messageOf(request({ contextSnapshot: null }))
    expect(bare.contextSnapshot).toBeUndefined()
    expect(bare.currentState).toMatchObject({ tool_state: {}, metadata: {} })
  })
})

it('W05 W09 the context of a handoff of Baton says where in its task it stands, what was done, and what it cost', () => {
  const { externalRef: _, contextSnapshot: __, ...plain } = messageOf(request())
  const completedSubtasks = [
    {
      subtaskId: 'review',
      description: 'Reviewed',
      result: { findings: 2 },
      completedAt: '2026-01-01T00:00:00.000Z',
    },
  ]
  const costTracking = { ...plain.costTracking, costSpentSoFarUSD: 0.25 }
  const place = { parentHandoffId: plain.taskId, tracestate: 'a=b', constraints: ['tag:auth'] }
  const labels = { dataSubjects: ['s1'], dataClassification: 'confidential' }
  const message = { ...plain, ...place, ...labels, completedSubtasks, costTracking }
  const { metadata } = contextObject(contextOf(message as never))
  expect(metadata).toEqual({
    agent_id: plain.fromAgent.agentId,
    task_id: plain.taskId,
    handoff_id: plain.handoffId,
    parent_handoff_id: plain.taskId,
    traceparent: plain.traceparent,
    tracestate: 'a=b',
    cost_spent_usd: 0.25,
    cost_remaining_usd: plain.costTracking.costBudgetRemainingUSD,
    completed_subtasks: completedSubtasks,
    data_subjects: ['s1'],
    data_classification: 'confidential',
    constraints: ['tag:auth'],
  })
})

it('W09 any handoff of Baton is a request that an agent of SW4RM can read', () => {
  const { externalRef: _, contextSnapshot: __, 'x-sw4rm': ___, ...plain } = messageOf(request())
  const message = { ...plain, taskDescription: 'Find the holes', completedSubtasks: [] }
  const back = fromHandoff(message as never)
  expect(back).toMatchObject({
    requestId: message.handoffId,
    reason: 'Find the holes',
    toAgent: 'security-specialist-1',
  })
  const read = deserializeContext(back.contextSnapshot ?? new Uint8Array())
  expect(Buffer.from(serializeContext(read)).equals(Buffer.from(back.contextSnapshot ?? []))).toBe(
    true,
  )
  expect(new Map(read.metadata as never).get('task_id')).toBe(message.taskId)
})
