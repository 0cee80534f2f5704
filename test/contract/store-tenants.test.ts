// Row-level security on a real Postgres: a session that acts for a tenant gets that tenant's rows, whatever it asks for.
import { randomUUID } from 'node:crypto'
import {
  addTenant,
  claimOutbox,
  createPool,
  createTenantPool,
  findTenantOfAgent,
  grantAgent,
  listClassesOf,
  listPriorityClasses,
  listTenants,
  sendHandoffs,
} from '@baton/store'
import type { NewHandoff, Pool } from '@baton/store'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
let acting: string | undefined
let own: Pool
beforeAll(async () => {
  store = await openStore('tenants')
  for (const tenant of ['acme', 'globex']) await addTenant(store.superuser, tenant)
  own = createTenantPool(
    { url: store.databaseUrl, applicationName: 'test', connectionsMax: 2 },
    () => {
      if (acting === undefined) throw new TypeError('nobody acts')
      return acting
    },
  )
})
afterAll(async () => {
  await own?.end()
  await store?.close()
})

const of = (tenant: string | null, changes: Partial<NewHandoff> = {}): NewHandoff => ({
  ...newHandoff(),
  fromAgent: tenant === null ? 'a' : `${tenant}/a`,
  toAgent: tenant === null ? 'b' : `${tenant}/b`,
  tenant,
  ...changes,
})

const kinds = async (handoffs: readonly NewHandoff[]) =>
  (await sendHandoffs(store.pool, handoffs)).map(({ kind }) => kind)

/** The ids that a session of this tenant finds in a table. */
async function seenBy(tenant: string, table: string, column = 'handoff_id'): Promise<string[]> {
  acting = tenant
  const text = `select ${column} as id from ${table} order by 1`
  return (await own.query<{ id: string }>({ text })).rows.map(({ id }) => id)
}

/** Tables of which no row is a tenant's. */
const OF_NOBODY = [
  'api_key',
  'event_head',
  'event_position',
  'kysely_migration',
  'kysely_migration_lock',
  'queue_watermark',
  'receipt_check',
  'recorded_migration',
  'recorded_ruleset',
  'recorded_settings',
  'shadow_difference',
  'subject_pepper',
  'tenant',
  'tenant_grant',
  'told_operation',
]

it('every table says whose its rows are, or is of nobody', async () => {
  const rows = await store.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and not relrowsecurity order by 1`,
  )
  expect(rows.map(({ name }) => name)).toEqual(OF_NOBODY)
})

it('every other table shows a tenant less than all, and who acts for all tenants everything', async () => {
  const rows = await store.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relrowsecurity
       and not (
         exists (select from pg_policies p where p.tablename = relname and p.policyname = 'of_tenant'
           and p.roles = '{baton_tenant}' and p.qual <> 'true')
         and exists (select from pg_policies p where p.tablename = relname and p.policyname = 'of_all' and p.qual = 'true'))`,
  )
  expect(rows).toEqual([])
  const beyond = await store.rows(
    `select tablename, policyname from pg_policies where schemaname = 'public' and qual = 'true'
       and roles && '{baton_tenant, public}'::name[]`,
  )
  expect(beyond).toEqual([])
})

it('a session for a tenant reaches no table of nobody, but the names of tenants', async () => {
  acting = 'acme'
  for (const table of OF_NOBODY.filter((name) => !name.startsWith('tenant')))
    await expect(own.query({ text: `select from ${table}` })).rejects.toMatchObject({
      code: '42501',
    })
})

it('a session of a role that no migration has made yet says what to run', async () => {
  const early = createPool({
    url: store.databaseUrl,
    applicationName: 'test',
    role: 'baton_of_tomorrow',
  })
  onTestFinished(() => early.end())
  await expect(listTenants(early)).rejects.toMatchObject({
    code: 'BATON_SCHEMA_OUTDATED',
    fix: expect.stringContaining('baton migrate'),
  })
})

it('what delivers cannot add tenants or grants', async () => {
  await expect(addTenant(store.pool, 'initech')).rejects.toMatchObject({
    code: 'BATON_DATABASE_REFUSED',
  })
  const grant = { tenant: 'acme', agentType: 'globex/b', grantedBy: 'x' }
  await expect(grantAgent(store.pool, grant)).rejects.toMatchObject({
    code: 'BATON_DATABASE_REFUSED',
  })
  expect((await listTenants(store.pool)).map(({ tenant }) => tenant)).toEqual([
    'acme',
    'default',
    'globex',
  ])
})

it.each([
  ['acme/reader', 'acme'],
  ['globex/a/b', 'globex'],
  ['reader', 'default'],
  ['initech/reader', 'default'],
  ['acme', 'default'],
  ['/reader', 'default'],
  ['acme /reader', 'default'],
])('the agent %j is of the tenant %s', async (agent, tenant) => {
  expect(await findTenantOfAgent(store.pool, agent)).toBe(tenant)
})

