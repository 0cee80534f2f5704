// Access tokens of an issuer at a running gateway: whose they are, what they may, and that they are refused with words that say why.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { addTenant, createPool } from '@baton/store'
import { createApiKey } from '@baton/gateway'
import { parseIssuers } from '@baton/http/access-tokens'
import { AUDIENCE, startTokenIssuer } from '@baton/http/fixtures/token-issuer'
import type { TokenIssuer } from '@baton/http/fixtures/token-issuer'
import { acquirePostgres } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem, get, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let issuer: TokenIssuer
let other: TokenIssuer

/** Of two issuers: one of this installation, whose people are named, and one that says itself whose its tokens are. */
const issuersOf = () =>
  parseIssuers(
    JSON.stringify([
      {
        issuer: issuer.url,
        audience: AUDIENCE,
        operators: { 'ann-1': 'ann' },
        agentsClaim: 'agents',
        secondFactor: { acr: ['urn:mfa'], authAgeMaxS: 600 },
      },
      { issuer: other.url, audience: AUDIENCE, tenantClaim: 'org', operatorClaim: 'name' },
    ]),
  )

const anns = createApiKey({ scopes: 'handoffs:send+approvals:decide', operator: 'ann' })

beforeAll(async () => {
  issuer = await startTokenIssuer()
  other = await startTokenIssuer()
  const peersPath = join(mkdtempSync(join(tmpdir(), 'baton-peers-')), 'peers.json')
  const planner = { name: 'planner', operator: 'acme/ann', sendsTo: 'acme/extraction' }
  writeFileSync(peersPath, JSON.stringify({ peers: [planner] }))
  const session = { peersPath, waitMs: 1 }
  fixture = await openGateway({ anns }, { issuers: issuersOf(), session })
  rmSync(dirname(peersPath), { recursive: true })
  const { adminUrl } = await acquirePostgres()
  const url = new URL(adminUrl)
  url.pathname = new URL(fixture.databaseUrl).pathname
  const admin = createPool({ url: url.href, applicationName: 'test' })
  await addTenant(admin, 'acme')
  await addTenant(admin, 'globex')
  await admin.end()
})
afterAll(async () => {
  await fixture.close()
  await issuer.stop()
  await other.stop()
})

const by = (agentId: string) => stateBody({ agent: { agentId, agentVersion: '1.0.0' } })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

it('a token sends as the agents that it names, and as no other', async () => {
  const key = await issuer.token({ scope: 'handoffs:send', agents: ['intake-agent'] })
  expect((await post(fixture.gateway, stateBody(), { key })).statusCode).toBe(202)
  const answer = await post(fixture.gateway, by('risk-scoring'), { key })
  expect(answer.statusCode).toBe(403)
  expect(answer.json()).toMatchObject({ code: 'BATON_AGENT_REFUSED' })
  const nobodys = await issuer.token({ scope: 'handoffs:send' })
  expect((await post(fixture.gateway, stateBody(), { key: nobodys })).statusCode).toBe(403)
})

it('a token sees and sends what is of its tenant, and the log of requests names its subject', async () => {
  const scope = 'handoffs:send handoffs:read'
  const acme = await other.token({ scope, org: 'acme', name: 'ann' })
  const globex = await other.token({ scope, org: 'globex', name: 'ann' })
  const body = stateBody(
    { agent: { agentId: 'acme/intake', agentVersion: '1.0.0' } },
    { targetAgentType: 'acme/extraction' },
  )
  const sent = await post(fixture.gateway, body, { key: acme })
  expect(sent.statusCode).toBe(202)
  const url = `/v2/tasks/${sent.json().taskId}`
  expect((await get(fixture.gateway, url, bearer(acme))).statusCode).toBe(200)
  expect((await get(fixture.gateway, url, bearer(globex))).statusCode).toBe(404)
  const { rows } = await fixture.pool.query<{ sent_by: string; tenant: string }>({
    text: 'select sent_by, tenant from handoff where id = $1',
    values: [sent.json().handoffId],
  })
  expect(rows).toEqual([{ sent_by: 'acme/ann', tenant: 'acme' }])
  expect(fixture.log()).toMatch(/"apiKeyId":"token-[0-9a-f]{24}"/)
  expect(fixture.log()).not.toContain(acme.split('.')[1])
})

it('a session peer is of the tenant of its token, and may what that says', async () => {
  const dispatch = async (claims: object) => {
    const { gateway } = fixture
    const answer = await gateway.server.inject({
      method: 'POST',
      url: '/jsonrpc',
      headers: {
        ...bearer(await other.token({ scope: 'handoffs:send', name: 'ann', ...claims })),
        'content-type': 'application/json',
      },
      payload: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { role: 'user', parts: [{ text: 'Say how long this is.' }] } },
      }),
    })
    return [answer.statusCode, answer.json().error?.data?.code]
  }
  expect(await dispatch({ org: 'acme' })).toEqual([200, undefined])
  const { rows } = await fixture.pool.query({
    text: `select tenant, sent_by, to_agent from handoff where from_agent = 'acme/planner'`,
  })
  expect(rows).toEqual([{ tenant: 'acme', sent_by: 'acme/ann', to_agent: 'acme/extraction' }])
  expect(await dispatch({ org: 'acme', scope: 'handoffs:read' })).toEqual([
    200,
    'BATON_SCOPE_MISSING',
  ])
  expect(await dispatch({ org: 'globex' })).toEqual([401, 'BATON_PEER_TOKEN_REFUSED'])
  expect(await dispatch({ org: 'acme', exp: 1 })).toEqual([401, 'BATON_TOKEN_EXPIRED'])
})

