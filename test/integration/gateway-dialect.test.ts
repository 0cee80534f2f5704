// Another protocol is one plugin: its own content type, authentication and errors, and what it is sent becomes a handoff.
import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Dialect, Gateway } from '@baton/gateway'
import { findForeignHandoff } from '@baton/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

/** A protocol of one line: `<task> <agent type> [<id>]`, answered with `OK <handoff>` or `NO <code>`. */
const telegraph: Dialect = {
  path: '/telegraph',
  contentTypes: { 'text/x-telegraph': String },
  authentication: ({ headers }) =>
    headers['x-operator'] === 'marconi'
      ? {
          ok: true,
          key: {
            id: 'telegraph',
            operator: 'marconi',
            tenant: 'default',
            scopes: new Set(['handoffs:send']),
            sha256: Buffer.alloc(32),
            expiresAtMs: undefined,
          },
        }
      : { ok: false, why: 'missing' },
  requestMs: 50,
  post: { path: '/send', options: { schema: { hide: true, body: { type: 'string' } } } },
  requestKey: ({ headers }) =>
    headers['x-key'] === undefined
      ? undefined
      : { apiKeyId: 'telegraph', key: String(headers['x-key']), requestSha256: Buffer.alloc(32) },
  toSubmission({ body, span }) {
    const [taskId = '', targetAgentType = '', id] = (body as string).split(' ')
    const { agentState } = stateBody({ taskId, traceparent: span.traceparent })
    return {
      priority: 2,
      agentType: targetAgentType,
      place: (pointer) => pointer,
      ...(id === undefined ? {} : { externalRef: telegraphRef(id, body as string) }),
      send: (sender) =>
        sender.send(
          {
            agentState: agentState as unknown as Parameters<typeof sender.send>[0]['agentState'],
            targetAgentType,
            constraints: {},
          },
          { sentBy: 'marconi', tenant: 'default' },
        ),
    }
  },
  fromOutcome: (reply, { handoffId }) =>
    reply.header('content-type', 'text/x-telegraph').send(`OK ${handoffId}`),
  errorEnvelope: ({ code }) => ({
    status: 200,
    contentType: 'text/x-telegraph',
    body: `NO ${code}`,
  }),
}

const telegraphRef = (id: string, line: string) => ({
  protocol: 'telegraph',
  id,
  sender: 'marconi',
  recipient: 'coast',
  requestSha256: hash('sha256', line, 'buffer'),
})

let fixture: GatewayFixture
let gateway: Gateway
beforeAll(async () => {
  fixture = await openGateway()
  gateway = fixture.another({}, undefined, [telegraph])
  await gateway.start()
})
afterAll(() => fixture.close())

interface Asking {
  readonly url?: string
  readonly method?: 'POST' | 'PUT'
  readonly headers?: Record<string, string>
}

async function telegraphed(payload: string, asking: Asking = {}): Promise<string> {
  const { url = '/telegraph/send', method = 'POST', headers = { 'x-operator': 'marconi' } } = asking
  const response = await gateway.server.inject({
    method,
    url,
    headers: { 'content-type': 'text/x-telegraph', ...headers },
    payload,
  })
  expect(response.headers['content-type']).toMatch(/^text\/x-telegraph/)
  expect(response.statusCode).toBe(200)
  return response.body
}

it('makes a handoff of what it is sent, under the name of who sent it', async () => {
  const taskId = randomUUID()
  const [word, handoffId] = (await telegraphed(`${taskId} clause-extraction`)).split(' ')
  expect(word).toBe('OK')
  const handoff = (await get(gateway, `/v2/handoffs/${handoffId}`)).json()
  expect(handoff).toMatchObject({ handoffId, taskId, toAgent: 'clause-extraction' })
  const { rows } = await fixture.pool.query({
    text: 'select sent_by from handoff where id = $1',
    values: [handoffId],
  })
  expect(rows).toEqual([{ sent_by: 'marconi' }])
})

