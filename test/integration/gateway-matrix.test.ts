// Who may do what: every route of the gateway with every scope, and with none. A route that is not listed here fails.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import { parseIssuers } from '@baton/http/access-tokens'
import { AUDIENCE, startTokenIssuer } from '@baton/http/fixtures/token-issuer'
import type { TokenIssuer } from '@baton/http/fixtures/token-issuer'
import { keys, openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const SCOPES = [
  'handoffs:send',
  'handoffs:read',
  'handoffs:return',
  'handoffs:cancel',
  'executions:claim',
  'tasks:resume',
  'approvals:decide',
  'dead-letters:review',
  'dead-letters:redrive',
  'erasures:plan',
  'erasures:approve',
  'metrics:read',
  'events:read',
  'events:subscribe',
] as const
type Scope = (typeof SCOPES)[number]

/** The one scope that opens each route; null where anybody may ask. */
const ROUTES: Readonly<Record<string, Scope | null>> = {
  'GET /.well-known/oauth-protected-resource': null,
  'GET /.well-known/oauth-protected-resource/mcp': null,
  'GET /health': null,
  'GET /healthz': null,
  'GET /readyz': null,
  'GET /openapi.json': null,
  'GET /asyncapi.json': null,
  'GET /runbooks/{name}': null,
  'GET /schemas': null,
  'GET /schemas/{path}': null,
  'GET /metrics': 'metrics:read',
  'POST /v2/handoffs': 'handoffs:send',
  'GET /v2/handoffs/{id}': 'handoffs:read',
  'GET /v2/handoffs/{id}/branches/{branch}': 'handoffs:read',
  'GET /v2/handoffs/{id}/chunks': 'handoffs:read',
  'POST /v2/handoffs/{id}/chunks': 'executions:claim',
  'POST /v2/handoffs/{id}/revisions': 'handoffs:return',
  'POST /v2/handoffs/{id}/cancel': 'handoffs:cancel',
  'GET /v2/tasks': 'handoffs:read',
  'GET /v2/tasks/{id}': 'handoffs:read',
  'GET /v2/tasks/{id}/receipts': 'handoffs:read',
  'GET /v2/tasks/{id}/trace': 'handoffs:read',
  'GET /v2/tasks/{id}/checkpoint': 'handoffs:return',
  'POST /v2/tasks/{id}/resume': 'tasks:resume',
  'POST /v2/tasks/{id}/cancel': 'handoffs:cancel',
  'POST /v2/returns/take': 'handoffs:return',
  'POST /v2/returns/{id}/acknowledge': 'handoffs:return',
  'GET /v2/session-replies': 'handoffs:read',
  'GET /v2/alerts': 'handoffs:read',
  'GET /v2/alerts/{id}': 'handoffs:read',
  'POST /v2/alerts/{id}/acknowledge': 'tasks:resume',
  'POST /v2/alerts/{id}/close': 'tasks:resume',
  'POST /v2/alerts/acknowledge': 'tasks:resume',
  'POST /v2/alerts/close': 'tasks:resume',
  'POST /v2/alerts/tests': 'tasks:resume',
  'GET /v2/alerts/tests/{id}': 'handoffs:read',
  'GET /v2/events': 'events:read',
  'POST /v2/event-subscriptions': 'events:subscribe',
  'GET /v2/event-subscriptions': 'events:read',
  'GET /v2/event-subscriptions/{id}': 'events:read',
  'PATCH /v2/event-subscriptions/{id}': 'events:subscribe',
  'DELETE /v2/event-subscriptions/{id}': 'events:subscribe',
  'POST /v2/event-subscriptions/{id}/rotate': 'events:subscribe',
  'POST /v2/event-subscriptions/{id}/pause': 'events:subscribe',
  'POST /v2/event-subscriptions/{id}/resume': 'events:subscribe',
  'POST /v2/event-subscriptions/{id}/test': 'events:subscribe',
  'POST /v2/event-subscriptions/{id}/replay': 'events:subscribe',
  'GET /v2/event-subscriptions/{id}/deliveries': 'events:read',
  'POST /v2/event-subscriptions/{id}/redrive': 'events:subscribe',
  'GET /v2/escalations': 'handoffs:read',
  'GET /v2/escalations/{id}': 'handoffs:read',
  'POST /v2/escalations/{id}/acknowledge': 'tasks:resume',
  'POST /v2/escalations/{id}/resolve': 'tasks:resume',
  'POST /v2/escalations/acknowledge': 'tasks:resume',
  'POST /v2/escalations/resolve': 'tasks:resume',
  'GET /v2/approvals': 'handoffs:read',
  'POST /v2/approvals/{id}': 'approvals:decide',
  'GET /v2/agents': 'handoffs:read',
  'GET /v2/slo': 'metrics:read',
  'GET /v2/verification': 'metrics:read',
  'GET /v2/dead-letters': 'handoffs:read',
  'GET /v2/dead-letters/clusters': 'handoffs:read',
  'GET /v2/dead-letters/released': 'handoffs:read',
  'GET /v2/dead-letters/{id}': 'handoffs:read',
  'GET /v2/dead-letters/{id}/message': 'dead-letters:review',
  'GET /v2/erasures': 'erasures:plan',
  'GET /v2/erasures/{id}': 'erasures:plan',
  'POST /v2/dead-letters/{id}/release': 'dead-letters:review',
  'POST /v2/erasures': 'erasures:plan',
  'POST /v2/erasures/replay': 'erasures:approve',
  'POST /v2/erasures/{id}/confirm': 'erasures:approve',
  'POST /v2/executions/claim': 'executions:claim',
  'POST /v2/executions/heartbeat': 'executions:claim',
  'POST /v2/executions/settle': 'executions:claim',
  'POST /v2/subjects/search': 'erasures:plan',
  'POST /v2/dead-letters/{id}/redact': 'dead-letters:review',
  'POST /v2/dead-letters/{id}/discard': 'dead-letters:review',
  'POST /v2/dead-letters/{id}/ask-sender': 'dead-letters:review',
  'POST /v2/dead-letters/dry-run': 'dead-letters:redrive',
  'POST /v2/dead-letters/redrive': 'dead-letters:redrive',
  'GET /v2/dead-letters/redrives/{id}': 'dead-letters:redrive',
  'DELETE /v2/dead-letters/redrives/{id}': 'dead-letters:redrive',
  'GET /api/handoffs': 'handoffs:read',
  'POST /api/handoffs': 'handoffs:send',
  'GET /api/handoffs/{id}': 'handoffs:read',
  'PATCH /api/handoffs/{id}': 'approvals:decide',
  'GET /api/profiles/{id}/handoffs/inbox': 'handoffs:read',
  'GET /api/profiles/{id}/handoffs/sent': 'handoffs:read',
}

/** Open to session peers by tokens of their own, and to no API key. */
const PEERS_ONLY = { 'POST /jsonrpc': null }

/** Open to every key, for the tools that its scopes allow: `test/integration/mcp-bounds.test.ts` tries what each message takes. */
const BY_MESSAGE = { 'POST /mcp': null }

const keyOf = Object.fromEntries(
  SCOPES.map((scopes) => [scopes, createApiKey({ scopes, operator: scopes.replace(':', '-') })]),
)
const expired = createApiKey({ scopes: SCOPES.join('+'), operator: 'ann', expires: '2020-01-01' })

/** A token of each role, and what each role is to open. */
const roleTokens = new Map<string, string>()
const OPENED: Readonly<Record<string, readonly Scope[]>> = {
  developer: [
    'handoffs:send',
    'handoffs:read',
    'handoffs:return',
    'handoffs:cancel',
    'tasks:resume',
    'executions:claim',
    'events:read',
    'events:subscribe',
  ],
  operator: [
    'handoffs:read',
    'handoffs:cancel',
    'tasks:resume',
    'dead-letters:redrive',
    'metrics:read',
    'events:read',
    'events:subscribe',
  ],
  reviewer: ['handoffs:read', 'approvals:decide', 'dead-letters:review'],
  compliance: ['handoffs:read', 'erasures:plan', 'erasures:approve'],
  auditor: ['handoffs:read'],
  admin: [
    'handoffs:send',
    'handoffs:read',
    'handoffs:return',
    'handoffs:cancel',
    'tasks:resume',
    'executions:claim',
    'dead-letters:redrive',
    'metrics:read',
    'events:read',
    'events:subscribe',
  ],
  owner: [],
}

let fixture: GatewayFixture
let issuer: TokenIssuer
beforeAll(async () => {
  issuer = await startTokenIssuer()
  const named = { issuer: issuer.url, audience: AUDIENCE, operators: { 'ann-1': 'ann' } }
  const issuers = parseIssuers(JSON.stringify([{ ...named, rolesClaim: 'roles' }]))
  for (const role of Object.keys(OPENED))
    roleTokens.set(role, await issuer.token({ roles: [role] }))
  fixture = await openGateway({ ...keyOf, everythingOnce: expired }, { issuers })
  await fixture.gateway.server.ready()
})
afterAll(async () => {
  await fixture.close()
  await issuer.stop()
})

async function ask(route: string, key?: string): Promise<{ status: number; code: string }> {
  const [method, path] = route.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string]
  const url = path
    .replace('{id}', randomUUID())
    .replace('{branch}', '0')
    .replace('{path}', 'handoff/2.1.json')
    .replace('{name}', 'outbox-stale.md')
  const response = await fixture.gateway.server.inject({
    method,
    url,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    ...(method === 'POST' ? { payload: {} } : {}),
  })
  const isProblem = String(response.headers['content-type']).includes('problem')
  return { status: response.statusCode, code: isProblem ? String(response.json().code) : '' }
}