describe('a set that mixes tenants', () => {
  const taskId = randomUUID()
  const ofAcme = of('acme', { taskId })
  const ofGlobex = of('globex')
  const ofNobody = of(null)

  it('sends each for its own, and refuses what is another’s', async () => {
    const set = [
      ofAcme,
      ofGlobex,
      ofNobody,
      of('globex', { taskId }),
      of('acme', { toAgent: 'globex/b' }),
      of('acme', { fromAgent: 'globex/a' }),
      { ...of('globex'), handoffId: ofAcme.handoffId },
    ]
    expect(await kinds(set.slice(0, 3))).toEqual(['sent', 'sent', 'sent'])
    expect(await kinds(set)).toEqual([
      'duplicate',
      'duplicate',
      'duplicate',
      'task_of_other',
      'agent_of_other',
      'agent_of_other',
      'conflict',
    ])
  })

  it('of two tenants that begin one task in one set, the first has it', async () => {
    const both = { taskId: randomUUID() }
    expect(await kinds([of('acme', both), of('globex', both)])).toEqual(['sent', 'task_of_other'])
  })

  it('what is handed on without saying for whom is of whose the task is', async () => {
    const next = of('acme', { taskId, tenant: null, parentId: ofAcme.handoffId })
    expect(await kinds([next])).toEqual(['sent'])
    expect(await seenBy('acme', 'handoff', 'id')).toContain(next.handoffId)
    expect(await kinds([{ ...next, ...newIds(), toAgent: 'globex/b' }])).toEqual(['agent_of_other'])
  })

  it.each(['handoff_body', 'outbox'])('%s shows each what is its own', async (table) => {
    expect(await seenBy('globex', table)).toEqual([ofGlobex.handoffId])
    expect(await seenBy('acme', table)).not.toContain(ofGlobex.handoffId)
    expect(await seenBy('default', table)).toEqual([ofNobody.handoffId])
    expect(await seenBy('initech', table)).toEqual([])
  })

  it('changes nothing of others, and gives nothing away to them', async () => {
    acting = 'globex'
    const change = (text: string) => own.query({ text, values: [ofAcme.handoffId] })
    expect((await change('update handoff set attempts_max = 9 where id = $1')).rowCount).toBe(0)
    expect((await change('delete from handoff_body where handoff_id = $1')).rowCount).toBe(0)
    await expect(
      own.query({
        text: `update handoff set tenant = 'acme' where id = $1`,
        values: [ofGlobex.handoffId],
      }),
    ).rejects.toMatchObject({ code: '42501' })
  })
})

const newIds = () => ({ handoffId: randomUUID(), checkpointId: randomUUID() })

describe('a session', () => {
  it('asks nothing where nobody says for whom', async () => {
    acting = undefined
    await expect(own.query({ text: 'select from task' })).rejects.toThrow('nobody acts')
  })

  it('sees nothing until it is told for whom it acts', async () => {
    const text = 'set role baton_tenant'
    const client = await store.pool.connect()
    await client.query(text)
    expect((await client.query('select id from task')).rows).toEqual([])
    client.release(true)
  })

  it('acts for whoever asks next, on the same connection', async () => {
    const seen: number[] = []
    for (const tenant of ['acme', 'globex', 'acme', 'initech', 'globex'])
      seen.push((await seenBy(tenant, 'task', 'id')).length)
    expect(seen).toEqual([2, 1, 2, 0, 1])
  })

  it('acts for one tenant through a whole transaction, whatever others ask meanwhile', async () => {
    acting = 'acme'
    const client = await own.connect()
    await client.query('begin')
    const [, mixed] = [
      await seenBy('globex', 'task', 'id'),
      await client.query('select id from task'),
    ]
    expect(mixed.rows).toHaveLength(2)
    await client.query('rollback')
    client.release()
  })
})

it('what waits is listed for each tenant by itself, at most so much of each, from where the last list ended', async () => {
  await store.rows('delete from outbox')
  await store.superuser.query({
    text: `insert into tenant_grant (tenant, agent_type, granted_by) values ('globex', 'acme/shared', 'test')`,
  })
  const to = (tenant: string | null, toAgent: string) => of(tenant, { toAgent, priority: 2 })
  await sendHandoffs(store.pool, [
    ...['acme/a', 'acme/b', 'acme/shared'].map((type) => to('acme', type)),
    to('globex', 'acme/shared'),
    to(null, 'acme-like'),
  ])
  const listed = async (perTenantMax: number, ...after: [string, string][]) =>
    (await listPriorityClasses(store.pool, { perTenantMax, after: new Map(after) })).map(
      ({ tenant, queue, granted }) => `${tenant} ${queue}${granted ? ' granted' : ''}`,
    )
  expect(await listed(2)).toEqual([
    'acme acme/a',
    'acme acme/b',
    'default acme-like',
    'globex acme/shared granted',
  ])
  expect(await listed(2, ['acme', 'acme/b'], ['globex', 'acme/shared'])).toEqual([
    'acme acme/shared',
    'default acme-like',
  ])
  const shared = await listClassesOf(store.pool, ['acme/shared', 'nobody'])
  expect(shared.map(({ tenant, granted }) => [tenant, granted])).toEqual([
    ['acme', false],
    ['globex', true],
  ])
  const quota = { queue: 'acme/shared', priority: 2, afterSeq: 0, limit: 9 }
  const claimed = await claimOutbox(store.pool, [{ ...quota, tenant: 'globex' }])
  expect(claimed.map(({ tenant, queue }) => [tenant, queue])).toEqual([['globex', 'acme/shared']])
})
