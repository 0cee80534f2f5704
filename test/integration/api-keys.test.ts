// API keys of the database at a running gateway: taken, limited and refused without a restart; and closed where nobody can be looked up.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addApiKey,
  addTenant,
  API_KEY_POSITION,
  countApiKeys,
  createPool,
  listApiKeys,
  revokeApiKey,
} from '@baton/store'
import type { Pool } from '@baton/store'
import { createApiKey, parseApiKeys } from '@baton/gateway'
import { acquirePostgres, eventually, PASSWORDS, spawnService } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem, get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let admin: Pool
beforeAll(async () => {
  fixture = await openGateway()
  const { adminUrl } = await acquirePostgres()
  const url = new URL(adminUrl)
  url.pathname = new URL(fixture.databaseUrl).pathname
  admin = createPool({ url: url.href, applicationName: 'test' })
  await addTenant(admin, 'acme')
})
afterAll(async () => {
  await fixture?.close()
  await admin?.end()
})

interface Wish {
  readonly scopes: string
  readonly tenant?: string
  readonly agents?: readonly string[]
  readonly expires?: string
}

async function make({ agents, ...wish }: Wish) {
  const { id, key, entry } = createApiKey({ operator: 'ann', ...wish })
  const parsed = parseApiKeys(entry).get(id)
  if (parsed === undefined) throw new Error('one entry is one key')
  const { sha256, operator, tenant, expiresAtMs } = parsed
  await addApiKey(admin, {
    id,
    sha256,
    operator,
    tenant,
    scopes: wish.scopes.split('+'),
    agents: agents ?? null,
    madeBy: 'root',
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs),
  })
  return { id, key }
}

const by = (agentId: string) => stateBody({ agent: { agentId, agentVersion: '1.0.0' } })

it('a key works from the moment it is made, and ends seconds after it is revoked', async () => {
  const { id, key } = await make({ scopes: 'handoffs:send' })
  expect((await post(fixture.gateway, stateBody(), { key })).statusCode).toBe(202)
  expect(await revokeApiKey(admin, id)).toBeInstanceOf(Date)
  const refused = async () => {
    const answer = await post(fixture.gateway, stateBody(), { key })
    return answer.statusCode === 401 ? answer : undefined
  }
  await eventually(async () => (await refused()) !== undefined, {
    deadlineMs: 10_000,
    describe: 'the revoked key to be refused',
  })
  const answer = await post(fixture.gateway, stateBody(), { key })
  expectProblem(answer)
  expect(answer.json()).toMatchObject({ code: 'BATON_API_KEY_REVOKED' })
})

it('a key that was revoked once stays revoked since then, and one that is not there is said to be', async () => {
  const { id } = await make({ scopes: 'handoffs:send' })
  const first = await revokeApiKey(admin, id)
  expect(await revokeApiKey(admin, id)).toEqual(first)
  expect(await revokeApiKey(admin, 'nobody')).toBeUndefined()
})

it.each([
  [
    'has come to its day',
    { scopes: 'handoffs:send', expires: '2020-01-01' },
    401,
    'API_KEY_EXPIRED',
  ],
  ['lacks the scope', { scopes: 'handoffs:read' }, 403, 'SCOPE_MISSING'],
])('a key that %s is refused', async (_, wish, status, code) => {
  const { key } = await make(wish)
  const answer = await post(fixture.gateway, stateBody(), { key })
  expect(answer.statusCode).toBe(status)
  expect(answer.json()).toMatchObject({ code: `BATON_${code}` })
})

it('a key of a tenant acts for that tenant alone, and none is made for one that is not there', async () => {
  const { key } = await make({ scopes: 'handoffs:send', tenant: 'acme' })
  expect((await post(fixture.gateway, by('intake'), { key })).json()).toMatchObject({
    code: 'BATON_AGENT_OF_OTHER_TENANT',
  })
  await make({ scopes: 'handoffs:send', tenant: 'nobody' })
  expect(
    (await listApiKeys(fixture.pool, { limit: 1_000 })).map(({ tenant }) => tenant),
  ).not.toContain('nobody')
})

it('keys are listed page by page, oldest first, with how many there are', async () => {
  for (const _ of [1, 2]) await make({ scopes: 'handoffs:read' })
  const seen: string[] = []
  let cursor: string | undefined
  for (;;) {
    const [next] = await listApiKeys(fixture.pool, { limit: 1, cursor })
    if (next === undefined) break
    expect(next.position).toMatch(API_KEY_POSITION)
    seen.push(next.id)
    cursor = next.position
  }
  const all = await listApiKeys(fixture.pool, { limit: 1_000 })
  expect(seen).toEqual(all.map(({ id }) => id))
  expect(await countApiKeys(fixture.pool)).toBe(seen.length)
})

it('what delivers reads keys, and makes, changes and removes none', async () => {
  const { id } = await make({ scopes: 'handoffs:send' })
  await expect(revokeApiKey(fixture.pool, id)).rejects.toMatchObject({
    code: 'BATON_DATABASE_REFUSED',
  })
  for (const text of [
    `insert into api_key (id, sha256, operator, tenant, scopes, made_by) select 'x', sha256, operator, tenant, scopes, made_by from api_key limit 1`,
    'delete from api_key',
    'truncate api_key',
  ])
    await expect(fixture.pool.query({ text })).rejects.toMatchObject({ code: '42501' })
})

