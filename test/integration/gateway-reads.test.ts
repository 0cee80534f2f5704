// What the gateway shows: handoffs, tasks, traces with their audit records, lists, health, metrics, schemas, runbooks.
import { createHash, randomUUID } from 'node:crypto'
import { ALERTS, runbookOf } from '@baton/telemetry'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  expectProblem,
  get,
  keys,
  openGateway,
  post,
  READ_TOKEN,
  stateBody,
} from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

it('shows a task together with its records in the audit log', async () => {
  const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
  fixture.auditor.traces.set(taskId, { taskId, records: [{ recordHash: 'ab' }], verified: true })
  const trace = await get(fixture.gateway, `/v2/tasks/${taskId}/trace`)
  expect(trace.statusCode).toBe(200)
  expect(trace.json()).toMatchObject({
    task: { taskId },
    handoffs: [{ handoffId, state: 'QUEUED' }],
    audit: { records: [{ recordHash: 'ab' }], verified: true },
  })
})

it('shows a task of which nothing is recorded yet', async () => {
  const { taskId } = (await post(fixture.gateway, stateBody())).json()
  const trace = await get(fixture.gateway, `/v2/tasks/${taskId}/trace`)
  expect(trace.json().audit).toEqual({
    records: [],
    unrecorded: [],
    expiredHandoffs: [],
    alteredStreams: [],
    isAbsent: true,
    verified: true,
  })
})

it('raises an alarm where a handoff was accepted without a record', async () => {
  const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
  await fixture.pool.query({
    text: 'update handoff set accepted_at = clock_timestamp() where id = $1',
    values: [handoffId],
  })
  const path = `/v2/tasks/${taskId}/trace`
  const without = (await get(fixture.gateway, path)).json()
  expect(without.audit).toEqual({
    records: [],
    unrecorded: [handoffId],
    expiredHandoffs: [],
    alteredStreams: [],
    isAbsent: true,
    verified: false,
  })
  const records = [{ body: { event: 'HANDOFF_ACCEPTED', handoffId } }]
  fixture.auditor.traces.set(taskId, { records, verified: true })
  expect((await get(fixture.gateway, path)).json().audit).toMatchObject({
    unrecorded: [],
    verified: true,
  })
})

describe('a handoff whose decision stands in no record', () => {
  const HASH = 'ab'.repeat(32)
  const left = { body: { event: 'EXECUTION_COMPLETED', origin: 'log/s0', seq: 8 } }
  const told = { records: [left], verified: true, expired: 1 }

  /** Accepted, with the receipt of a record at `seq`. */
  async function acceptedAt(seq: number | null) {
    const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
    await fixture.pool.query({
      text: 'update handoff set accepted_at = clock_timestamp() where id = $1',
      values: [handoffId],
    })
    if (seq !== null)
      await fixture.pool.query({
        text: `insert into execution (handoff_id, fencing_token, status, owner, lease_until, audit_origin, audit_seq, audit_hash)
          values ($1, 1, 'EXECUTING', gen_random_uuid(), clock_timestamp(), 'log/s0', $2, decode($3, 'hex'))`,
        values: [handoffId, seq, HASH],
      })
    return { taskId, handoffId }
  }

  it('expired where its receipt names a record before the first that is left', async () => {
    const { taskId, handoffId } = await acceptedAt(7)
    fixture.auditor.traces.set(taskId, told)
    const { audit } = (await get(fixture.gateway, `/v2/tasks/${taskId}/trace`)).json()
    expect(audit).toMatchObject({ unrecorded: [], expiredHandoffs: [handoffId], verified: true })
  })

  it.each<[string, number | null, object]>([
    ['holds no receipt', null, told],
    ['has a receipt of a record that should be left', 9, told],
    ['is in a task of which nothing has expired', 7, { ...told, expired: 0 }],
    ['is in a task whose expiry is not proven', 7, { ...told, verified: false }],
  ])('is unrecorded where it %s', async (_, seq, trace) => {
    const { taskId, handoffId } = await acceptedAt(seq)
    fixture.auditor.traces.set(taskId, trace as typeof told)
    const { audit } = (await get(fixture.gateway, `/v2/tasks/${taskId}/trace`)).json()
    expect(audit).toMatchObject({ unrecorded: [handoffId], expiredHandoffs: [], verified: false })
  })
})

