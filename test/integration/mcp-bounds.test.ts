// What /mcp refuses, and how: wrong pages, missing scopes, other tenants, bodies that are no message, and nothing of it in a log.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request as requestBy } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createApiKey } from '@baton/gateway'
import type { Issuer } from '@baton/http/access-tokens'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openGateway, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import { connect } from './mcp-fixture.ts'

const apiKeys = {
  agent: createApiKey({ scopes: 'handoffs:send+handoffs:read' }),
  elsewhere: createApiKey({ scopes: 'handoffs:send+handoffs:read', tenant: 'acme' }),
}

const REVISION = '2026-07-28'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway(apiKeys, { issuers: [ISSUER] })
  await fixture.gateway.start()
})
afterAll(() => fixture.close())

const ISSUER: Issuer = {
  issuer: 'https://login.example.com/',
  audiences: ['baton'],
  algorithms: ['EdDSA'],
  clockToleranceS: 0,
  keys: { kind: 'file', path: '/nonexistent' },
  tenant: undefined,
  operators: new Map(),
  operatorClaim: undefined,
  agentsClaim: undefined,
  scopePrefix: 'baton/',
  roles: undefined,
  machines: [],
  secondFactor: undefined,
}

interface Asking {
  readonly method?: string
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

function ask({ method = 'POST', key = apiKeys.agent.key, headers = {}, body }: Asking) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${fixture.gateway.url}/mcp`, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: text }),
  })
}

/** A whole request of the stateless revision. */
function request(method: string, params: object = {}, revision = REVISION) {
  const { name, uri } = params as { name?: string; uri?: string }
  const named = name ?? uri
  return {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': revision,
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
    headers: {
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(named === undefined ? {} : { 'mcp-name': named }),
    },
  }
}

// eslint-disable-next-line typescript/no-explicit-any -- what the gateway answers, looked at by tests
const answerOf = async (response: Response): Promise<any> => await response.json()

interface Sent {
  readonly agent: Agent
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
}

async function statusOf(method: string, path: string, { agent, headers, body }: Sent) {
  const accept = 'application/json, text/event-stream'
  const sent = requestBy(`${fixture.gateway.url}${path}`, {
    method,
    agent,
    headers: { accept, ...(body && { 'content-type': 'application/json' }), ...headers },
  })
  sent.end(body && JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

const challengeOf = (response: Response): string => response.headers.get('www-authenticate') ?? ''

describe('authorization', () => {
  it('tells who has no key where tokens come from (RFC 9728), and answers that document', async () => {
    const refused = await ask({ key: '', ...request('tools/list') })
    expect(refused.status).toBe(401)
    const url = /resource_metadata="([^"]+)"/.exec(challengeOf(refused))?.[1] ?? ''
    expect(url).toBe(`${fixture.gateway.url}/.well-known/oauth-protected-resource/mcp`)
    const document = await fetch(url)
    expect(document.headers.get('access-control-allow-origin')).toBe('*')
    expect(await document.json()).toMatchObject({
      resource: `${fixture.gateway.url}/mcp`,
      authorization_servers: ['https://login.example.com/'],
      scopes_supported: expect.arrayContaining(['baton/handoffs:read']),
      bearer_methods_supported: ['header'],
    })
    const whole = await fetch(url.replace(/\/mcp$/, ''))
    expect(await whole.json()).toMatchObject({ resource: fixture.gateway.url })
  })

  it('challenges for the scope that a tool or a resource lacks, before anything runs', async () => {
    const call = { name: 'decide_approval', arguments: {} }
    const refused = await ask(request('tools/call', call))
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toMatch(
      /error="insufficient_scope".*scope="baton\/approvals:decide"/,
    )
    expect(await refused.json()).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      error: { data: { code: 'BATON_SCOPE_MISSING', fix: expect.any(String) } },
    })
  })

  it('lends what a caller may to nobody else, on the same connection or by its header', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { body, headers } = request('tools/call', { name: 'list_tasks', arguments: {} })
    const authorization = `Bearer ${apiKeys.agent.key}`
    const called = { body, headers: { ...headers, authorization } }
    expect(await statusOf('POST', '/mcp', { agent, ...called })).toBe(200)
    expect(await statusOf('GET', '/v2/tasks', { agent, headers: {} })).toBe(401)
    const guessed = { 'baton-inside': 'x'.repeat(43) }
    expect(await statusOf('GET', '/v2/tasks', { agent, headers: guessed })).toBe(401)
    agent.destroy()
  })

  it('shows nothing of another tenant', async () => {
    const own = await connect(REVISION, fixture.gateway.url, apiKeys.agent.key)
    const sent = await own.call('send_agent_state', stateBody())
    const { taskId, handoffId } = sent.structuredContent as { taskId: string; handoffId: string }
    const other = await connect(REVISION, fixture.gateway.url, apiKeys.elsewhere.key)
    for (const [tool, args] of [
      ['get_task', { taskId }],
      ['get_handoff', { handoffId }],
      ['trace_task', { taskId }],
    ] as const)
      expect(await other.call(tool, args)).toMatchObject({ isError: true })
    await expect(other.readResource(`baton://tasks/${taskId}/trace`)).rejects.toThrow()
    expect((await other.call('list_tasks')).structuredContent).toMatchObject({ tasks: [] })
    await own.close()
    await other.close()
  })
})

