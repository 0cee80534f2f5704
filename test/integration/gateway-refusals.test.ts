// Every way to be refused: a problem+json with code, pointer and fix, and not one row left behind.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { createApiKey } from '@baton/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  countRows,
  expectProblem,
  get,
  keys,
  openGateway,
  post,
  stateBody,
} from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const both = createApiKey({ scopes: 'handoffs:send+handoffs:return', operator: 'ann' })
let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway({ both })
})
afterAll(() => fixture.close())

const cost = (changes: object) => ({ cost: { ...stateBody().agentState.cost, ...changes } })

it('tells of everything that is wrong at once', async () => {
  const response = await post(
    fixture.gateway,
    stateBody({ taskId: 1, completedSubtasks: 2 }, { extra: 3 }),
  )
  const pointers = response.json().errors.map((error: { pointer: string }) => error.pointer)
  expect(pointers.toSorted()).toEqual([
    '/agentState/completedSubtasks',
    '/agentState/taskId',
    '/extra',
  ])
})

it('refuses an ended task and a budget that does not add up', async () => {
  const taskId = randomUUID()
  await post(fixture.gateway, stateBody({ taskId }))
  const raised = await post(
    fixture.gateway,
    stateBody({ taskId, ...cost({ budgetRemainingUSD: 3 }) }),
  )
  expect(raised.json()).toMatchObject({ status: 422, code: 'BATON_BUDGET_MISMATCH' })
  await fixture.pool.query({
    text: `update task set status = 'COMPLETED' where id = $1`,
    values: [taskId],
  })
  const ended = await post(fixture.gateway, stateBody({ taskId }))
  expect(ended.json()).toMatchObject({ status: 409, code: 'BATON_TASK_ENDED' })
})

describe('who may call:', () => {
  const wrong = `${keys.sender.key.slice(0, -2)}${keys.sender.key.endsWith('AA') ? 'BB' : 'AA'}`
  it.each([
    ['no key', undefined, 401, 'BATON_API_KEY_MISSING'],
    ['another scheme', 'Basic abc', 401, 'BATON_API_KEY_INVALID'],
    ['a key without its scheme', keys.sender.key, 401, 'BATON_API_KEY_INVALID'],
    [
      'a made-up key',
      'Bearer bk_nobody_0123456789012345678901234567890123456789012',
      401,
      'BATON_API_KEY_INVALID',
    ],
    ['a wrong secret', `Bearer ${wrong}`, 401, 'BATON_API_KEY_INVALID'],
    ['an expired key', `Bearer ${keys.expired.key}`, 401, 'BATON_API_KEY_EXPIRED'],
    ['a key without the scope', `Bearer ${keys.reader.key}`, 403, 'BATON_SCOPE_MISSING'],
  ])('%s', async (_, authorization, status, code) => {
    const before = await countRows(fixture.pool)
    const response = await fixture.gateway.server.inject({
      method: 'POST',
      url: '/v2/handoffs',
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      payload: JSON.stringify(stateBody()),
    })
    expect(response.statusCode).toBe(status)
    expect(response.json().code).toBe(code)
    expectProblem(response)
    expect(response.headers['www-authenticate']).toBe(
      status === 401 ? 'Bearer realm="baton"' : undefined,
    )
    expect(await countRows(fixture.pool)).toEqual(before)
  })

  it.each(['/v2/tasks', '/v2/dead-letters', '/metrics', `/v2/tasks/${randomUUID()}/trace`])(
    'a key that may only send does not read %s',
    async (url) => {
      const response = await get(fixture.gateway, url, {
        authorization: `Bearer ${keys.sender.key}`,
      })
      expect(response.statusCode).toBe(403)
    },
  )
})

it('says that another scheme than Bearer is not taken', async () => {
  const answer = await get(fixture.gateway, '/v2/tasks', { authorization: 'Basic YTpi' })
  expect(answer.json()).toMatchObject({
    detail: 'the Authorization header is not of the scheme Bearer',
    fix: expect.stringContaining('Basic and other schemes are not taken'),
  })
})

it('limits each key by itself and says when to come back', async () => {
  const narrow = fixture.another({ rateMax: 2 })
  for (const _ of [1, 2]) expect((await post(narrow, stateBody())).statusCode).toBe(202)
  const limited = await post(narrow, stateBody())
  expect(limited.statusCode).toBe(429)
  expect(limited.json().code).toBe('BATON_RATE_LIMITED')
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
  expectProblem(limited)
  expect((await post(narrow, stateBody(), { key: keys.operator.key })).statusCode).toBe(202)
})