it('shows what the log says of a task that only the log knows any more', async () => {
  const taskId = randomUUID()
  const path = `/v2/tasks/${taskId}/trace`
  expect((await get(fixture.gateway, path)).json()).toMatchObject({ code: 'BATON_TASK_UNKNOWN' })
  const audit = { taskId, records: [{ recordHash: 'ab' }], verified: true }
  fixture.auditor.traces.set(taskId, audit)
  expect((await get(fixture.gateway, path)).json()).toEqual({
    task: null,
    handoffs: [],
    audit: { ...audit, unrecorded: [], expiredHandoffs: [], alteredStreams: [], isAbsent: false },
  })
})

it('does not say that there is no task where nobody can prove that', async () => {
  fixture.auditor.unknownCode = 'BATON_TASK_UNPROVEN'
  onTestFinished(() => void (fixture.auditor.unknownCode = 'BATON_TASK_UNKNOWN'))
  const answer = await get(fixture.gateway, `/v2/tasks/${randomUUID()}/trace`)
  expect([answer.statusCode, answer.json().code]).toEqual([404, 'BATON_TASK_UNPROVEN'])
})

it('shows no half trace while the audit log is away', async () => {
  const { taskId } = (await post(fixture.gateway, stateBody())).json()
  const apart = fixture.another()
  fixture.auditor.down = true
  const trace = await get(apart, `/v2/tasks/${taskId}/trace`)
  const ready = await get(apart, '/readyz')
  fixture.auditor.down = false
  expect(trace.json()).toMatchObject({ status: 503, code: 'BATON_AUDIT_UNAVAILABLE' })
  expect(trace.headers['retry-after']).toBe('1')
  expect(ready.json()).toEqual({ status: 'not ready', checks: { database: true, audit: false } })
})

it('tells a refused read token from an outage, and logs its code without the token', async () => {
  const { taskId } = (await post(fixture.gateway, stateBody())).json()
  fixture.auditor.readToken = 'rotated'
  const trace = await get(fixture.gateway, `/v2/tasks/${taskId}/trace`)
  fixture.auditor.readToken = READ_TOKEN
  expectProblem(trace)
  expect(trace.json()).toMatchObject({ status: 502, code: 'BATON_AUDIT_TOKEN_REFUSED' })
  expect(trace.headers['retry-after']).toBeUndefined()
  expect(fixture.log()).toMatch(/"event":"http.failed","code":"BATON_AUDIT_TOKEN_REFUSED"/)
  expect(fixture.log()).not.toContain(READ_TOKEN)
})

it.each([
  ['/v2/handoffs/', 'BATON_HANDOFF_UNKNOWN'],
  ['/v2/tasks/', 'BATON_TASK_UNKNOWN'],
])('answers 404 for what is not at %s, and 400 for what is no id', async (path, code) => {
  expect((await get(fixture.gateway, path + randomUUID())).json()).toMatchObject({
    status: 404,
    code,
  })
  const invalid = await get(fixture.gateway, `${path}nonsense`)
  expect(invalid.json()).toMatchObject({
    status: 400,
    code: 'BATON_PARAMETER_INVALID',
    parameter: 'id',
  })
})

it('lists tasks by status and dead letters that wait', async () => {
  const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
  const { tasks } = (await get(fixture.gateway, '/v2/tasks?status=PENDING_HANDOFF&limit=1')).json()
  expect(tasks.map((task: { taskId: string }) => task.taskId)).toEqual([taskId])
  expect((await get(fixture.gateway, '/v2/tasks?status=FAILED')).json()).toMatchObject({
    tasks: [],
    total: 0,
  })
  expect((await get(fixture.gateway, '/v2/dead-letters')).json()).toMatchObject({
    deadLetters: [],
    total: 0,
  })
  await fixture.pool.query({
    text: `insert into dead_letter (handoff_id, task_id, reason, details) values ($1, $2, 'SAFETY_VIOLATION', '[]')`,
    values: [handoffId, taskId],
  })
  const { deadLetters } = (await get(fixture.gateway, '/v2/dead-letters')).json()
  expect(deadLetters).toMatchObject([
    { handoffId, reason: 'SAFETY_VIOLATION', links: { task: `/v2/tasks/${taskId}` } },
  ])
})

