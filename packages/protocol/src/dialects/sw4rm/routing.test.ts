// Requests and responses with their defaults, who takes them, and what is said of a handoff in each of its states.
import { describe, expect, it } from 'vitest'
import { HANDOFF_STATES, hasHandoffEnded } from '../../states.ts'
import {
  answerRequest,
  findCapableAgent,
  handoffRequest,
  handoffResponse,
  rejectionCode,
  requestWithFallback,
  responseOf,
  routeHandoff,
  STATUS_NUMBERS,
  statusOf,
} from './index.ts'
import type { HandoffResponse } from './index.ts'

const asked = {
  requestId: 'r1',
  fromAgent: 'general-1',
  toAgent: 'specialist-1',
  reason: 'needs it',
}

describe('requests and responses', () => {
  it('W07 have the defaults of the text', () => {
    expect(handoffRequest(asked)).toEqual({
      ...asked,
      contextSnapshot: null,
      preserveHistory: true,
      capabilitiesRequired: [],
      metadata: {},
      timeoutMs: null,
      priority: null,
      budget: null,
    })
    expect(handoffResponse({ accepted: true, handoffId: 'h' })).toEqual({
      accepted: true,
      handoffId: 'h',
      rejectionReason: null,
      status: 'PENDING',
      metadata: {},
    })
  })

  it('W07 name who asks, what and why', () => {
    expect(() => handoffRequest({ ...asked, requestId: '' })).toThrow('request_id is required')
    expect(() => handoffRequest({ ...asked, fromAgent: '' })).toThrow('from_agent is required')
    expect(() => handoffRequest({ ...asked, reason: '' })).toThrow('reason is required')
    expect(() => handoffRequest({ ...asked, budget: { deadlineEpochMs: 0 } })).toThrow(
      'budget.deadlineEpochMs is required for cross-swarm delegation',
    )
  })

  it('W08 number the statuses as the wire does', () => {
    expect(STATUS_NUMBERS).toEqual({
      PENDING: 1,
      ACCEPTED: 2,
      REJECTED: 3,
      COMPLETED: 4,
      EXPIRED: 5,
    })
  })
})

const agents = [
  { agentId: 'writer', capabilities: ['write'], state: 'RUNNABLE' },
  { agentId: 'busy', capabilities: ['write', 'review'], state: 'RUNNING' },
  { agentId: 'free', capabilities: ['review', 'write', 'more'], state: 'RUNNABLE' },
]

describe('routing', () => {
  it('W11 finds the first RUNNABLE agent that has every capability', () => {
    expect(findCapableAgent(['write', 'review'], agents)).toBe('free')
    expect(findCapableAgent([], agents)).toBe('writer')
    expect(findCapableAgent(['fly'], agents)).toBeUndefined()
  })

  it('W10 W11 routes a request without an agent, and leaves one with an agent', () => {
    const request = handoffRequest({ ...asked, toAgent: '', capabilitiesRequired: ['review'] })
    expect(routeHandoff(request, agents)).toEqual({ request: { ...request, toAgent: 'free' } })
    expect(routeHandoff({ ...request, toAgent: 'busy' }, agents)).toMatchObject({
      request: { toAgent: 'busy' },
    })
    expect(routeHandoff(request, [])).toEqual({
      rejected: handoffResponse({
        accepted: false,
        handoffId: 'r1',
        rejectionReason: 'No capable agent available',
        status: 'REJECTED',
      }),
    })
  })

  it('W10 says what an agent lacks, or that it is busy', () => {
    const request = { requestId: 'r1', capabilitiesRequired: ['review', 'fly'] }
    expect(answerRequest(request, { capabilities: ['review'], state: 'RUNNING' })).toMatchObject({
      accepted: false,
      status: 'REJECTED',
      rejectionReason: 'Missing capability: fly',
    })
    expect(
      answerRequest(request, { capabilities: ['fly', 'review'], state: 'WAITING' }),
    ).toMatchObject({
      rejectionReason: 'Agent busy: WAITING',
    })
    expect(
      answerRequest(request, { capabilities: ['fly', 'review'], state: 'RUNNABLE' }),
    ).toMatchObject({
      accepted: true,
      status: 'ACCEPTED',
      metadata: { capabilities: ['fly', 'review'] },
    })
  })

  const answering = (accepting: string | undefined, seen: string[] = []) => ({
    seen,
    ask: async (agentId: string): Promise<HandoffResponse> => {
      seen.push(agentId)
      return handoffResponse({ accepted: agentId === accepting, handoffId: agentId })
    },
  })

  it('W12 asks preferred agents in their order, until one accepts', async () => {
    const { ask, seen } = answering('b')
    expect(await requestWithFallback(['a', 'b', 'c'], 'h', ask)).toMatchObject({
      accepted: true,
      handoffId: 'b',
    })
    expect(seen).toEqual(['a', 'b'])
  })

  it('W10 W12 says that all are unavailable where none accepts', async () => {
    const { ask, seen } = answering(undefined)
    expect(await requestWithFallback(['a', 'b'], 'h', ask)).toEqual(
      handoffResponse({
        accepted: false,
        handoffId: 'h',
        rejectionReason: 'All preferred agents unavailable',
        status: 'REJECTED',
      }),
    )
    expect(seen).toEqual(['a', 'b'])
    expect(await requestWithFallback([], 'h', ask)).toMatchObject({ accepted: false })
  })
})

