// How much waits, in all and for each agent type, and whether anybody is there to take it.
import { outboxDepth, outboxQueueDepths, registerAgents, sendHandoffs } from '@baton/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const seconds = (about: number) => expect.closeTo(about, -1)

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
  const depths = await outboxQueueDepths(store.pool, ['reviewer', 'archivist', 'nobody'], 100)
  expect(depths.toSorted((a, b) => b.depth - a.depth)).toEqual([
    { queue: 'reviewer', depth: 5, hosted: false, oldestAgeSeconds: seconds(90) },
    { queue: 'archivist', depth: 1, hosted: false, oldestAgeSeconds: seconds(0) },
    { queue: 'nobody', depth: 0, hosted: false, oldestAgeSeconds: 0 },
  ])
})

it('is counted no further than asked', async () => {
  expect(await outboxDepth(store.pool, 3)).toMatchObject({ depth: 4 })
  expect(await outboxQueueDepths(store.pool, ['reviewer'], 3)).toMatchObject([{ depth: 4 }])
})

it('names as hosted what a worker was seen to host within 30 seconds', async () => {
  const agent = { requires: [], capabilities: [], mcp: [] }
  const types = ['reviewer', 'archivist']
  const agents = types.map((type) => ({ ...agent, type, version: '1.0.0' }))
  await registerAgents(store.pool, newHandoff().handoffId, agents)
  await store.rows(
    `update agent_registration set seen_at = now() - interval '31 seconds' where type = 'archivist'`,
  )
  const depths = await outboxQueueDepths(store.pool, types, 100)
  expect(depths.filter(({ hosted }) => hosted).map(({ queue }) => queue)).toEqual(['reviewer'])
})
