// What is done to keys, tenants and grants is on record: each change commits with its record, or not at all.
import { randomBytes } from 'node:crypto'
import { createApiKey, parseApiKeys } from '@baton/gateway'
import {
  makeApiKey,
  makeGrant,
  openTenant,
  recordingSettings,
  recordMigrations,
  recordSettings,
  signingKeyFacts,
  withdrawApiKey,
  withdrawGrant,
} from '@baton/engine'
import { parsePeople, peopleFacts, taskOfOperations, waiverFacts } from '@baton/ledger'
import { createKeyRing } from '@baton/protocol'
import { createLogger } from '@baton/runtime'
import { listApiKeys, listTenants, storeMigrations } from '@baton/store'
import type { NewApiKey, Pool } from '@baton/store'
import { eventually } from '@baton/testkit'
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

const SECRETS = { k1: randomBytes(32), k2: randomBytes(32) }

/** The first one signs. */
const ringOf = (active: keyof typeof SECRETS, ...others: readonly (keyof typeof SECRETS)[]) =>
  createKeyRing({
    active,
    keys: [active, ...others].map((id) => {
      return { id, secret: SECRETS[id], status: id === active ? 'active' : 'verify-only' } as const
    }),
  })

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

it('a process that begins with other people or keys than the one before it says so, once', async () => {
  const people = (setting: string) => ({
    process: 'gateway',
    details: [...peopleFacts(parsePeople(setting)), ...waiverFacts({ BATON_ALLOW_UNSEALED: true })],
  })
  const raw = (fill: number) => Buffer.alloc(32, fill).toString('base64')
  const ann = `ann:reviewer:${raw(1)}`
  const begun = []
  for (const setting of [ann, ann, `${ann},eve:reviewer+compliance:${raw(2)}`, ann])
    begun.push(await recordSettings(store.pool, people(setting)))
  expect(begun).toEqual([true, false, true, true])
  const told = await recorded()
  expect(told.map(({ event }) => event)).toEqual(Array(3).fill('SETTINGS_CHANGED'))
  expect(new Set(told.map(({ taskId }) => taskId)).size).toBe(1)
  expect(told[1]).toMatchObject({ act: { actor: 'gateway' }, operation: { subject: 'gateway' } })
  expect(told[1].operation.details.map(({ value }: { value: string }) => value)).toEqual([
    expect.stringMatching(/^ann:reviewer:[0-9a-f]{16}$/),
    expect.stringMatching(/^eve:compliance\+reviewer:[0-9a-f]{16}$/),
    'BATON_ALLOW_UNSEALED',
  ])
})

it('which key signs instead of which is on record for each kind of process, also back to an earlier one', async () => {
  const rings = [
    ringOf('k1'),
    ringOf('k1', 'k2'),
    ringOf('k2', 'k1'),
    ringOf('k2', 'k1'),
    ringOf('k2'),
    ringOf('k1', 'k2'),
  ]
  const begun = []
  for (const keyRing of rings)
    begun.push(
      await recordSettings(store.pool, { process: 'sender', details: signingKeyFacts(keyRing) }),
    )
  expect(begun).toEqual([true, true, true, false, true, true])
  const told = await recorded()
  expect(told.filter(({ event }) => event === 'SETTINGS_CHANGED')).toHaveLength(5)
  const rotations = told.filter(({ event }) => event === 'KEY_ROTATED')
  const said = ({ act, operation }: (typeof told)[number]) => [
    act.actor,
    operation.subject,
    ...operation.details.map(({ code, value }: { code: string; value: string }) => [code, value]),
  ]
  expect(rotations.map(said)).toEqual([
    ['sender', 'handoff', ['NEW_KEY', 'k2'], ['EARLIER_KEY', 'k1']],
    ['sender', 'handoff', ['NEW_KEY', 'k1'], ['EARLIER_KEY', 'k2']],
  ])
  expect(JSON.stringify(told)).not.toContain(SECRETS.k1.toString('base64').slice(0, 20))
})