/** Of a standard that describes them itself: `test/integration/a2a.test.ts` tries who may call which. */
const OF_A2A = ['/a2a', '/a2a/agents/{agentType}'].flatMap((base) => [
  `GET ${base}/.well-known/agent-card.json`,
  `GET ${base}/extendedAgentCard`,
  `GET ${base}/tasks`,
  `GET ${base}/tasks/{target}`,
  `GET ${base}/tasks/{target}/pushNotificationConfigs`,
  `GET ${base}/tasks/{target}/pushNotificationConfigs/{configId}`,
  `DELETE ${base}/tasks/{target}/pushNotificationConfigs/{configId}`,
  `POST ${base}/tasks/{target}/pushNotificationConfigs`,
  `POST ${base}`,
  `POST ${base}/message:{send}`,
  `POST ${base}/message:{stream}`,
  `POST ${base}/tasks/{target}`,
])
const CARD = 'GET /.well-known/agent-card.json'

it('lists every route that there is, and no other', () => {
  expect(
    [...Object.keys({ ...ROUTES, ...PEERS_ONLY, ...BY_MESSAGE }), ...OF_A2A, CARD].toSorted(),
  ).toEqual([...fixture.gateway.routes].toSorted())
})

it('is what /openapi.json says', async () => {
  const document = (await fixture.gateway.server.inject('/openapi.json')).json()
  const said = Object.entries(
    document.paths as Record<string, Record<string, { security?: { apiKey?: string[] }[] }>>,
  ).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security = [] }]) => [
      `${method.toUpperCase()} ${path}`,
      security[0]?.apiKey?.[0] ?? null,
    ]),
  )
  expect(Object.fromEntries(said)).toEqual({ ...ROUTES, ...PEERS_ONLY, ...BY_MESSAGE })
})

