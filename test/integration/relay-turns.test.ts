// A relay takes turns between tenants: what one floods another's agent type or its own with delays nobody else's.
import { createRelay } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import { addTenant, grantAgent, sendHandoffs } from '@baton/store'
import type { NewHandoff } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import type { Transport } from '@baton/transport'
import { createInProcessTransport } from '@baton/transport/in-process'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { newHandoff, openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'

const FLOOD = 1_000
/** What a claim holds, of which two tenants have half each. */
const BATCH_MAX = 200
const GRANTED_WAITING_MAX = 64
const logger = createLogger({ service: 'test', level: 'silent' })

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('relay turns')
  for (const tenant of ['acme', 'globex']) await addTenant(store.superuser, tenant)
  const grant = { tenant: 'acme', agentType: 'globex/shared', grantedBy: 'test' }
  await grantAgent(store.superuser, grant)
})
afterAll(() => store?.close())
beforeEach(async () => void (await store.rows('delete from outbox')))

const of = (tenant: string, toAgent: string): NewHandoff => ({
  ...newHandoff({ tenant, toAgent }),
  fromAgent: `${tenant}/sender`,
})
const many = (one: (nth: number) => NewHandoff) =>
  Array.from({ length: FLOOD }, (_, nth) => one(nth))

/** Sends in this order and relays to a queue that nobody reads; answers the handoffs in the order in which they went out. */
async function relayed(handoffs: readonly NewHandoff[], until: (sent: string[]) => boolean) {
  await sendHandoffs(store.pool, handoffs)
  const sent: string[] = []
  const queue = createInProcessTransport({ logger })
  const transport: Transport = {
    ...queue,
    waiting: async () => sent.length,
    publish: async (jobs) => void sent.push(...jobs.map(({ pointer }) => pointer.handoffId)),
  }
  const { pool, databaseUrl } = store
  const parts = { pool, databaseUrl, transport, waitingMax: 1_000_000, logger }
  const relay = createRelay({ ...parts, metrics: createMetrics() })
  await relay.start()
  await eventually(() => until(sent), { deadlineMs: 20_000, describe: 'it went out' })
  await relay.stop()
  await queue.close()
  return sent
}

it('one that floods many agent types of its own leaves the next tenant its half of the first claim', async () => {
  const last = of('globex', 'globex/reader')
  const flood = many((nth) => of('acme', `acme/type-${nth}`))
  const sent = await relayed([...flood, last], (out) => out.length > FLOOD)
  expect(sent.indexOf(last.handoffId)).toBeLessThan(BATCH_MAX)
  expect(new Set(sent).size).toBe(FLOOD + 1)
})

it('what was granted waits in Postgres while the queue of the other’s agent type is busy, whose own goes on', async () => {
  const flood = many(() => of('acme', 'globex/shared'))
  const own = Array.from({ length: BATCH_MAX }, () => of('globex', 'globex/shared'))
  const last = own.at(-1)?.handoffId ?? ''
  const sent = await relayed([...flood, ...own], (out) => out.includes(last))
  expect(sent.length - own.length).toBeLessThanOrEqual(GRANTED_WAITING_MAX + BATCH_MAX)
})
