// POST /v2/handoffs on a real Postgres: durable before 202, and one answer per key.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildHandoffMessage } from '@baton/sdk'
import type { AgentState } from '@baton/sdk'
import { inTransaction, registerAgents, takeIdempotencyKey } from '@baton/store'
import { signHandoff } from '@baton/protocol'
import { countRows, get, keyRing, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('accepts agent state, and the handoff and its task can be read at once', async () => {
  const response = await post(
    fixture.gateway,
    stateBody({}, { constraints: { priority: 1, list: ['language:en'] } }),
  )
  expect(response.statusCode).toBe(202)
  const { handoffId, taskId, taskSeq } = response.json()
  expect(taskSeq).toBe(1)
  expect(response.headers.location).toBe(`/v2/handoffs/${handoffId}`)
  const handoff = (await get(fixture.gateway, `/v2/handoffs/${handoffId}`)).json()
  expect(handoff).toMatchObject({
    handoffId,
    taskId,
    state: 'QUEUED',
    priority: 1,
    toAgent: 'clause-extraction',
    returns: [],
  })
  expect(handoff).toMatchObject({ spentUSD: 0.08, remainingUSD: 0.32 })
  const task = (await get(fixture.gateway, `/v2/tasks/${taskId}`)).json()
  expect(task.task).toMatchObject({
    taskId,
    status: 'PENDING_HANDOFF',
    budgetUSD: 0.4,
    spentUSD: 0.08,
    handoffs: 1,
  })
  expect(task.handoffs.map((one: { handoffId: string }) => one.handoffId)).toEqual([handoffId])
})

it('compresses for the window that its receiver registered, unless the request names one', async () => {
  const agent = { type: 'small', version: '1.0.0', requires: [], contextWindowTokens: 1_000 }
  await registerAgents(fixture.pool, randomUUID(), [agent])
  const turn = { role: 'user', content: 'We went on with it and found nothing new. '.repeat(9) }
  const turns = Array.from({ length: 12 }, () => turn)
  const turnsSentTo = async (targetAgentType: string, constraints: object = {}) => {
    const state = { conversationHistory: turns }
    const body = stateBody(state, { targetAgentType, constraints })
    const { handoffId } = (await post(fixture.gateway, body)).json()
    const { rows } = await fixture.pool.query<{ body: Buffer }>({
      text: 'select body from handoff_body where handoff_id = $1',
      values: [handoffId],
    })
    return JSON.parse(String(rows[0]?.body)).conversationHistoryVerbatim.length
  }
  expect(await turnsSentTo('small')).toBeLessThan(5)
  expect(await turnsSentTo('small', { receiverContextWindowTokens: 100_000 })).toBe(12)
  expect(await turnsSentTo('unheard-of')).toBe(12)
})

it('refuses what is for any agent where none can take it', async () => {
  const constraints = { requirements: { capabilities: ['unheard-of'] } }
  const refused = await post(fixture.gateway, stateBody({}, { targetAgentType: '*', constraints }))
  expect(refused.statusCode).toBe(409)
  expect(refused.json()).toMatchObject({
    code: 'BATON_NO_CAPABLE_AGENT',
    fix: expect.stringContaining('capabilities'),
  })
})

it('accepts a ready message with the checkpoint of its sender', async () => {
  const message = readyMessage()
  const response = await post(fixture.gateway, { message, checkpoint: { step: 3 } })
  expect(response.statusCode).toBe(202)
  expect(response.json()).toMatchObject({
    handoffId: message.handoffId,
    traceparent: message.traceparent,
  })
  const { rows } = await fixture.pool.query<{ body: Buffer }>({
    text: 'select body from checkpoint where task_id = $1',
    values: [message.taskId],
  })
  expect(JSON.parse(String(rows[0]?.body))).toMatchObject({
    handoffId: message.handoffId,
    state: { step: 3 },
  })
})

it('accepts a message its sender has signed, and refuses one that was changed afterwards', async () => {
  const { message } = signHandoff(readyMessage(), keyRing)
  expect((await post(fixture.gateway, { message, checkpoint: {} })).statusCode).toBe(202)
  const changed = { ...message, handoffId: randomUUID(), currentState: { other: 1 } }
  const refused = await post(fixture.gateway, { message: changed, checkpoint: {} })
  expect(refused.statusCode).toBe(422)
  expect(refused.json()).toMatchObject({
    code: 'BATON_SIGNATURE_INVALID',
    pointer: '/message/signature',
  })
})

function readyState() {
  const { agentState } = stateBody({ traceparent: TRACEPARENT })
  return agentState as unknown as AgentState
}

const readyMessage = () => buildHandoffMessage(readyState(), 'clause-extraction')

it('answers the same handoff sent twice with the first one, and other content with a conflict', async () => {
  const message = readyMessage()
  const first = await post(fixture.gateway, { message, checkpoint: {} })
  const second = await post(fixture.gateway, { message, checkpoint: {} })
  expect(second.json()).toEqual(first.json())
  expect(second.headers['idempotency-replayed']).toBe('true')
  const other = await post(fixture.gateway, {
    message: { ...message, currentState: { other: 1 } },
    checkpoint: {},
  })
  expect(other.statusCode).toBe(409)
  expect(other.json().code).toBe('BATON_HANDOFF_CONFLICT')
})

it('sends to all of a receiver list, and names the copies again where the key is repeated', async () => {
  const agents = ['legal', 'finance', 'risk']
  const receiverList = agents.map((agentType) => ({ agentType }))
  const join = { to: 'decision', taskDescription: 'decide', onFailure: 'skip' }
  const body = stateBody({}, { targetAgentType: 'finance', constraints: { receiverList, join } })
  const headers = { 'idempotency-key': randomUUID() }
  const first = await post(fixture.gateway, body, { headers })
  expect(first.statusCode).toBe(202)
  const { branches, handoffId, taskId } = first.json()
  expect(branches.map((one: { toAgent: string }) => one.toAgent)).toEqual(agents)
  expect(branches[1].handoffId).toBe(handoffId)
  const { handoffs } = (await get(fixture.gateway, `/v2/tasks/${taskId}`)).json()
  expect(new Set(handoffs.map((one: { handoffId: string }) => one.handoffId))).toEqual(
    new Set(branches.map((one: { handoffId: string }) => one.handoffId)),
  )
  const second = await post(fixture.gateway, body, { headers })
  expect(second.json()).toEqual(first.json())
  const message = buildHandoffMessage(readyState(), 'legal', { receiverList })
  const ready = await post(fixture.gateway, { message, checkpoint: {}, join })
  expect(ready.json()).toMatchObject({
    handoffId: message.handoffId,
    branches: agents.map((toAgent) => ({ toAgent })),
  })
})

it.each([
  [{ targetAgentType: 'other' }, {}, 'BATON_RECEIVER_LIST_INVALID', '/constraints/receiverList'],
  [
    {},
    { join: { to: 'x', taskDescription: 'y', waitFor: 9 } },
    'BATON_JOIN_IMPOSSIBLE',
    '/constraints/join/waitFor',
  ],
  [
    {},
    { join: { to: 'x', taskDescription: 'y', budgetUSD: 900 } },
    'BATON_BUDGET_EXCEEDED',
    '/constraints/join/budgetUSD',
  ],
  [
    {},
    { join: { to: '*', taskDescription: 'y' } },
    'BATON_RECEIVER_MISSING',
    '/constraints/join/to',
  ],
  [{}, { join: { to: 'x' } }, 'BATON_REQUEST_INVALID', '/constraints/join/taskDescription'],
])('refuses a receiver list with %j and %j', async (rest, asked, code, pointer) => {
  const receiverList = [{ agentType: 'clause-extraction' }, { agentType: 'risk' }]
  const before = await countRows(fixture.pool)
  const refused = await post(
    fixture.gateway,
    stateBody({}, { constraints: { receiverList, ...asked }, ...rest }),
  )
  expect(refused.statusCode).toBe(422)
  expect(refused.json()).toMatchObject({ code, errors: [{ pointer }] })
  expect(await countRows(fixture.pool)).toEqual(before)
})

it.each(['jürgen', 'intake\u0085agent', '\u202etnega', '代理', 'intake\u200bagent'])(
  'refuses the name %j at the door, because the log could not record it',
  async (name) => {
    const before = await countRows(fixture.pool)
    const agent = { agentId: name, agentVersion: '1.0.0' }
    for (const body of [stateBody({ agent }), stateBody({}, { targetAgentType: name })]) {
      const refused = await post(fixture.gateway, body)
      expect(refused.statusCode).toBe(422)
      expect(refused.json()).toMatchObject({ code: 'BATON_NAME_UNRECORDABLE' })
    }
    expect(await countRows(fixture.pool)).toEqual(before)
  },
)

it('recognises agent state that is sent again under its own handoff id and span', async () => {
  const body = stateBody({ handoffId: randomUUID(), traceparent: TRACEPARENT })
  const first = await post(fixture.gateway, body)
  const second = await post(fixture.gateway, body)
  expect(first.statusCode).toBe(202)
  expect(second.json()).toEqual(first.json())
})

it('answers a repeated Idempotency-Key with the first answer, quoted or bare', async () => {
  const body = stateBody()
  const name = randomUUID()
  const before = await countRows(fixture.pool)
  const first = await post(fixture.gateway, body, { headers: { 'idempotency-key': `"${name}"` } })
  const second = await post(fixture.gateway, body, { headers: { 'idempotency-key': name } })
  expect([first.statusCode, second.statusCode]).toEqual([202, 202])
  expect(second.json()).toEqual(first.json())
  expect(second.headers).toMatchObject({
    location: first.headers.location,
    'idempotency-replayed': 'true',
  })
  const after = await countRows(fixture.pool)
  expect(after['handoff']).toBe((before['handoff'] ?? 0) + 1)
  expect(after['idempotency_key']).toBe((before['idempotency_key'] ?? 0) + 1)
})

it('sends one handoff for concurrent requests with one key', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = stateBody()
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => post(fixture.gateway, body, { headers })),
  )
  expect(new Set(responses.map((response) => response.json().handoffId)).size).toBe(1)
  expect(responses.every((response) => response.statusCode === 202)).toBe(true)
})