it('S22 lets no API key speak as a session peer', async () => {
  for (const { key } of Object.values(keyOf))
    expect((await ask('POST /jsonrpc', key)).status).toBe(503)
})

describe.each(Object.entries(ROUTES))('%s', (route, needed) => {
  it.runIf(needed === null)('answers anybody, whatever key comes along', async () => {
    expect((await ask(route)).status).toBeLessThan(400)
    expect((await ask(route, 'bk_nobody_0123456789012345678901234567890123')).status).toBe(
      (await ask(route)).status,
    )
  })

  it.runIf(needed !== null)('refuses no key, an unknown and an expired one', async () => {
    const secret = keys.operator.key.split('_').at(-1) ?? ''
    expect(await ask(route)).toEqual({ status: 401, code: 'BATON_API_KEY_MISSING' })
    for (const key of [`bk_nobody_${secret}`, `${keys.operator.key}x`, 'nonsense'])
      expect(await ask(route, key)).toEqual({ status: 401, code: 'BATON_API_KEY_INVALID' })
    expect(await ask(route, expired.key)).toEqual({ status: 401, code: 'BATON_API_KEY_EXPIRED' })
  })

  it.runIf(needed !== null)(`opens for ${needed} and for no other scope`, async () => {
    const answers = await Promise.all(
      SCOPES.map(async (scope) => ({ scope, ...(await ask(route, keyOf[scope]?.key)) })),
    )
    const opened = answers.filter(({ status }) => status !== 401 && status !== 403)
    expect(opened.map(({ scope }) => scope)).toEqual([needed])
    const refused = answers.filter(({ scope }) => scope !== needed)
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['BATON_SCOPE_MISSING']))
  })
  it.runIf(needed !== null)(`opens for tokens of the roles that have ${needed}`, async () => {
    const answers = await Promise.all(
      Object.keys(OPENED).map(async (role) => ({
        role,
        ...(await ask(route, roleTokens.get(role))),
      })),
    )
    const opened = answers.filter(({ status }) => status !== 401 && status !== 403)
    const having = Object.keys(OPENED).filter((role) => OPENED[role]?.some((one) => one === needed))
    expect(opened.map(({ role }) => role)).toEqual(having)
    const refused = answers.filter(({ role }) => !having.includes(role))
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['BATON_SCOPE_MISSING']))
  })
})
