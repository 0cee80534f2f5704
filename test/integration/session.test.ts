// Orchestrators dispatch to Baton over /jsonrpc: what they send is a handoff, and they are told its outcome, now or later.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  dispatchText,
  inboundOf,
  openSessionWorld,
  openTenants,
  resultIn,
  sessionKeys,
  soon,
  startFakePeer,
  tokenOf,
} from './session-fixture.ts'
import type { FakePeer, SessionWorld, Tenants } from './session-fixture.ts'

let world: SessionWorld
let hermes: FakePeer
let tenants: Tenants
beforeAll(async () => {
  hermes = await startFakePeer()
  world = await openSessionWorld('session', [
    {
      ...inboundOf('hermes'),
      sendsTo: 'coder',
      url: hermes.url,
      allowPrivate: true,
      limits: { contextsMax: 3 },
    },
    { ...inboundOf('asker'), sendsTo: 'coder', limits: { waitMs: 30_000 } },
    { ...inboundOf('silent') },
    { name: 'planner', operator: 'acme/planner', sendsTo: 'acme/coder' },
    { name: 'intruder', operator: 'globex/planner', sendsTo: 'acme/coder' },
  ])
  tenants = await openTenants(world, 'acme', 'globex')
})
afterAll(async () => {
  await tenants?.close()
  await world.close()
  await hermes.close()
})

const QUEUED = /\[queued\]/
const told = (taskId: string) => hermes.heard.filter(({ text }) => text.includes(taskId))
const DONE = { outcome: 'complete', result: { pr: 'p', next_steps: ['merge it'] } }

it('S02 S13 S16 S22 answers with its announcement and the result, where the work is done soon', async () => {
  const taskId = randomUUID()
  const working = world.work('coder', DONE, { mcp: ['memory'], capabilities: ['file'] })
  const contextId = randomUUID()
  await soon('the agent is live', async () => {
    const { agents } = await world.api<{ agents: { type: string }[] }>('GET', '/v2/agents?limit=9')
    return agents.some(({ type }) => type === 'coder')
  })
  const answer = await world.say(dispatchText(taskId), { as: 'asker', contextId })
  expect(answer).toMatchObject({ status: 200, contextId })
  expect(resultIn(answer.texts)).toMatchObject({
    type: 'TASK_RESULT',
    protocol_version: '2.0',
    task_id: taskId,
    status: 'done',
    next_steps: ['merge it'],
    blocked_reason: null,
    artifacts: { pr: 'p' },
  })
  expect(resultIn(answer.texts)['tokens_spent']).toBeGreaterThan(10)
  expect(JSON.parse(answer.texts[0] ?? '')).toMatchObject({
    type: 'SESSION_ANNOUNCE',
    capabilities: { mcp_servers: ['memory'], tools: ['file'] },
    session: { context_id: contextId, session_fresh: true },
  })
  await working
  const again = await world.say(dispatchText(taskId), { as: 'asker', contextId })
  expect(again).toEqual({ ...answer, texts: answer.texts.slice(1) })
})

it('S23 is in the audit trail under its task and trace, dispatch and result', async () => {
  const taskId = randomUUID()
  const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
  const working = world.work('coder', DONE)
  await world.say(dispatchText(taskId), { as: 'asker', headers: { traceparent } })
  const handoffId = await working
  const handoff = await world.reaches(handoffId, 'COMPLETED')
  expect(handoff).toMatchObject({ fromAgent: 'asker', priority: 1 })
  expect(handoff.traceparent.slice(3, 35)).toBe(traceparent.slice(3, 35))
  const trace = await soon('the trace has the result', async () => {
    const found = await world.api<{ records: { event: string }[] }>(
      'GET',
      `/v2/tasks/${handoff.taskId}/trace`,
    )
    return JSON.stringify(found).includes('EXECUTION_COMPLETED') && JSON.stringify(found)
  })
  expect(trace).toContain('HANDOFF_ACCEPTED')
})

it('S22 acknowledges long work, and tells its outcome later until the peer has it, under one id', async () => {
  const taskId = randomUUID()
  const contextId = randomUUID()
  let refusals = 3
  hermes.behave = () => ((refusals -= 1) >= 0 ? { status: 500 } : { texts: ['thanks'] })
  const answer = await world.say(dispatchText(taskId), { contextId })
  expect(answer.texts.at(-1)).toMatch(QUEUED)
  await world.work('coder', DONE)
  await soon('told at last', () => told(taskId).length === 4)
  expect(new Set(told(taskId).map(({ message }) => message.messageId))).toEqual(
    new Set([answer.messageId]),
  )
  expect(new Set(told(taskId).map(({ text }) => text)).size).toBe(1)
  expect(told(taskId)[0]).toMatchObject({ message: { role: 'agent', contextId } })
  expect(resultIn([told(taskId)[0]?.text ?? ''])).toMatchObject({ task_id: taskId, status: 'done' })
  const next = await world.say('Are you done?', { contextId })
  expect(next.texts[0]).toMatch(QUEUED)
  await world.work('coder', DONE)
})