it('finds tasks by the first digits of their id', async () => {
  const { taskId } = (await post(fixture.gateway, stateBody())).json()
  for (const idPrefix of [taskId, taskId.slice(0, 13), taskId.replaceAll('-', '').slice(0, 12)]) {
    const { tasks } = (await get(fixture.gateway, `/v2/tasks?idPrefix=${idPrefix}`)).json()
    expect(tasks.map((task: { taskId: string }) => task.taskId)).toEqual([taskId])
  }
  const other = taskId.replace(/^./, (digit: string) => (digit === '0' ? '1' : '0'))
  const found = await get(fixture.gateway, `/v2/tasks?idPrefix=${other}`)
  expect(found.json()).toMatchObject({ tasks: [], total: 0 })
})

it('lists the receipts that the executions of a task hold', async () => {
  const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
  const read = async () => (await get(fixture.gateway, `/v2/tasks/${taskId}/receipts`)).json()
  expect(await read()).toEqual({ receipts: [] })
  await fixture.pool.query({
    text: `insert into execution (handoff_id, fencing_token, status, owner, lease_until, audit_origin, audit_seq, audit_hash)
      values ($1, 1, 'EXECUTING', $1, now(), 'chain', 7, decode(repeat('ab', 32), 'hex'))`,
    values: [handoffId],
  })
  const receipt = { origin: 'chain', seq: 7, recordHash: 'ab'.repeat(32) }
  expect(await read()).toEqual({ receipts: [receipt] })
})

it.each([
  '/v2/tasks?status=DONE',
  '/v2/tasks?idPrefix=7f3',
  '/v2/tasks?idPrefix=7F3C',
  '/v2/tasks?limit=0',
  '/v2/dead-letters?limit=many',
  '/v2/tasks?limit=1&limit=2',
  '/v2/dead-letters/released?since=yesterday',
])('refuses %s, and names the parameter', async (url) => {
  const response = await get(fixture.gateway, url)
  const [, parameter = ''] = /\?(\w+)=/.exec(url) ?? []
  const { detail } = response.json()
  expect(response.json()).toMatchObject({
    status: 400,
    code: 'BATON_PARAMETER_INVALID',
    parameter,
  })
  expect(detail).toContain(`query parameter ${parameter}`)
})

it('refuses a query parameter that a path does not take, instead of answering everything', async () => {
  const refused = (await get(fixture.gateway, '/v2/tasks?agent=intake&reason=INCOMPLETE')).json()
  expect(refused).toMatchObject({
    status: 400,
    code: 'BATON_PARAMETER_UNKNOWN',
    detail: 'this path takes no query parameter agent, and 1 more',
    fix: 'Leave it out, or correct its name: this path takes cursor, idPrefix, limit, status.',
    parameter: 'agent',
  })
  const paths = [`/v2/tasks/${randomUUID()}?full=1`, '/v2/agents?type=intake', '/healthz?x=1']
  for (const path of paths)
    expect((await get(fixture.gateway, path)).json().code).toBe('BATON_PARAMETER_UNKNOWN')
  const { server } = fixture.gateway
  expect((await server.inject('/v2/tasks?agent=intake')).statusCode).toBe(401)
  expect((await get(fixture.gateway, '/v2/nothing?agent=intake')).statusCode).toBe(404)
})

