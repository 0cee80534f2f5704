// How much waits, in all and for each agent type, and whether anybody is there to take it.
import {
  addTenant,
  outboxDepth,
  outboxQueueDepths,
  registerAgents,
  sendHandoffs,
} from '@baton/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const seconds = (about: number) => expect.closeTo(about, -1)
const BOUNDS = { queueMax: 100, criticalMax: 100, tenantMax: 100 }
const asked = (...queues: string[]) => queues.map((queue) => ({ queue, tenant: null }))

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('outbox depth')
  const to = (toAgent: string, priority: number) => newHandoff({ toAgent, priority })
  await sendHandoffs(store.pool, [
    to('reviewer', 0),
    to('reviewer', 0),
    to('reviewer', 3),
    to('reviewer', 3),
    to('reviewer', 3),
    to('archivist', 2),
  ])
  await store.rows(`update outbox
    set created_at = now() - case priority when 3 then 90 else 30 end * interval '1 second'
    where queue = 'reviewer'`)
})
afterAll(() => store.close())

it('is told for all and for each queue', async () => {
  expect(await outboxDepth(store.pool)).toEqual({ depth: 6, oldestAgeSeconds: seconds(30) })
  const depths = await outboxQueueDepths(
    store.pool,
    asked('reviewer', 'archivist', 'nobody'),
    BOUNDS,
  )
  const all = { tenant: 'default', tenantDepth: 6, hosted: false, criticalDepth: 0 }
  expect(depths).toEqual([
    { ...all, queue: 'reviewer', depth: 5, criticalDepth: 2, oldestAgeSeconds: seconds(90) },
    { ...all, queue: 'archivist', depth: 1, oldestAgeSeconds: seconds(0) },
    { ...all, queue: 'nobody', depth: 0, oldestAgeSeconds: 0 },
  ])
})

it('is counted no further than asked', async () => {
  expect(await outboxDepth(store.pool, 3)).toMatchObject({ depth: 4 })
  const bounds = { queueMax: 3, criticalMax: 2, tenantMax: 4 }
  expect(await outboxQueueDepths(store.pool, asked('reviewer'), bounds)).toMatchObject([
    { depth: 4, tenantDepth: 5 },
  ])
})

it('tells what is of priority 0 of a tenant and agent type, counted no further than asked', async () => {
  const [none] = await outboxQueueDepths(store.pool, asked('archivist'), BOUNDS)
  expect(none).toMatchObject({ depth: 1, criticalDepth: 0 })
  await store.rows(`update outbox set priority = 0 where queue = 'reviewer'`)
  const [all, other] = await outboxQueueDepths(store.pool, asked('reviewer', 'archivist'), BOUNDS)
  expect(all?.criticalDepth).toBe(all?.depth)
  expect(other).toMatchObject({ depth: 1, criticalDepth: 0 })
  const bounds = { ...BOUNDS, criticalMax: 2 }
  expect(await outboxQueueDepths(store.pool, asked('reviewer'), bounds)).toMatchObject([
    { criticalDepth: 2 },
  ])
  await store.rows(`update outbox set priority = 2 where queue = 'reviewer'`)
})

it('names as hosted what a worker was seen to host within 30 seconds', async () => {
  const agent = { requires: [], capabilities: [], mcp: [] }
  const types = ['reviewer', 'archivist']
  const agents = types.map((type) => ({ ...agent, type, version: '1.0.0' }))
  await registerAgents(store.pool, newHandoff().handoffId, agents)
  await store.rows(
    `update agent_registration set seen_at = now() - interval '31 seconds' where type = 'archivist'`,
  )
  const depths = await outboxQueueDepths(store.pool, asked(...types), BOUNDS)
  expect(depths.filter(({ hosted }) => hosted).map(({ queue }) => queue)).toEqual(['reviewer'])
})

it('is counted for each tenant, whoever else sends to the same type', async () => {
  for (const tenant of ['acme', 'globex']) await addTenant(store.superuser, tenant)
  await store.superuser.query({
    text: `insert into tenant_grant (tenant, agent_type, granted_by) values ('globex', 'acme/reader', 'test')`,
  })
  const from = (tenant: string, toAgent: string) =>
    newHandoff({ tenant, toAgent, fromAgent: `${tenant}/a` })
  await sendHandoffs(store.pool, [
    from('acme', 'acme/reader'),
    from('globex', 'acme/reader'),
    from('globex', 'acme/reader'),
    from('globex', 'globex/reader'),
  ])
  const depths = await outboxQueueDepths(
    store.pool,
    [null, 'acme', 'globex'].map((tenant) => ({ queue: 'acme/reader', tenant })),
    BOUNDS,
  )
  expect(depths.map(({ tenant, depth, tenantDepth }) => [tenant, depth, tenantDepth])).toEqual([
    ['acme', 1, 1],
    ['acme', 1, 1],
    ['globex', 2, 3],
  ])
})
