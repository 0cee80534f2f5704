// What is done to keys, tenants and grants is on record: each change commits with its record, or not at all.
import { createApiKey, parseApiKeys } from '@baton/gateway'
import { makeApiKey, makeGrant, openTenant, withdrawApiKey, withdrawGrant } from '@baton/engine'
import { taskOfOperations } from '@baton/ledger'
import { listApiKeys, listTenants } from '@baton/store'
import type { NewApiKey, Pool } from '@baton/store'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'

const ANN = { actor: 'ann' }
let store: StoreFixture
let admin: Pool
beforeAll(async () => {
  store = await openStore('administration')
  admin = store.superuser
  await openTenant(admin, ANN, 'acme')
})
afterAll(() => store?.close())
beforeEach(async () => {
  await admin.query({ text: 'delete from audit_outbox' })
})

function newKey(changes: Partial<NewApiKey> = {}): NewApiKey {
  const scopes = ['handoffs:send', 'handoffs:read']
  const made = createApiKey({ scopes: scopes.join('+'), operator: 'bob', tenant: 'acme' })
  const { sha256 = Buffer.alloc(32) } = parseApiKeys(made.entry).get(made.id) ?? {}
  const owner = { operator: 'acme/bob', tenant: 'acme', madeBy: 'ann' }
  return { id: made.id, sha256, scopes, agents: null, expiresAt: null, ...owner, ...changes }
}

/** What waits to be recorded. */
async function recorded() {
  const text = 'select entry from audit_outbox order by created_at'
  const { rows } = await admin.query<{ entry: string }>({ text })
  return rows.map(({ entry }) => JSON.parse(entry))
}

it('a key is made and revoked on record: by whom, for whom and what it may', async () => {
  const key = newKey({ agents: ['acme/intake'] })
  expect(await makeApiKey(admin, ANN, key)).toBe(true)
  expect(await withdrawApiKey(admin, { actor: 'carl' }, key.id)).toBeInstanceOf(Date)
  const [made, revoked] = await recorded()
  const right = { subject: key.id, right: 'database-owner', address: null }
  expect(made).toMatchObject({
    event: 'API_KEY_MADE',
    tenant: 'acme',
    taskId: taskOfOperations('acme', new Date().toISOString()),
    act: { actor: 'ann' },
    operation: {
      ...right,
      details: [
        { code: 'OPERATOR', value: 'acme/bob' },
        { code: 'SCOPE', value: 'handoffs:send' },
        { code: 'SCOPE', value: 'handoffs:read' },
        { code: 'AGENT', value: 'acme/intake' },
      ],
    },
  })
  expect(revoked).toMatchObject({
    event: 'API_KEY_REVOKED',
    act: { actor: 'carl' },
    operation: right,
  })
  expect(JSON.stringify([made, revoked])).not.toContain(key.sha256.toString('hex'))
})

it('what changes nothing is no record', async () => {
  expect(await makeApiKey(admin, ANN, newKey({ tenant: 'nobody' }))).toBe(false)
  expect(await withdrawApiKey(admin, ANN, 'nobody')).toBeUndefined()
  expect(await openTenant(admin, ANN, 'acme')).toBe(false)
  const grant = { tenant: 'acme', agentType: 'summary' }
  expect(await withdrawGrant(admin, ANN, grant)).toBe(false)
  expect(await makeGrant(admin, ANN, { ...grant, tenant: 'nobody' })).toBeUndefined()
  const key = newKey()
  await makeApiKey(admin, ANN, key)
  const first = await withdrawApiKey(admin, ANN, key.id)
  expect(await withdrawApiKey(admin, ANN, key.id)).toEqual(first)
  expect((await recorded()).map(({ event }) => event)).toEqual(['API_KEY_MADE', 'API_KEY_REVOKED'])
})

it('tenants and grants come and go on record', async () => {
  const grant = { tenant: 'globex', agentType: 'summary' }
  expect(await openTenant(admin, ANN, 'globex')).toBe(true)
  expect(await makeGrant(admin, ANN, grant)).toBe(true)
  expect(await makeGrant(admin, ANN, grant)).toBe(false)
  expect(await withdrawGrant(admin, ANN, grant)).toBe(true)
  const told = (await recorded()).map(({ event, tenant, operation: { subject } }) => [
    event,
    tenant,
    subject,
  ])
  expect(told).toEqual([
    ['TENANT_ADDED', 'globex', 'globex'],
    ['GRANT_MADE', 'globex', 'summary'],
    ['GRANT_REVOKED', 'globex', 'summary'],
  ])
})

it('what cannot be recorded is not done', async () => {
  const nameless = { actor: 'J\u00f6rg' }
  const unrecordable = { code: 'BATON_OPERATION_UNRECORDABLE' }
  const key = newKey()
  await expect(makeApiKey(admin, nameless, key)).rejects.toMatchObject(unrecordable)
  await expect(openTenant(admin, nameless, 'initech')).rejects.toMatchObject(unrecordable)
  const keys = await listApiKeys(admin)
  expect(keys.map(({ id }) => id)).not.toContain(key.id)
  const tenants = await listTenants(admin)
  expect(tenants.map(({ tenant }) => tenant)).not.toContain('initech')
  expect(await recorded()).toEqual([])
})