it('S22 runs one turn of a context at a time, and three contexts of a peer', async () => {
  const contextId = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => world.say(dispatchText(randomUUID()), { contextId })),
  )
  const busy = answers.filter(({ error }) => error?.code === -32001)
  expect(busy).toHaveLength(99)
  expect(busy[0]).toMatchObject({ status: 200, error: { data: { retryable: true } } })
  expect(answers.flatMap(({ texts }) => texts).filter((text) => QUEUED.test(text))).toHaveLength(1)
  const others = await Promise.all([1, 2, 3].map(() => world.say(dispatchText(randomUUID()))))
  expect(others.filter(({ error }) => error?.code === -32001)).toHaveLength(1)
  for (const _ of [1, 2, 3]) await world.work('coder', DONE)
  expect((await world.say('and now?', { contextId })).error).toBeUndefined()
  await world.work('coder', DONE)
})

it('S18 answers blocked at once where no agent has what is required, before anything is spent', async () => {
  const taskId = randomUUID()
  const requirements = { required_mcp: ['trek'], required_capabilities: ['fly'] }
  const working = world.work('coder', DONE, { mcp: ['memory'] })
  const answer = await world.say(dispatchText(taskId, { requirements }), { as: 'asker' })
  expect(resultIn(answer.texts)).toMatchObject({
    task_id: taskId,
    status: 'blocked',
    tokens_spent: 0,
    blocked_reason: expect.stringMatching(/mcp trek/),
  })
  await world.say(dispatchText(randomUUID()), { as: 'asker' })
  await working
})

it('S12 does not start what is late', async () => {
  const taskId = randomUUID()
  const deadline = new Date(Date.now() - 1_000).toISOString()
  const first = await world.say(dispatchText(taskId, { deadline }), { contextId: 'late' })
  const texts = QUEUED.test(first.texts.at(-1) ?? '')
    ? [await soon('told that it is late', () => told(taskId)[0]?.text)]
    : first.texts
  expect(resultIn(texts)).toMatchObject({
    status: 'blocked',
    blocked_reason: 'expired',
    tokens_spent: 0,
  })
})

it('S09 S15 S19 takes an inline header block and plain prose, and answers prose in prose', async () => {
  const inline = 'TASK DISPATCH (inline)\npriority: low\nreply_schema: prose\n\nBrief: say hello'
  const working = world.work('coder', { outcome: 'complete', result: 'hello' })
  const answer = await world.say(inline, { as: 'asker' })
  expect(answer.texts.at(-1)).toBe('hello')
  expect(await world.reaches(await working, 'COMPLETED')).toMatchObject({ priority: 3 })
  const failing = world.work('coder', { outcome: 'fail', code: 'MODEL_GONE' })
  expect((await world.say('please', { as: 'asker' })).texts.at(-1)).toMatch(/^\[error\]/)
  await failing
})

it('S19 refuses another major version by saying which it speaks, and hears announcements and handshakes', async () => {
  const other = await world.say(dispatchText('a', { protocol_version: '3.0' }))
  expect(other).toMatchObject({
    status: 200,
    error: { code: -32602, data: { fix: expect.stringContaining('2.0') } },
  })
  const hello = await world.say('[A2A HANDSHAKE v1]\nrole: orchestrator', {
    contextId: 'handshake:hermes-x',
  })
  expect(hello.texts[0]).toMatch(/^\[A2A HANDSHAKE ACK v1\]\nrole: worker/)
  const announced = '{"type":"SESSION_ANNOUNCE","protocol_version":"2.1","worker":{"agent_id":"x"}}'
  expect((await world.say(announced)).texts).toEqual(['SESSION_ANNOUNCE received'])
})

it('S22 keeps the same id for the same task, and refuses it for another', async () => {
  const contextId = randomUUID()
  const first = await world.say(dispatchText('same', {}), { contextId })
  const again = await world.say(dispatchText('same', {}), { contextId })
  expect(again.messageId).toBe(first.messageId)
  const other = await world.say(dispatchText('same', { brief: 'other' }), { contextId })
  expect(other).toMatchObject({ status: 200, error: { code: -32602 } })
  await world.work('coder', DONE)
})

