// Whoever is told of events costs nothing while nothing can be told: neither a consumer that refuses everything, nor a secret that nobody can read.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEventDeliveries, createEventSecrets, newWebhookSecret } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import { addEvents, makeSubscription, measureEventDeliveries } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const EVENTS = 150
/** As many refused events as wait before nothing new is tried. */
const WAITING_MAX = 100

let store: StoreFixture
const consumer = createServer((request, response) => {
  request.resume()
  response.writeHead(400).end()
})
beforeAll(async () => {
  store = await openStore('deliver events')
  await new Promise<void>((resolve) => consumer.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await store.close()
  consumer.closeAllConnections()
  consumer.close()
})

it('rests', async () => {
  const secrets = createEventSecrets('the key')
  const made = {
    tenant: 'default',
    url: `http://127.0.0.1:${(consumer.address() as AddressInfo).port}/`,
    mode: 'structured' as const,
    filters: '[]',
    madeBy: 'ann',
    requestSha256: null,
    position: 0,
  }
  for (const [name, by] of [
    ['refuses', secrets],
    ['unread', createEventSecrets('another key')],
  ] as const) {
    const id = randomUUID()
    const secret = by.encrypt(newWebhookSecret(), id)
    await makeSubscription(store.pool, { ...made, id, name, secret }, 9)
  }
  const events = Array.from({ length: EVENTS }, () => ({
    id: randomUUID(),
    tenant: 'default',
    body: JSON.stringify({ subject: randomUUID() }),
    subscriptionId: null,
  }))
  await addEvents(store.pool, events)
  const deliveries = createEventDeliveries({
    pool: store.pool,
    secrets,
    isPrivateAllowed: () => true,
    times: { lookMs: 50, callMs: 5_000, endMs: 3_600_000 },
    metrics: createMetrics(),
    logger: createLogger({ service: 'test', level: 'fatal' }),
  })
  await deliveries.start()
  const resting = () =>
    store.rows<{ name: string }>(`select name from event_subscription
      where lease_until is null and due_at > clock_timestamp() + interval '2 s' order by name`)
  try {
    await eventually(async () => (await resting()).length === 2, {
      deadlineMs: 10_000,
      describe: 'both rest',
    })
  } finally {
    await deliveries.stop()
  }
  expect(await measureEventDeliveries(store.pool)).toEqual({ waiting: WAITING_MAX, dead: 0 })
})
