// Who calls the handoff service of SW4RM: keys of the database and access tokens as everywhere, each for its tenant and its agents.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, parseApiKeys } from '@baton/gateway'
import { AUDIENCE, startTokenIssuer } from '@baton/http/fixtures/token-issuer'
import type { TokenIssuer } from '@baton/http/fixtures/token-issuer'
import { addApiKey, addTenant, createPool, revokeApiKey } from '@baton/store'
import type { Pool } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSwarm, swarmRequest } from './sw4rm-fixture.ts'
import type { SwarmWorld } from './sw4rm-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-issuers-'))
let world: SwarmWorld
let issuer: TokenIssuer
let admin: Pool
beforeAll(async () => {
  issuer = await startTokenIssuer()
  const file = join(folder, 'issuers.json')
  const named = { issuer: issuer.url, audience: AUDIENCE, operatorClaim: 'name' }
  writeFileSync(file, JSON.stringify([{ ...named, tenantClaim: 'org' }]))
  world = await openSwarm('sw4rm-callers', undefined, { BATON_ISSUERS: file })
  admin = createPool({ url: world.system.adminUrls.store, applicationName: 'test' })
  await addTenant(admin, 'acme')
})
afterAll(async () => {
  await admin?.end()
  await world?.close()
  await issuer.stop()
  rmSync(folder, { recursive: true })
})

const SCOPE = 'handoffs:send handoffs:read executions:claim'
const tokenOf = (org: string, claims: object = {}) =>
  issuer.token({ scope: SCOPE, name: 'swarm', org, ...claims })

async function makeKey(agents: readonly string[] | null) {
  const { id, key, entry } = createApiKey({ scopes: 'handoffs:send', operator: 'ann' })
  const parsed = parseApiKeys(entry).get(id)
  if (parsed === undefined) throw new Error('one entry is one key')
  const { sha256, operator, tenant } = parsed
  const scopes = ['handoffs:send', 'handoffs:read']
  const made = { id, sha256, operator, tenant, scopes, agents, madeBy: 'root', expiresAt: null }
  await addApiKey(admin, made)
  return { id, key }
}

it('a key of the database works from the moment it is made, as its agents, until it is revoked', async () => {
  const { id, key } = await makeKey(['general-agent-1'])
  const { client } = world
  expect(await client.call('RequestHandoff', swarmRequest(), { key })).toEqual({})
  const other = swarmRequest({ from_agent: 'somebody-else' })
  expect(await client.refusal('RequestHandoff', other, { key })).toMatch(/^7 .*as this agent/)
  await revokeApiKey(admin, id)
  await eventually(
    async () =>
      (await client.refusal('RequestHandoff', swarmRequest(), { key })).startsWith(
        '16 the API key was revoked',
      ),
    { deadlineMs: 10_000, describe: 'the revoked key to be refused' },
  )
})

it('a token sends, sees and takes what is of its tenant, whose ids are its own', async () => {
  const { client } = world
  const acme = { key: await tokenOf('acme') }
  const own = { key: await tokenOf('default') }
  const to = { to_agent: 'acme/specialist', from_agent: 'acme/general' }
  const request = swarmRequest(to)
  const { request_id } = request
  expect(await client.call('RequestHandoff', request, acme)).toEqual({})
  expect(await client.refusal('RequestHandoff', request, acme)).toMatch(/^6 .*already exists/)
  expect(await client.refusal('GetHandoffStatus', { handoff_id: request_id }, own)).toMatch(/^5 /)
  expect(await client.call('RequestHandoff', swarmRequest({ request_id }), own)).toEqual({})
  const asked = { agent_id: 'acme/specialist' }
  expect(await client.refusal('GetPendingHandoffs', asked, own)).toMatch(/^7 /)
  expect(await client.call('GetPendingHandoffs', asked, acme)).toMatchObject({
    pending_requests: [{ request_id }],
  })
  const answer = { request_id, accepting_agent: 'acme/specialist' }
  expect(await client.refusal('AcceptHandoff', answer, own)).toMatch(/^[57] /)
  expect(await client.call('AcceptHandoff', answer, acme)).toEqual({})
  expect(await client.call('CompleteHandoff', { request_id, status: 'COMPLETED' }, acme)).toEqual(
    expect.objectContaining({ success: true }),
  )
  const { rows } = await world.pool.query<{ tenant: string; sent_by: string }>({
    text: `select h.tenant, h.sent_by from external_ref r join handoff h on h.id = r.handoff_id
      where r.id = $1 order by h.tenant`,
    values: [request_id],
  })
  expect(rows).toEqual([
    { tenant: 'acme', sent_by: 'acme/swarm' },
    { tenant: 'default', sent_by: 'swarm' },
  ])
})

it('a token that does not count is refused with words, before its message is read', async () => {
  const { client } = world
  const refused = async (org: string, claims: object = {}) =>
    client.refusal('RequestHandoff', swarmRequest(), { key: await tokenOf(org, claims) })
  expect(await refused('acme', { exp: 1 })).toMatch(/^16 the access token has expired/)
  expect(await refused('acme', { aud: 'billing' })).toMatch(/^16 .*another service/)
  expect(await refused('initech')).toMatch(/^7 .*tenant that there is not/)
  expect(await refused('acme', { scope: 'handoffs:read' })).toMatch(/^7 .*handoffs:send/)
})