it.each(['/v2/handoffs', `/v2/handoffs/${randomUUID()}/revisions`])(
  '%s without a body, or with one of another kind, is a problem of the caller',
  async (url) => {
    const ask = async (headers: object, payload?: string) => {
      const authorization = `Bearer ${both.key}`
      const response = await fixture.gateway.server.inject({
        method: 'POST',
        url,
        headers: { authorization, 'idempotency-key': randomUUID(), ...headers },
        ...(payload === undefined ? {} : { payload }),
      })
      expectProblem(response)
      return `${response.statusCode} ${response.json().code}`
    }
    const json = { 'content-type': 'application/json' }
    expect(await ask({})).toBe('400 BATON_JSON_INVALID')
    expect(await ask(json)).toBe('400 BATON_JSON_INVALID')
    expect(await ask(json, '')).toBe('400 BATON_JSON_INVALID')
    for (const type of ['text/plain', 'multipart/form-data', 'nonsense', 'application/cbor']) {
      expect(await ask({ 'content-type': type }, '{}')).toBe('415 BATON_MEDIA_TYPE_UNSUPPORTED')
    }
  },
)

it('answers other content types, methods and paths with problems', async () => {
  const xml = await post(fixture.gateway, '<a/>', { headers: { 'content-type': 'text/xml' } })
  expect(xml.json()).toMatchObject({ status: 415, code: 'BATON_MEDIA_TYPE_UNSUPPORTED' })
  const put = await fixture.gateway.server.inject({
    method: 'PUT',
    url: '/v2/handoffs',
    payload: 'x',
  })
  expect(put.json()).toMatchObject({ status: 405, code: 'BATON_METHOD_NOT_ALLOWED' })
  expect(put.headers['allow']).toBe('POST')
  const lost = await get(fixture.gateway, '/v2/handoff')
  expect(lost.json()).toMatchObject({ status: 404, code: 'BATON_ROUTE_UNKNOWN' })
  const broken = await get(fixture.gateway, '/v2/tasks/%zz')
  expect(broken.json()).toMatchObject({ status: 400, code: 'BATON_URL_INVALID' })
  const gzip = await post(fixture.gateway, stateBody(), { headers: { 'content-encoding': 'gzip' } })
  expect(gzip.json()).toMatchObject({ status: 415, code: 'BATON_MEDIA_TYPE_UNSUPPORTED' })
  expect(gzip.headers['accept-encoding']).toBe('identity')
  for (const response of [xml, put, lost, gzip]) expectProblem(response)
})

it('answers 503 with Retry-After while the database is away', async () => {
  const url = new URL(fixture.databaseUrl)
  url.port = '1'
  const cutOff = fixture.another({}, url.href)
  const response = await post(
    cutOff,
    stateBody({}, { constraints: { priority: 0 } }),
    keys.critical,
  )
  expect(response.json()).toMatchObject({ status: 503, code: 'BATON_DATABASE_UNAVAILABLE' })
  expect(response.headers['retry-after']).toBe('1')
  expect(response.body).not.toContain(url.host)
  const ready = await get(cutOff, '/readyz')
  expect(ready.statusCode).toBe(503)
  expect(ready.json().checks).toEqual({ database: false, audit: true })
})

describe('on a socket:', () => {
  const talk = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(fixture.gateway.url)
      const socket = connect(Number(port), hostname, () => socket.write(text))
      let answer = ''
      socket.on('data', (chunk) => (answer += String(chunk)))
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })

  beforeAll(() => fixture.gateway.start())

  it('ends a request whose headers never end', async () => {
    const answer = await talk('POST /v2/handoffs HTTP/1.1\r\nhost: a\r\nx-slow: ')
    expect(answer).toMatch(/^HTTP\/1.1 408 /)
    expect(answer).toContain('BATON_REQUEST_TOO_SLOW')
  }, 15_000)

  it('refuses headers without end, and what is not HTTP', async () => {
    const large = await talk(
      `GET /healthz HTTP/1.1\r\nhost: a\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`,
    )
    expect(large).toMatch(/^HTTP\/1.1 431 /)
    expect(large).toContain('BATON_HEADERS_TOO_LARGE')
    const hostless = await talk('GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n')
    expect(hostless).toMatch(/^HTTP\/1.1 400 [\s\S]*BATON_REQUEST_INVALID[\s\S]*Host/)
    expect(await talk('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
    expect(await talk('hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*BATON_REQUEST_INVALID/)
  })

  it('answers a request with an expectation that it does not know as one without', async () => {
    const answer = await talk(
      'GET /v2/tasks HTTP/1.1\r\nhost: a\r\nexpect: tea\r\nconnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 401 [\s\S]*BATON_API_KEY_MISSING/)
  })
})