describe('the status of a handoff', () => {
  const AT = '2026-01-01T00:00:00.000Z'
  const facts = (state: string, acceptedAt: string | null = null) => ({
    handoffId: 'h',
    state,
    reason: 'SAFETY_VIOLATION',
    createdAt: AT,
    acceptedAt,
    endedAt: hasHandoffEnded(state) ? AT : null,
  })

  it('W08 W17 is one word for each state', () => {
    const words = Object.fromEntries(HANDOFF_STATES.map((state) => [state, statusOf(facts(state))]))
    expect(words).toEqual({
      QUEUED: 'PENDING',
      AWAITING_APPROVAL: 'PENDING',
      DISPATCHED: 'PENDING',
      EXECUTING: 'ACCEPTED',
      COMPLETED: 'COMPLETED',
      PARTIAL: 'COMPLETED',
      REJECTED: 'REJECTED',
      BLOCKED: 'REJECTED',
      EXPIRED: 'EXPIRED',
      CANCELED: 'REJECTED',
      DEAD_LETTERED: 'REJECTED',
      ROLLED_BACK: 'REJECTED',
    })
    expect(statusOf(facts('EXPIRED', AT))).toBe('REJECTED')
  })

  it.each([
    ['QUEUED', null, true, { created_at: AT }],
    ['COMPLETED', null, true, { created_at: AT, completed_at: AT }],
    ['PARTIAL', null, true, { created_at: AT, completed_at: AT, partial: true }],
    ['DEAD_LETTERED', 'SAFETY_VIOLATION', false, { created_at: AT, rejected_at: AT }],
    ['ROLLED_BACK', 'SAFETY_VIOLATION', false, { created_at: AT, rejected_at: AT, failed_at: AT }],
    ['BLOCKED', 'No capable agent available', false, { created_at: AT, rejected_at: AT }],
    ['EXPIRED', 'Handoff request timed out', false, { created_at: AT, expired_at: AT }],
    ['CANCELED', 'Canceled', false, { created_at: AT, rejected_at: AT }],
  ])('W17 says of %s what a peer would', (state, rejectionReason, accepted, metadata) => {
    expect(responseOf(facts(state))).toMatchObject({
      accepted,
      rejectionReason,
      metadata,
      handoffId: 'h',
    })
  })

  it.each([
    ['Missing capability: fly', 0, 'MISSING_CAPABILITY_1', 'Missing capability: fly'],
    ['Missing capability: swim', 0, 'AGENT_DECLINED', 'AGENT_DECLINED'],
    ['Agent busy: RUNNING', 0, 'AGENT_BUSY_RUNNING', 'Agent busy: RUNNING'],
    ['Agent busy: on holiday', 4, 'AGENT_UNAVAILABLE', 'AGENT_UNAVAILABLE'],
    ['anything else', 1, 'BUFFER_FULL', 'BUFFER_FULL'],
    ['', 0, 'AGENT_DECLINED', 'AGENT_DECLINED'],
  ])(
    'W10 W17 keeps of a rejection with "%s" what may be recorded',
    (reason, errorCode, code, text) => {
      const capabilitiesRequired = ['review', 'fly']
      expect(rejectionCode({ reason, errorCode }, capabilitiesRequired)).toBe(code)
      const declined = { ...facts('REJECTED', AT), declinedWith: code, capabilitiesRequired }
      expect(responseOf(declined)).toMatchObject({
        accepted: false,
        status: 'REJECTED',
        rejectionReason: text,
        metadata: { created_at: AT, rejected_at: AT },
      })
    },
  )
})