it('of many processes that begin at once with the same key, one says so', async () => {
  await recordSettings(store.pool, { process: 'flock', details: signingKeyFacts(ringOf('k1')) })
  for (const ring of [ringOf('k2', 'k1'), ringOf('k1', 'k2')]) {
    await admin.query({ text: 'delete from audit_outbox' })
    const starts = Array.from({ length: 6 }, () =>
      recordSettings(store.pool, { process: 'flock', details: signingKeyFacts(ring) }),
    )
    expect((await Promise.all(starts)).filter(Boolean)).toHaveLength(1)
    expect((await recorded()).map(({ event }) => event).toSorted()).toEqual([
      'KEY_ROTATED',
      'SETTINGS_CHANGED',
    ])
  }
})

it('a process of this version that finds the settings of an earlier one as they were says nothing', async () => {
  const startedWith = { process: 'earlier', details: signingKeyFacts(ringOf('k1')) }
  await recordSettings(store.pool, startedWith)
  await admin.query({ text: 'update recorded_settings set signing_key = null' })
  await admin.query({ text: 'delete from audit_outbox' })
  expect(await recordSettings(store.pool, startedWith)).toBe(false)
  await recordSettings(store.pool, {
    ...startedWith,
    details: signingKeyFacts(ringOf('k2', 'k1')),
  })
  expect((await recorded()).map(({ event }) => event)).toContain('KEY_ROTATED')
})

it('settings are recorded once the database answers, and what delivers cannot say that they were', async () => {
  const url = new URL(store.databaseUrl)
  const lines: string[] = []
  const logger = createLogger({
    service: 'test',
    destination: { write: (line) => lines.push(line) },
  })
  const startedWith = { process: 'receiver', details: signingKeyFacts(ringOf('k1')) }
  const recording = recordingSettings({ databaseUrl: url.href, startedWith, logger })
  await admin.query({ text: 'alter table recorded_settings rename to away' })
  await recording.start()
  await eventually(() => lines.some((line) => line.includes('settings.unrecorded')), {
    deadlineMs: 10_000,
    describe: 'a first try to fail',
  })
  await admin.query({ text: 'alter table away rename to recorded_settings' })
  await eventually(async () => (await recorded()).length === 1, {
    deadlineMs: 10_000,
    describe: 'the settings to be recorded',
  })
  await recording.stop()
  await expect(store.pool.query({ text: `delete from recorded_settings` })).rejects.toMatchObject({
    code: '42501',
  })
})

it('migrations are on record by name and digest, each once, also where the run that applied them could not say so', async () => {
  const migrations = [...(await storeMigrations()), { name: 'later', sha256: 'ab'.repeat(32) }]
  await recordMigrations(admin, ANN, migrations.slice(0, -1))
  await recordMigrations(admin, ANN, migrations)
  await recordMigrations(admin, ANN, migrations)
  const told = await recorded()
  expect(new Set(told.map(({ event, act }) => `${event} by ${act.actor}`))).toEqual(
    new Set(['MIGRATIONS_APPLIED by ann']),
  )
  const details = told.flatMap(({ operation }) => operation.details)
  expect(details).toEqual(
    migrations.map(({ name: value, sha256 }) => ({ code: 'MIGRATION', value, sha256 })),
  )
  await expect(recordMigrations(store.pool, ANN, migrations)).rejects.toThrow()
})

it('what cannot be recorded is not done', async () => {
  const nameless = { actor: 'J\u00f6rg' }
  const unrecordable = { code: 'BATON_OPERATION_UNRECORDABLE' }
  const key = newKey()
  await expect(makeApiKey(admin, nameless, key)).rejects.toMatchObject(unrecordable)
  await expect(openTenant(admin, nameless, 'initech')).rejects.toMatchObject(unrecordable)
  const keys = await listApiKeys(admin, { limit: 1_000 })
  expect(keys.map(({ id }) => id)).not.toContain(key.id)
  const tenants = await listTenants(admin)
  expect(tenants.map(({ tenant }) => tenant)).not.toContain('initech')
  expect(await recorded()).toEqual([])
})