it('refuses a key that was used for another body, and keeps keys of different callers apart', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  await post(fixture.gateway, stateBody(), { headers })
  const before = await countRows(fixture.pool)
  const other = await post(fixture.gateway, stateBody(), { headers })
  expect(other.statusCode).toBe(422)
  expect(other.json().code).toBe('BATON_IDEMPOTENCY_KEY_REUSED')
  expect(await countRows(fixture.pool)).toEqual(before)
  const elsewhere = await post(fixture.gateway, stateBody(), { headers, key: keys.operator.key })
  expect(elsewhere.statusCode).toBe(202)
})

it('answers 409 while the first request with a key is still running', async () => {
  const name = randomUUID()
  const apiKeyId = /^bk_([0-9a-f]+)_/.exec(keys.sender.key)?.[1] ?? ''
  const request = { apiKeyId, key: name, requestSha256: Buffer.alloc(32), handoffId: randomUUID() }
  const response = await inTransaction(fixture.pool, async (transaction) => {
    await takeIdempotencyKey(transaction, request)
    return post(fixture.gateway, stateBody(), { headers: { 'idempotency-key': name } })
  })
  expect(response.statusCode).toBe(409)
  expect(response.json().code).toBe('BATON_IDEMPOTENCY_KEY_RUNNING')
  expect(response.headers['retry-after']).toBe('1')
})