describe('a key for some agents', () => {
  const SCOPES = 'handoffs:send+handoffs:return+executions:claim'
  const ask = (key: string, url: string, payload: object, headers: object = {}) =>
    fixture.gateway.server.inject({
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${key}`, ...headers },
      payload,
    })

  it('sends as these and as nobody else, however it sends', async () => {
    const { key } = await make({ scopes: SCOPES, agents: ['intake', 'clerk'] })
    expect((await post(fixture.gateway, by('intake'), { key })).statusCode).toBe(202)
    const answer = await post(fixture.gateway, by('legal-analysis'), { key })
    expect(answer.statusCode).toBe(403)
    expectProblem(answer)
    expect(answer.json()).toMatchObject({ code: 'BATON_AGENT_REFUSED' })
    const message = { fromProfileId: 'legal-analysis', toProfileId: 'x', subject: 'a', body: 'a' }
    const foreign = await ask(key, '/api/handoffs', message, { 'idempotency-key': 'k' })
    expect(foreign.statusCode).toBe(403)
  })

  it('takes what came back to these, and nothing of others', async () => {
    const { key } = await make({ scopes: SCOPES, agents: ['intake'] })
    const take = async (...agents: readonly string[]) =>
      (await ask(key, '/v2/returns/take', { agents })).statusCode
    expect(await take('intake')).toBe(200)
    expect(await take('intake', 'legal-analysis')).toBe(403)
  })
})

it('where Postgres does not answer, a key of the database is neither let in nor called wrong; one of the settings is known', async () => {
  const url = new URL(fixture.databaseUrl)
  url.port = '1'
  const gateway = fixture.another({}, url.href)
  const { key } = await make({ scopes: 'handoffs:read' })
  const of = (one: string) => get(gateway, '/v2/tasks', { authorization: `Bearer ${one}` })
  const unread = await of(key)
  expect(unread.statusCode).toBe(503)
  expect(unread.headers['retry-after']).toBe('1')
  expect(unread.json()).toMatchObject({ code: 'BATON_API_KEYS_UNREAD' })
  expect((await of(keys.sender.key)).json()).toMatchObject({ code: 'BATON_SCOPE_MISSING' })
  expect((await get(gateway, '/healthz', { authorization: `Bearer ${key}` })).statusCode).toBe(200)
})

describe('on the command line', () => {
  let home: string
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'baton-keys-'))
  })
  afterAll(() => rmSync(home, { recursive: true }))

  async function baton(...args: readonly string[]) {
    const { adminUrl } = await acquirePostgres()
    const command = await spawnService({
      main: 'services/cli/src/main.ts',
      args: ['--home', home, '--json', 'keys', ...args],
      env: {
        BATON_DATABASE_ADMIN_URL: adminUrl,
        BATON_DATABASE_NAME: new URL(fixture.databaseUrl).pathname.slice(1),
        BATON_APP_PASSWORD: PASSWORDS.app,
      },
      ready: false,
    })
    const { code } = await command.exited()
    const out = command.stdout()
    return { code, output: command.output(), told: code === 0 ? JSON.parse(out) : {} }
  }

  it('makes a key that works at once, shows it once, lists it without its digest, and revokes it', async () => {
    const wish = ['handoffs:send', '--operator', 'ann', '--agent', 'intake', '--tenant', 'acme']
    const { told } = await baton('new', ...wish)
    expect(told).toMatchObject({ operator: 'acme/ann', agents: ['intake'], expiresAt: null })
    const { key, id } = told as { key: string; id: string }
    const answer = await post(fixture.gateway, by('clerk'), { key })
    expect(answer.json()).toMatchObject({ code: 'BATON_AGENT_REFUSED' })
    const listed = await baton('ls')
    expect(listed.told).toContainEqual(expect.objectContaining({ id, scopes: ['handoffs:send'] }))
    expect(listed.output).not.toMatch(/sha256|bk_/)
    expect((await baton('revoke', id)).code).toBe(0)
  }, 180_000)

  it('makes an entry for settings, and writes to no database', async () => {
    const before = (await listApiKeys(admin, { limit: 1_000 })).length
    const wish = ['executions:claim', '--role', 'reviewer', '--operator', 'ann', '--for-settings']
    const { told } = await baton('new', ...wish)
    const [made] = parseApiKeys((told as { entry: string }).entry).values()
    const reviewers = ['handoffs:read', 'approvals:decide', 'dead-letters:review']
    expect([...(made?.scopes ?? [])]).toEqual(['executions:claim', ...reviewers])
    expect(await listApiKeys(admin, { limit: 1_000 })).toHaveLength(before)
    expect((await baton('new', ...wish, '--agent', 'intake')).code).toBe(2)
  }, 180_000)

  it('says what is wrong with a wish', async () => {
    expect((await baton('new', 'handoffs:read')).code).toBe(2)
    const wrong = await baton('new', 'everything', '--operator', 'ann')
    expect(wrong.code).toBe(2)
    expect(wrong.output).toContain('BATON_API_KEYS_INVALID')
    const unsigned = await baton('new', '--role', 'reviewer', '--operator', 'ann')
    expect(unsigned.output).toContain('people key ann --role reviewer')
    const nowhere = await baton('new', 'handoffs:read', '--operator', 'ann', '--tenant', 'nobody')
    expect(nowhere.code).toBe(5)
    expect((await baton('revoke', 'nobody')).code).toBe(5)
  }, 180_000)
})
