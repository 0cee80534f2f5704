// Every context, request, response, status and rejection that SW4RM documents, replayed over gRPC against a live gateway.
import { randomUUID } from 'node:crypto'
import {
  answerRequest,
  contextFrom,
  prepareHandoffContext,
  requestWithFallback,
  serializeContext,
} from '@baton/sdk/sw4rm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONTEXTS, REJECTIONS, REQUEST, UNREADABLE } from './documented-sw4rm.ts'
import { openSwarm } from './sw4rm-fixture.ts'
import type { Answered, SwarmWorld } from './sw4rm-fixture.ts'

let world: SwarmWorld
beforeAll(async () => {
  world = await openSwarm('sw4rm documented')
})
afterAll(() => world?.close())

const call = (name: string, request: object) => world.client.call(name, request)
const refusal = (name: string, request: object) => world.client.refusal(name, request)
const statusOf = (handoff_id: string) => call('GetHandoffStatus', { handoff_id })
const bytesOf = (context: object) =>
  serializeContext(contextFrom(context as Parameters<typeof contextFrom>[0]))
const requestOf = (changes: object = {}) => ({
  ...REQUEST,
  request_id: `req-${randomUUID()}`,
  to_agent: `${REQUEST.to_agent}-${randomUUID()}`,
  ...changes,
})
async function request(changes: object = {}) {
  const asked = requestOf(changes)
  expect(await call('RequestHandoff', asked)).toEqual({})
  return asked
}
const pendingOf = async (agent_id: string) =>
  (await call('GetPendingHandoffs', { agent_id }))['pending_requests'] as readonly Answered[]
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('HandoffRequest', () => {
  it.each(CONTEXTS)(
    'W01 W03 W04 W05 W07 brings %s byte for byte, with every field',
    async (_, context) => {
      const context_snapshot = Buffer.from(bytesOf(context))
      const asked = await request({ context_snapshot })
      expect(JSON.parse(context_snapshot.toString())).toEqual(context)
      expect(await pendingOf(asked.to_agent)).toEqual([
        {
          ...asked,
          context_snapshot,
          priority: 0,
          timeout: null,
          budget: null,
          delegation_policy: null,
        },
      ])
    },
  )

  it('W07 has the published defaults: no context, no capabilities, no time-out', async () => {
    const { capabilities_required: _, ...least } = requestOf()
    expect(await call('RequestHandoff', least)).toEqual({})
    expect(await pendingOf(least.to_agent)).toMatchObject([
      { ...least, capabilities_required: [], timeout: null },
    ])
  })

  it.each(UNREADABLE)('W02 W06 is refused with %s as its context', async (_, bytes, words) => {
    const context_snapshot = Buffer.from(bytes as string)
    const told = await refusal('RequestHandoff', requestOf({ context_snapshot }))
    expect(told).toMatch(words)
  })

  it('W14 is prepared as the text does: the last 50 messages, no cached results', async () => {
    const history = Array.from({ length: 60 }, (_, index) => ({
      role: 'user',
      content: `${index}`,
    }))
    const [, , [, { tool_state }]] = CONTEXTS as unknown as [
      unknown,
      unknown,
      [string, { tool_state: { active_calls: object[] } }],
    ]
    const context_snapshot = Buffer.from(
      serializeContext(prepareHandoffContext(history, tool_state)),
    )
    const asked = await request({ context_snapshot })
    const [pending] = await pendingOf(asked.to_agent)
    expect(JSON.parse(String(pending?.['context_snapshot']))).toEqual({
      conversation_history: history.slice(-50),
      tool_state: { active_calls: tool_state.active_calls, pending_approvals: [] },
      metadata: { original_history_length: 60, trimmed: true },
    })
  })
})

describe('HandoffResponse', () => {
  it('W08 W17 is PENDING, ACCEPTED and COMPLETED, field by field', async () => {
    const { request_id, to_agent } = await request()
    const response = { handoff_id: request_id, accepted: true, rejection_reason: '' }
    expect(await statusOf(request_id)).toEqual({
      ...response,
      status: 'PENDING',
      metadata: { created_at: ISO },
    })
    await call('AcceptHandoff', { request_id, accepted: true, accepting_agent: to_agent })
    expect(await statusOf(request_id)).toEqual({
      ...response,
      status: 'ACCEPTED',
      metadata: { created_at: ISO, accepted_at: ISO },
    })
    expect(await call('CompleteHandoff', { request_id, status: 'COMPLETED' })).toEqual({
      success: true,
      message: 'COMPLETED',
    })
    expect(await statusOf(request_id)).toEqual({
      ...response,
      status: 'COMPLETED',
      metadata: { created_at: ISO, accepted_at: ISO, completed_at: ISO },
    })
  })

  it.each(REJECTIONS)('W08 W10 is REJECTED with "%s"', async (rejection_reason) => {
    const { request_id, to_agent } = await request()
    const rejecting = { request_id, accepted: false, accepting_agent: to_agent, rejection_reason }
    expect(await call('RejectHandoff', rejecting)).toEqual({})
    expect(await statusOf(request_id)).toEqual({
      handoff_id: request_id,
      accepted: false,
      status: 'REJECTED',
      rejection_reason,
      metadata: { created_at: ISO, rejected_at: ISO },
    })
  })

  it('W08 W17 is EXPIRED on the wire where nobody accepts in time', async () => {
    const { request_id } = await request({ timeout: { seconds: 0, nanos: 1_000_000 } })
    expect(await world.reaches(request_id, 'EXPIRED')).toMatchObject({
      accepted: false,
      rejection_reason: expect.stringContaining('timed out'),
    })
  })
})