it('refuses in its own words', async () => {
  const line = `${randomUUID()} clause-extraction`
  const bearer = { authorization: `Bearer ${keys.operator.key}` }
  expect(await telegraphed(line, { headers: bearer })).toBe('NO BATON_API_KEY_MISSING')
  const json = { 'x-operator': 'marconi', 'content-type': 'application/json' }
  expect(await telegraphed('{}', { headers: json })).toBe('NO BATON_MEDIA_TYPE_UNSUPPORTED')
  expect(await telegraphed('no-uuid clause-extraction')).toBe('NO BATON_HANDOFF_INVALID')
  expect(await telegraphed(line, { method: 'PUT' })).toBe('NO BATON_METHOD_NOT_ALLOWED')
  expect(await telegraphed(line, { url: '/telegraph/nowhere' })).toBe('NO BATON_ROUTE_UNKNOWN')
})

it('changes nothing for the others', async () => {
  expect((await post(gateway, stateBody())).statusCode).toBe(202)
  const operator = { 'x-operator': 'marconi' }
  const anonymous = await get(gateway, '/v2/tasks', { authorization: '', ...operator })
  expect(anonymous.json()).toMatchObject({ status: 401, code: 'BATON_API_KEY_INVALID' })
  const line = await post(gateway, 'x', { headers: { 'content-type': 'text/x-telegraph' } })
  expect(line.json()).toMatchObject({ status: 415, code: 'BATON_MEDIA_TYPE_UNSUPPORTED' })
  const lost = await get(gateway, '/nowhere')
  expect(lost.json()).toMatchObject({ status: 404, code: 'BATON_ROUTE_UNKNOWN' })
  const described = (await get(gateway, '/openapi.json')).json()
  expect(Object.keys(described.paths).filter((path) => path.includes('telegraph'))).toEqual([])
})

it('waits for a request as long as it says, and for others longer', async () => {
  const { hostname, port } = new URL(gateway.url)
  const begin = (path: string, type: string) => {
    const socket = connect(Number(port), hostname)
    const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n`
    const who = `x-operator: marconi\r\nauthorization: Bearer ${keys.sender.key}\r\n`
    socket.write(`${head}${who}content-length: 2\r\n\r\n{`)
    return socket
  }
  const patient = begin('/v2/handoffs', 'application/json')
  const [answer] = await once(begin('/telegraph/send', 'text/x-telegraph'), 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 408 /)
  patient.write('}')
  const [refusal] = await once(patient, 'data')
  expect(String(refusal)).toMatch(/^HTTP\/1.1 422 /)
  patient.destroy()
})

it('knows what it is sent by the id it has in its protocol, also under an Idempotency-Key', async () => {
  const id = randomUUID()
  const line = `${randomUUID()} clause-extraction ${id}`
  const sent = await telegraphed(line)
  expect(sent).toMatch(/^OK /)
  expect(await telegraphed(line)).toBe(sent)
  const keyed = { 'x-operator': 'marconi', 'x-key': id }
  expect(await telegraphed(line, { headers: keyed })).toBe(sent)
  expect(await telegraphed(line, { headers: keyed })).toBe(sent)
  expect(await telegraphed(`${randomUUID()} clause-extraction ${id}`)).toBe(
    'NO BATON_EXTERNAL_ID_REUSED',
  )
  const found = await findForeignHandoff(fixture.pool, { protocol: 'telegraph', id })
  expect(sent).toBe(`OK ${found?.handoffId}`)
})

it('sends one of a hundred requests at once that have the same id', async () => {
  const line = `${randomUUID()} clause-extraction ${randomUUID()}`
  const answers = await Promise.all(Array.from({ length: 100 }, () => telegraphed(line)))
  const sent = new Set(answers.filter((answer) => !answer.startsWith('NO BATON_OVERLOADED')))
  expect(sent.size).toBe(1)
  const { rows } = await fixture.pool.query({
    text: 'select count(*)::int as handoffs from handoff where task_id = $1',
    values: [line.split(' ')[0]],
  })
  expect(rows).toEqual([{ handoffs: 1 }])
})