it('S22 says who may call, and refuses what it cannot read, as running peers do', async () => {
  const call = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${world.address()}/jsonrpc`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${tokenOf('hermes')}`,
        ...headers,
      },
      body,
    })
    const { error } = (await response.json()) as { error?: { code: number } }
    return [response.status, error?.code]
  }
  const asked = (changes: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', ...changes })
  expect(await call('{', {})).toEqual([200, -32700])
  expect(await call('', {})).toEqual([200, -32700])
  expect(await call('[]', {})).toEqual([200, -32600])
  expect(await call(asked({ method: 'tasks/get' }))).toEqual([200, -32601])
  expect(
    await call(asked({ params: { contextId: 'c', message: { parts: [{ text: 'a' }] } } })),
  ).toEqual([200, -32602])
  const contextId = `baton:${crypto.randomUUID()}`
  const done = { role: 'agent', contextId, parts: [{ text: 'done' }] }
  expect(await call(asked({ params: { message: done } }))).toEqual([200, -32000])
  expect(await call('{}', { authorization: '' })).toEqual([401, -32000])
  expect(await call('{}', { authorization: 'Bearer wrong' })).toEqual([401, -32000])
  expect(await call(`"${'a'.repeat(1_048_577)}"`)).toEqual([413, -32000])
  expect((await world.say('hello', { as: 'silent' })).error).toMatchObject({ code: -32000 })
  for (const path of ['/health', '/.well-known/agent-card.json'])
    expect((await fetch(`${world.address()}${path}`)).status).toBe(200)
})

it('S22 is of the tenant of the key that a peer calls with: what it sends is seen, and answered, there alone', async () => {
  const planner = { operator: 'planner', scopes: 'handoffs:send+handoffs:read' }
  const own = await tenants.key('acme', planner)
  const other = await tenants.key('globex', planner)
  const taskId = randomUUID()
  const contextId = randomUUID()
  const sent = await world.say(dispatchText(taskId), { contextId, headers: own.headers })
  expect(sent.texts.at(-1)).toMatch(QUEUED)
  const { rows } = await world.pool.query<{ task_id: string }>({
    text: `select task_id, tenant, from_agent, to_agent, sent_by from handoff where from_agent = 'acme/planner'`,
  })
  expect(rows).toEqual([
    {
      task_id: expect.any(String),
      tenant: 'acme',
      from_agent: 'acme/planner',
      to_agent: 'acme/coder',
      sent_by: 'acme/planner',
    },
  ])
  const seen = async (key: string) => {
    const path = `/v2/tasks/${rows[0]?.task_id}`
    const { code } = await world.api<{ code?: string }>('GET', path, undefined, key)
    return code ?? 'seen'
  }
  expect([await seen(own.key), await seen(other.key), await seen(sessionKeys.people.key)]).toEqual([
    'seen',
    'BATON_TASK_UNKNOWN',
    'BATON_TASK_UNKNOWN',
  ])
  // Nobody sends to the agents of another tenant, whatever the file of peers says.
  const intruding = await world.say(dispatchText(randomUUID()), { headers: other.headers })
  expect(intruding.error?.data).toMatchObject({ code: 'BATON_AGENT_OF_OTHER_TENANT' })
  // The same again is the same task still.
  const again = await world.say(dispatchText(taskId), { contextId, headers: own.headers })
  expect(again.messageId).toBe(sent.messageId)
})

it('S22 holds a peer to the scopes, agents and end of the key that it calls with, within seconds', async () => {
  const codeFor = async (headers: Readonly<Record<string, string>>, task: object = {}) => {
    const { status, error } = await world.say(dispatchText(randomUUID(), {}, task), { headers })
    return [status, (error?.data as { code?: string } | undefined)?.code]
  }
  const made = async (operator: string, scopes: string, agents?: readonly string[]) =>
    (await tenants.key('acme', { operator, scopes, agents })).headers
  const reads = await made('planner', 'handoffs:read')
  expect(await codeFor(reads)).toEqual([200, 'BATON_SCOPE_MISSING'])
  const sends = await made('planner', 'handoffs:send')
  const urgent = { priority: 'urgent' }
  expect(await codeFor(sends, urgent)).toEqual([200, 'BATON_PRIORITY_REFUSED'])
  const limited = await made('planner', 'handoffs:send', ['acme/writer'])
  expect(await codeFor(limited)).toEqual([200, 'BATON_AGENT_REFUSED'])
  const stranger = await made('stranger', 'handoffs:send')
  expect(await codeFor(stranger)).toEqual([401, 'BATON_PEER_TOKEN_REFUSED'])
  const ending = await tenants.key('acme', { operator: 'planner', scopes: 'handoffs:send' })
  expect((await codeFor(ending.headers))[0]).toBe(200)
  await tenants.revoke(ending.id)
  await soon('the key is refused', async () => (await codeFor(ending.headers))[0] === 401)
  expect(await codeFor(ending.headers)).toEqual([401, 'BATON_API_KEY_REVOKED'])
})