describe('the hook of the text', () => {
  const specialist = { capabilities: ['code_review', 'security_analysis'], state: 'RUNNABLE' }
  const asking = (...capabilitiesRequired: string[]) => ({ requestId: 'r', capabilitiesRequired })
  const response = { handoffId: 'r', metadata: {} }

  it.each([
    [
      asking('security_analysis'),
      specialist,
      {
        accepted: true,
        status: 'ACCEPTED',
        rejectionReason: null,
        metadata: { capabilities: specialist.capabilities },
      },
    ],
    [
      asking('fly'),
      specialist,
      { accepted: false, status: 'REJECTED', rejectionReason: 'Missing capability: fly' },
    ],
    [
      asking(),
      { ...specialist, state: 'SUSPENDED' },
      { accepted: false, status: 'REJECTED', rejectionReason: 'Agent busy: SUSPENDED' },
    ],
  ])('W09 W10 answers %j of %j', (asked, agent, answer) => {
    expect(answerRequest(asked, agent)).toEqual({ ...response, ...answer })
  })
})

describe('routing', () => {
  it('W11 finds nobody', async () => {
    const asked = requestOf({ to_agent: '', capabilities_required: [`cap-${randomUUID()}`] })
    expect(await refusal('RequestHandoff', asked)).toBe('9 No capable agent available')
  })

  it('W12 tries preferred agents in their order, and says when all of them reject', async () => {
    const agents = [1, 2].map((index) => `preferred-${index}-${randomUUID()}`)
    const asked: string[] = []
    const answer = await requestWithFallback(agents, 'h-1', async (to_agent) => {
      const { request_id } = await request({ to_agent })
      asked.push(to_agent)
      await call('RejectHandoff', { request_id, rejection_reason: REJECTIONS[1] })
      const { rejection_reason } = await statusOf(request_id)
      return {
        accepted: false,
        handoffId: request_id,
        status: 'REJECTED',
        rejectionReason: String(rejection_reason),
        metadata: {},
      }
    })
    expect(asked).toEqual(agents)
    expect(answer).toEqual({
      accepted: false,
      handoffId: 'h-1',
      rejectionReason: 'All preferred agents unavailable',
      status: 'REJECTED',
      metadata: {},
    })
  })
})

describe('the rules of the client', () => {
  it('W17 names what is unknown, done before, or sent twice', async () => {
    const id = `unknown-${randomUUID()}`
    const asked = await request()
    const { request_id } = asked
    const notPending = (current: string) =>
      `9 Handoff ${request_id} is not in PENDING status (current: ${current})`
    const notAccepted = (current: string) =>
      `9 Handoff ${request_id} is not in ACCEPTED status (current: ${current})`
    const rules: readonly (readonly [method: string, request: object, answer: string])[] = [
      ['GetHandoffStatus', { handoff_id: id }, `5 Handoff ${id} not found`],
      ['AcceptHandoff', { request_id: id }, `5 Handoff ${id} not found`],
      ['RejectHandoff', { request_id: id }, `5 Handoff ${id} not found`],
      ['CompleteHandoff', { request_id: id }, `5 Handoff ${id} not found`],
      ['RequestHandoff', asked, `6 Handoff request with ID '${request_id}' already exists`],
      ['CompleteHandoff', { request_id }, notAccepted('PENDING')],
      ['AcceptHandoff', { request_id }, 'OK'],
      ['AcceptHandoff', { request_id }, notPending('ACCEPTED')],
      ['RejectHandoff', { request_id }, notPending('ACCEPTED')],
      ['CompleteHandoff', { request_id }, 'OK'],
      ['AcceptHandoff', { request_id }, notPending('COMPLETED')],
      ['RejectHandoff', { request_id }, notPending('COMPLETED')],
      ['CompleteHandoff', { request_id }, notAccepted('COMPLETED')],
    ]
    for (const [method, given, answer] of rules)
      expect([method, await refusal(method, given)]).toEqual([method, answer])
  })
})