describe('a token is refused', () => {
  const mint = (claims: object) => other.token({ scope: 'handoffs:read', name: 'ann', ...claims })
  it.each([
    ['of a tenant that there is not', { org: 'initech' }, 403, 'BATON_TOKEN_TENANT_UNKNOWN'],
    ['of no tenant', {}, 401, 'BATON_TOKEN_INVALID'],
    ['that has ended', { org: 'acme', exp: 1 }, 401, 'BATON_TOKEN_EXPIRED'],
    ['of the future', { org: 'acme', nbf: 9_000_000_000 }, 401, 'BATON_TOKEN_EARLY'],
    ['for others', { org: 'acme', aud: 'billing' }, 401, 'BATON_TOKEN_AUDIENCE'],
    ['of others', { org: 'acme', iss: 'https://evil.example' }, 401, 'BATON_TOKEN_ISSUER_UNKNOWN'],
  ])('%s', async (_, claims, status, code) => {
    const answer = await get(fixture.gateway, '/v2/tasks', bearer(await mint(claims)))
    expectProblem(answer)
    expect([answer.statusCode, answer.json().code]).toEqual([status, code])
  })

  it('and told why in the words of OAuth', async () => {
    const answer = await get(fixture.gateway, '/v2/tasks', bearer(await mint({ exp: 1 })))
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer realm="baton", error="invalid_token", error_description="the access token has expired"',
    )
  })

  it('for the installation’s metrics where it is of another tenant than the default one', async () => {
    const token = await mint({ org: 'acme', scope: 'metrics:read' })
    const answer = await get(fixture.gateway, '/metrics', bearer(token))
    expect(answer.json()).toMatchObject({ status: 403, code: 'BATON_SCOPE_MISSING' })
  })

  it('for scopes that it says as part of another', async () => {
    const token = await mint({ org: 'acme', scope: 'x+metrics:read handoffs:read+handoffs:cancel' })
    for (const url of ['/metrics', '/v2/tasks']) {
      const answer = await get(fixture.gateway, url, bearer(token))
      expect([url, answer.json().code]).toEqual([url, 'BATON_SCOPE_MISSING'])
    }
  })

  it('with 503 and never let in while nobody can say whose keys made it', async () => {
    const away = await startTokenIssuer()
    const changes = JSON.stringify([{ issuer: away.url, audience: AUDIENCE }])
    const token = await away.token({ scope: 'handoffs:read' })
    away.behaviour.isAway = true
    const opened = await openGateway({}, { issuers: parseIssuers(changes) })
    try {
      const answer = await get(opened.gateway, '/v2/tasks', bearer(token))
      expectProblem(answer)
      expect(answer.json()).toMatchObject({ status: 503, code: 'BATON_TOKEN_KEYS_UNREAD' })
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    } finally {
      await opened.close()
      await away.stop()
    }
  })

  it('where no issuer is named, as a key that nobody has', async () => {
    const opened = await openGateway()
    try {
      const answer = await get(opened.gateway, '/v2/tasks', bearer(await issuer.token()))
      expect(answer.json()).toMatchObject({ status: 401, code: 'BATON_API_KEY_INVALID' })
    } finally {
      await opened.close()
    }
  })
})

describe('deciding by a token', () => {
  const approve = async (claims: object) => {
    const token = await issuer.token({ scope: 'approvals:decide', agents: [], ...claims })
    const id = '00000000-0000-4000-8000-000000000000'
    return fixture.gateway.server.inject({
      method: 'POST',
      url: `/v2/approvals/${id}`,
      headers: { ...bearer(token), 'content-type': 'application/json' },
      payload: { decision: 'approve' },
    })
  }
  const now = () => Math.floor(Date.now() / 1000)
  const shown = () => ({ acr: 'urn:mfa', auth_time: now() })

  it('takes the second factor that the file of issuers demands', async () => {
    const open = await approve(shown())
    expect([401, 403]).not.toContain(open.statusCode)
    for (const claims of [
      {},
      { ...shown(), acr: 'urn:pwd' },
      { ...shown(), auth_time: now() - 700 },
    ]) {
      const answer = await approve(claims)
      expectProblem(answer)
      expect(answer.json()).toMatchObject({ status: 401, code: 'BATON_SECOND_FACTOR_NEEDED' })
      expect(answer.headers['www-authenticate']).toContain(
        'error="insufficient_user_authentication"',
      )
    }
  })

  it('takes a person, and no machine whatever it has shown', async () => {
    const answer = await approve({ ...shown(), sub: 'web' })
    expect(answer.json()).toMatchObject({ status: 403, code: 'BATON_PERSON_NEEDED' })
    const nameless = await approve({ ...shown(), sub: 'bob-1' })
    expect(nameless.json()).toMatchObject({ status: 403, code: 'BATON_PERSON_NEEDED' })
    const hidden = await approve({ ...shown(), sub: 'web', scope: 'x+approvals:decide' })
    expect(hidden.json()).toMatchObject({ status: 403, code: 'BATON_SCOPE_MISSING' })
  })
})

it('keys are taken as before', async () => {
  expect((await post(fixture.gateway, stateBody(), { key: anns.key })).statusCode).toBe(202)
})