it('tells of its health without a key, and of its metrics with one', async () => {
  const { server } = fixture.gateway
  expect((await server.inject('/healthz')).json()).toEqual({ status: 'ok' })
  expect((await server.inject('/readyz')).json()).toEqual({
    status: 'ready',
    checks: { database: true, audit: true },
  })
  expect((await server.inject('/metrics')).statusCode).toBe(401)
  const plain = await get(fixture.gateway, '/metrics')
  expect(plain.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(plain.body).toMatch(/^baton_handoffs_total\{.*outcome="QUEUED".*\} \d+$/m)
  expect(plain.body).toMatch(/^baton_outbox_depth \d+$/m)
  expect(plain.body).toMatch(/^baton_requests_refused_total\{code="BATON_API_KEY_MISSING"\} [1-9]/m)
  const open = await get(fixture.gateway, '/metrics', {
    accept: 'application/openmetrics-text; version=1.0.0',
  })
  expect(open.headers['content-type']).toMatch(/^application\/openmetrics-text/)
  const { paths } = (await get(fixture.gateway, '/openapi.json')).json()
  const described = Object.keys(paths['/metrics'].get.responses['200'].content)
  expect(described).toEqual(['text/plain', 'application/openmetrics-text'])
})

it('serves every registered schema for ever, and no other file', async () => {
  const { server } = fixture.gateway
  const registry: { path: string }[] = (await server.inject('/schemas')).json()
  expect(registry.map((entry) => entry.path)).toContain('handoff/2.1.json')
  for (const { path } of registry) {
    const response = await server.inject(`/schemas/${path}`)
    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toContain('immutable')
    expect(response.headers['etag']).toBe(
      `"${createHash('sha256').update(response.rawPayload).digest('hex')}"`,
    )
    const again = await server.inject({
      url: `/schemas/${path}`,
      headers: { 'if-none-match': String(response.headers['etag']) },
    })
    expect(again.statusCode).toBe(304)
  }
  for (const path of ['package.json', '../package.json', '..%2fpackage.json', 'README.md', '']) {
    expect((await server.inject(`/schemas/${path}`)).statusCode).toBe(404)
  }
})

it('serves the runbook of every alert as text to anybody, and no other file', async () => {
  const { server } = fixture.gateway
  for (const alert of ALERTS) {
    const response = await server.inject(`/runbooks/${runbookOf(alert)}.md`)
    expect(response.headers).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    expect(response.body).toMatch(new RegExp(`^# ${alert.name}$`, 'm'))
  }
  for (const name of ['outbox-stale', 'README.md', '..%2falerts.md', '../alerts.md', '.md', '']) {
    expect((await server.inject(`/runbooks/${name}`)).statusCode).toBe(404)
  }
})

it('answers with a trace context, also when it refuses', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const response = await get(fixture.gateway, `/v2/tasks/${randomUUID()}`, { traceparent })
  expect(response.headers['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/)
  expect(response.json().traceId).toBe('0af7651916cd43dd8448eb211c80319c')
})

it('lets no payload text out: not to the log, not to metrics, not into problems', async () => {
  const canary = `canary-${randomUUID()}`
  const state = {
    currentState: { document: canary },
    conversationHistory: [{ role: 'user', content: canary }],
  }
  const refused = [
    await post(fixture.gateway, stateBody({ ...state, taskId: canary })),
    await post(fixture.gateway, stateBody({ ...state, cost: canary })),
    await post(fixture.gateway, `{"agentState": "${canary}", }`),
    await post(fixture.gateway, {
      message: { ...state, schemaVersion: canary },
      checkpoint: { canary },
    }),
    await get(fixture.gateway, `/v2/tasks?status=${canary}`),
    await get(fixture.gateway, `/v2/${canary}?q=${canary}`),
    await get(fixture.gateway, `/v2/tasks?${canary}=${canary}`),
    await get(fixture.gateway, `/v2/tasks/${canary}`),
    await post(fixture.gateway, stateBody(state), { headers: { 'idempotency-key': `"${canary}` } }),
    await post(fixture.gateway, stateBody(state), { key: `bk_a_${canary}` }),
  ]
  const accepted = await post(fixture.gateway, stateBody(state), {
    headers: { 'idempotency-key': canary },
  })
  expect(accepted.statusCode).toBe(202)
  for (const response of refused) {
    expect(response.statusCode).toBeGreaterThanOrEqual(400)
    expect(response.body).not.toContain(canary)
  }
  const metrics = await get(fixture.gateway, '/metrics')
  expect(metrics.body).not.toContain(canary)
  expect(fixture.log()).toContain('"event":"handoff.queued"')
  expect(fixture.log()).not.toContain(canary)
  for (const { key } of Object.values(keys)) expect(fixture.log()).not.toContain(key)
})

it('describes every route, and no other, in /openapi.json', async () => {
  const document = (await fixture.gateway.server.inject('/openapi.json')).json()
  expect(document.openapi).toMatch(/^3\.1/)
  const described = Object.entries(document.paths as Record<string, object>).flatMap(
    ([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  // A2A is described by its own standard and by agent cards.
  const ofA2a = / \/a2a\b|agent-card/
  const routes = [...fixture.gateway.routes].filter((route) => !ofA2a.test(route))
  expect(described.toSorted()).toEqual(routes.toSorted())
  const named = [...JSON.stringify(document).matchAll(/#\/components\/([A-Za-z]+)\/([A-Za-z]+)/g)]
  const lost = named.filter(
    ([, kind = '', name = '']) => document.components[kind]?.[name] === undefined,
  )
  expect(lost).toEqual([])
})

it('says of everything that takes a body how it refuses one', async () => {
  const { paths } = (await fixture.gateway.server.inject('/openapi.json')).json()
  const silent = Object.entries(
    paths as Record<string, Record<string, { responses: object }>>,
  ).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, { responses }]) => {
        return method !== 'get' && !('413' in responses && '415' in responses)
      })
      .map(([method]) => `${method} ${path}`),
  )
  expect(silent).toEqual([])
})

it('does no work for a HEAD, except where the answer costs nothing', async () => {
  const { taskId, handoffId } = (await post(fixture.gateway, stateBody())).json()
  const head = (url: string) =>
    fixture.gateway.server.inject({
      method: 'HEAD',
      url,
      headers: { authorization: `Bearer ${keys.operator.key}` },
    })
  for (const path of [
    `/v2/tasks/${taskId}/trace`,
    `/v2/tasks/${taskId}`,
    `/v2/handoffs/${handoffId}`,
    '/v2/tasks',
    '/v2/dead-letters',
  ]) {
    const { statusCode, headers } = await head(path)
    expect([path, statusCode, headers['allow']]).toEqual([path, 405, 'GET'])
  }
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/schemas']) {
    expect([path, (await head(path)).statusCode]).toEqual([path, 200])
  }
})

it('says of a database without the tables of this version what to run', async () => {
  const elsewhere = new URL(fixture.databaseUrl)
  elsewhere.searchParams.set('options', '-c search_path=pg_catalog')
  const answer = await get(fixture.another({}, elsewhere.href), '/v2/tasks')
  expectProblem(answer)
  expect(answer.json()).toMatchObject({
    status: 503,
    code: 'BATON_SCHEMA_OUTDATED',
    fix: expect.stringContaining('baton migrate'),
  })
})

it('lists tasks in pages to the last one, with the total, by a cursor of the same filter only', async () => {
  const sent = new Set<string>()
  for (let index = 0; index < 3; index++)
    sent.add((await post(fixture.gateway, stateBody())).json().taskId)
  const seen: string[] = []
  const first = (await get(fixture.gateway, '/v2/tasks?limit=2')).json()
  for (let page = first; ;) {
    seen.push(...page.tasks.map((task: { taskId: string }) => task.taskId))
    expect(page).toMatchObject({ total: first.total, totalIsExact: true })
    if (page.nextCursor === null) break
    page = (await get(fixture.gateway, `/v2/tasks?limit=2&cursor=${page.nextCursor}`)).json()
  }
  expect(seen).toHaveLength(first.total)
  expect(new Set(seen).size).toBe(first.total)
  expect([...sent].every((taskId) => seen.includes(taskId))).toBe(true)
  for (const query of [`status=RUNNING&cursor=${first.nextCursor}`, 'cursor=bm9uZQ']) {
    const refused = await get(fixture.gateway, `/v2/tasks?${query}`)
    expect(refused.statusCode).toBe(400)
    expect(refused.json()).toMatchObject({ code: 'BATON_CURSOR_INVALID', parameter: 'cursor' })
  }
})