describe('pages in browsers', () => {
  it.each([
    ['a page of another origin', { origin: 'https://evil.example.com' }, 'BATON_ORIGIN_REFUSED'],
    ['an origin that is none', { origin: 'null' }, 'BATON_ORIGIN_REFUSED'],
  ])('refuses %s', async (_, headers, code) => {
    const refused = await ask({ ...request('tools/list'), headers })
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ error: { data: { code } } })
  })

  it('refuses another host than this machine, which a page that rebinds its name sends', async () => {
    const { server } = fixture.gateway
    const refused = await server.inject({
      method: 'POST',
      url: '/mcp',
      headers: { host: 'evil.example.com', authorization: `Bearer ${apiKeys.agent.key}` },
    })
    expect(refused.json()).toMatchObject({ error: { data: { code: 'BATON_HOST_REFUSED' } } })
  })

  it('takes pages of this machine', async () => {
    const { body, headers } = request('tools/list')
    const answered = await ask({ body, headers: { ...headers, origin: 'http://localhost:6274' } })
    expect(answered.status).toBe(200)
  })
})

describe('what is no message of the protocol', () => {
  it.each(['GET', 'DELETE', 'PUT'])(
    'has no %s: there are no sessions and no streams',
    async (method) => {
      const refused = await ask({ method })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
    },
  )

  it.each([
    ['a batch', [request('tools/list').body], 400],
    ['half a message', '{"jsonrpc":', 400],
    ['a member twice', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400],
    ['more than a message may be', `{"x":"${'a'.repeat(1_200_000)}"}`, 413],
  ])('refuses %s', async (_, body, status) => {
    const refused = await ask({ body, headers: request('tools/list').headers })
    expect(refused.status).toBe(status)
    expect(await refused.json()).toMatchObject({ error: { data: { fix: expect.any(String) } } })
  })

  it('names the revisions that it speaks to who speaks another one', async () => {
    const refused = await ask(request('tools/list', {}, '2031-01-01'))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { code: -32_022, data: { supported: [REVISION] } },
    })
  })

  it.each([
    ['another method', { 'mcp-method': 'tools/call' }],
    ['a method in other letters', { 'mcp-method': 'TOOLS/LIST' }],
    ['no method', { 'mcp-method': '' }],
    ['another revision', { 'mcp-protocol-version': '2025-11-25' }],
  ])('refuses a request whose headers name %s', async (_, changed) => {
    const { body, headers } = request('tools/list')
    const refused = await ask({ body, headers: { ...headers, ...changed } })
    expect([refused.status, (await answerOf(refused)).error.code]).toEqual([400, -32_020])
  })

  it('refuses a call whose header names another tool', async () => {
    const { body, headers } = request('tools/call', { name: 'list_tasks', arguments: {} })
    const refused = await ask({ body, headers: { ...headers, 'mcp-name': 'list_agents' } })
    expect([refused.status, (await answerOf(refused)).error.code]).toEqual([400, -32_020])
  })

  it('has no subscriptions, which would hold a connection for ever', async () => {
    const refused = await ask(request('subscriptions/listen', { notifications: {} }))
    const answer = await answerOf(refused)
    expect([refused.status, answer.error.code, answer.id]).toEqual([404, -32_601, 1])
  })

  it('says of a body that is no JSON that it cannot be read', async () => {
    const { headers } = request('tools/list')
    const refused = await ask({ body: '{', headers })
    expect([refused.status, (await answerOf(refused)).error.code]).toEqual([400, -32_700])
  })

  it('answers an unknown method and an unknown tool as the protocol has it', async () => {
    const method = await ask(request('tools/steal'))
    expect([method.status, (await answerOf(method)).error.code]).toEqual([404, -32_601])
    const tool = await ask(request('tools/call', { name: 'steal', arguments: {} }))
    expect((await answerOf(tool)).error.code).toBe(-32_602)
  })
})

it('answers lists with how long they hold, and for whom', async () => {
  const listed = await ask(request('tools/list'))
  expect((await answerOf(listed)).result).toMatchObject({
    resultType: 'complete',
    ttlMs: 60_000,
    cacheScope: 'private',
  })
  const schema = await ask(request('resources/read', { uri: 'baton://schemas/handoff/2.1.json' }))
  expect((await answerOf(schema)).result).toMatchObject({ cacheScope: 'public' })
  const discovered = await ask(request('server/discover'))
  expect((await answerOf(discovered)).result).toMatchObject({ supportedVersions: [REVISION] })
})

it('counts one message once, however many routes its tool runs', async () => {
  const narrow = fixture.another({ rateMax: 4 })
  await narrow.start()
  const client = await connect('2025-11-25', narrow.url, apiKeys.agent.key)
  // It has sent three to connect.
  expect(await client.call('get_task', { taskId: randomUUID() })).toMatchObject({ isError: true })
  await expect(client.call('list_tasks')).rejects.toThrow(/429|BATON_RATE_LIMITED/)
  await client.close()
})

it('logs nothing of what a call said', async () => {
  const secret = `prompt ${randomUUID()}`
  const state = stateBody({ currentState: { document: secret }, taskDescription: 'INITIAL' })
  await ask(request('tools/call', { name: 'send_agent_state', arguments: state }))
  await ask(request('tools/call', { name: 'get_task', arguments: { [secret]: secret } }))
  await ask(request('tools/call', { name: secret.replaceAll(' ', '_'), arguments: {} }))
  expect(fixture.log()).toContain('"route":"/mcp"')
  expect(fixture.log()).not.toContain(secret.slice(7))
})