it('gives the key back when the send is refused, so that a mended body may use it', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const taskId = randomUUID()
  await post(fixture.gateway, stateBody({ taskId }))
  const cost = {
    spentSoFarUSD: 0.1,
    budgetRemainingUSD: 9,
    ownCostUSD: 0,
    tokenSpent: { prompt: 0, completion: 0 },
  }
  const refused = await post(fixture.gateway, stateBody({ taskId, cost }), { headers })
  expect(refused.statusCode).toBe(422)
  expect(refused.json().code).toBe('BATON_BUDGET_MISMATCH')
  const mended = await post(fixture.gateway, stateBody({ taskId }), { headers })
  expect(mended.statusCode).toBe(202)
})

it.each(['"open', 'two words', '"a", "b"', '""', '"é"', 'x'.repeat(256)])(
  'refuses the Idempotency-Key %j',
  async (header) => {
    const response = await post(fixture.gateway, stateBody(), {
      headers: { 'idempotency-key': header },
    })
    expect(response.statusCode).toBe(400)
    expect(response.json().code).toBe('BATON_IDEMPOTENCY_KEY_INVALID')
  },
)

it('answers 503 while as much is under way as may be', async () => {
  const narrow = fixture.another({ runningMax: 1 })
  await narrow.server.ready()
  const responses = await Promise.all(Array.from({ length: 12 }, () => post(narrow, stateBody())))
  const statuses = responses.map((response) => response.statusCode)
  expect(statuses).toContain(202)
  expect(statuses).toContain(503)
  const overloaded = responses.find((response) => response.statusCode === 503)
  expect(overloaded?.json().code).toBe('BATON_OVERLOADED')
  expect(overloaded?.headers['retry-after']).toBe('1')
})
