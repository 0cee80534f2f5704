// Approving, refusing and canceling over HTTP: who may, what is refused and why, and that repeating is safe.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgents } from '@baton/store'
import { PEOPLE } from '@baton/testkit'
import { expectProblem, get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

/** As the person behind the key, who signs what is asked for. */
async function act(url: string, body: unknown, key = keys.steerer.key) {
  const response = await ask(url, body, { key })
  const needed = response.headers['baton-decision-needed']
  if (needed === undefined) return response
  return ask(url, body, { key, headers: { 'baton-decision': PEOPLE.answer(String(needed)) } })
}
const ask = (
  url: string,
  body: unknown,
  { key = keys.steerer.key, headers = {} }: { key?: string; headers?: object } = {},
) =>
  fixture.gateway.server.inject({
    method: 'POST',
    url,
    headers: {
      ...headers,
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
async function sent(constraints: object = {}): Promise<{ handoffId: string; taskId: string }> {
  const response = await post(fixture.gateway, stateBody({}, { constraints }))
  expect(response.statusCode).toBe(202)
  return response.json()
}
const held = () => sent({ requiresApproval: true })
const stateOf = async (handoffId: string) =>
  (await get(fixture.gateway, `/v2/handoffs/${handoffId}`)).json().state

describe('approvals', () => {
  it('are listed oldest first, and decided once by the operator of the key', async () => {
    const first = await held()
    const second = await held()
    const { approvals } = (await get(fixture.gateway, '/v2/approvals')).json()
    expect(approvals.map((one: { handoffId: string }) => one.handoffId)).toEqual([
      first.handoffId,
      second.handoffId,
    ])
    expect(approvals[0]).toMatchObject({ priority: 2, expiresAt: null, fromAgent: 'intake-agent' })
    const url = `/v2/approvals/${first.handoffId}`
    const body = { decision: 'approve', reasonCode: 'WITHIN_BUDGET' }
    expect((await act(url, body)).json()).toMatchObject({
      decidedBy: 'ann',
      reasonCode: 'WITHIN_BUDGET',
      state: 'QUEUED',
      repeated: false,
    })
    expect((await act(url, body)).json()).toMatchObject({ decidedBy: 'ann', repeated: true })
    const otherwise = await act(url, { decision: 'reject' })
    expectProblem(otherwise)
    expect([otherwise.statusCode, otherwise.json().code]).toEqual([409, 'BATON_APPROVAL_CLOSED'])
    const refused = await act(`/v2/approvals/${second.handoffId}`, { decision: 'reject' })
    expect(refused.json()).toMatchObject({ state: 'REJECTED' })
    const none = { approvals: [], nextCursor: null, total: 0, totalIsExact: true }
    expect((await get(fixture.gateway, '/v2/approvals')).json()).toEqual(none)
  })

  it.each([
    ['a body without decision', {}, 422, 'BATON_REQUEST_INVALID'],
    ['another decision', { decision: 'maybe' }, 422, 'BATON_REQUEST_INVALID'],
    [
      'words for a reason',
      { decision: 'reject', reasonCode: 'too dear' },
      422,
      'BATON_REQUEST_INVALID',
    ],
    ['another field', { decision: 'approve', approvedBy: 'eve' }, 422, 'BATON_REQUEST_INVALID'],
    ['no object', [], 422, 'BATON_REQUEST_INVALID'],
    ['no body', undefined, 422, 'BATON_REQUEST_INVALID'],
  ])('refuse %s', async (_, body, status, code) => {
    const { handoffId } = await held()
    const response = await act(`/v2/approvals/${handoffId}`, body)
    expectProblem(response)
    expect([response.statusCode, response.json().code]).toEqual([status, code])
    expect(await stateOf(handoffId)).toBe('AWAITING_APPROVAL')
  })

  it('of what was never held, or has no such id, do not exist', async () => {
    const { handoffId } = await sent()
    const body = { decision: 'approve' }
    const found = [
      await act(`/v2/approvals/${handoffId}`, body),
      await act(`/v2/approvals/${randomUUID()}`, body),
      await act('/v2/approvals/x', body),
    ]
    expect(found.map((one) => [one.statusCode, one.json().code])).toEqual([
      [404, 'BATON_APPROVAL_UNKNOWN'],
      [404, 'BATON_APPROVAL_UNKNOWN'],
      [400, 'BATON_PARAMETER_INVALID'],
    ])
  })
})

it('a handoff shows what was decided about it, where it was routed and how it is being canceled', async () => {
  const { handoffId } = await held()
  const shown = async () => (await get(fixture.gateway, `/v2/handoffs/${handoffId}`)).json()
  expect(await shown()).toMatchObject({
    revision: 1,
    routedTo: null,
    approval: { decision: null, decidedBy: null },
    cancelRequested: false,
    cancelGraceUntil: null,
  })
  await act(`/v2/approvals/${handoffId}`, { decision: 'approve' })
  await fixture.pool.query({
    text: `update handoff set routed_to = 'other', cancel_requested = true,
      cancel_grace_until = '2026-01-02T03:04:05Z' where id = $1`,
    values: [handoffId],
  })
  expect(await shown()).toMatchObject({
    routedTo: 'other',
    approval: { decision: 'approve', decidedBy: 'ann' },
    cancelRequested: true,
    cancelGraceUntil: '2026-01-02T03:04:05.000Z',
  })
  const { handoffId: never } = await sent()
  expect((await get(fixture.gateway, `/v2/handoffs/${never}`)).json().approval).toBeNull()
})

describe('cancellation', () => {
  it('of a handoff needs no body, ends what does not execute, and may be repeated', async () => {
    const { handoffId, taskId } = await sent()
    const url = `/v2/handoffs/${handoffId}/cancel`
    expect((await act(url, undefined)).json()).toEqual({
      ended: [handoffId],
      stopping: [],
      taskId,
      taskStatus: 'CANCELED',
      repeated: false,
    })
    expect((await act(url, { graceMs: 0 })).json()).toMatchObject({ ended: [], repeated: true })
    expect(await stateOf(handoffId)).toBe('CANCELED')
  })

  it('of a task ends everything open in it; what has ended before is a conflict', async () => {
    const { handoffId, taskId } = await held()
    expect((await act(`/v2/tasks/${taskId}/cancel`, {})).json()).toMatchObject({
      ended: [handoffId],
      taskStatus: 'CANCELED',
    })
    const refused = await held()
    await act(`/v2/approvals/${refused.handoffId}`, { decision: 'reject' })
    const response = await act(`/v2/handoffs/${refused.handoffId}/cancel`, {})
    expect([response.statusCode, response.json().code]).toEqual([409, 'BATON_HANDOFF_ENDED'])
    expect(response.json().detail).toContain('REJECTED')
  })

  it.each([
    [{ graceMs: -1 }, 422],
    [{ graceMs: 3_600_001 }, 422],
    [{ graceMs: 1.5 }, 422],
    [{ graceMs: '5' }, 422],
    [{ because: 'x' }, 422],
  ])('refuses %j', async (body, status) => {
    const { handoffId } = await sent()
    expect((await act(`/v2/handoffs/${handoffId}/cancel`, body)).statusCode).toBe(status)
    expect(await stateOf(handoffId)).toBe('QUEUED')
  })

  it('of what does not exist is not found', async () => {
    const id = randomUUID()
    const found = [
      await act(`/v2/handoffs/${id}/cancel`, {}),
      await act(`/v2/tasks/${id}/cancel`, {}),
    ]
    expect(found.map((one) => [one.statusCode, one.json().code])).toEqual([
      [404, 'BATON_HANDOFF_UNKNOWN'],
      [404, 'BATON_TASK_UNKNOWN'],
    ])
  })
})

it('lets nobody steer without the scope for it', async () => {
  const { handoffId, taskId } = await held()
  for (const url of [
    `/v2/approvals/${handoffId}`,
    `/v2/handoffs/${handoffId}/cancel`,
    `/v2/tasks/${taskId}/cancel`,
  ]) {
    expect((await act(url, { decision: 'approve' }, keys.operator.key)).statusCode).toBe(403)
    expect((await act(url, { decision: 'approve' }, 'bk_x_y')).statusCode).toBe(401)
  }
  expect(await stateOf(handoffId)).toBe('AWAITING_APPROVAL')
})

it('lists the agent types that have a live worker, with what every worker of a type has', async () => {
  const agent = (type: string, capabilities: string[]) => ({
    type,
    version: '1.0.0',
    requires: ['document'],
    capabilities,
    mcp: [],
  })
  await registerAgents(fixture.pool, randomUUID(), [agent('translator', ['french', 'german'])])
  await registerAgents(fixture.pool, randomUUID(), [
    { ...agent('translator', ['german']), version: '1.1.0' },
  ])
  const { agents } = (await get(fixture.gateway, '/v2/agents')).json()
  expect(agents).toMatchObject([
    {
      type: 'translator',
      versions: ['1.0.0', '1.1.0'],
      requires: ['document'],
      capabilities: ['german'],
      mcp: [],
      workers: 2,
    },
  ])
})

it('lists agents in pages, by a cursor of that list only, and says how many there are', async () => {
  const types = ['paged/a', 'paged/b', 'paged/c']
  await registerAgents(
    fixture.pool,
    randomUUID(),
    types.map((type) => ({
      type,
      version: '1.0.0',
      requires: [],
      capabilities: [],
      mcp: [],
    })),
  )
  const seen: string[] = []
  const totals = new Set<number>()
  let next = ''
  for (;;) {
    const page = (await get(fixture.gateway, `/v2/agents?limit=1${next}`)).json()
    seen.push(...page.agents.map(({ type }: { type: string }) => type))
    totals.add(page.total)
    if (page.nextCursor === null) break
    next = `&cursor=${page.nextCursor}`
  }
  expect(seen).toEqual(expect.arrayContaining(types))
  expect(new Set(seen).size).toBe(seen.length)
  expect([...totals]).toEqual([seen.length])
  const first = (await get(fixture.gateway, '/v2/agents?limit=1')).json().nextCursor
  for (const path of ['/v2/agents?cursor=bm9uZQ', `/v2/session-replies?cursor=${first}`]) {
    const refused = (await get(fixture.gateway, path)).json()
    expect(refused).toMatchObject({ code: 'BATON_CURSOR_INVALID', parameter: 'cursor' })
  }
})
