// However much waits for delivery, Redis holds only so much of it; the rest waits in Postgres and follows.
import { createLogger } from '@baton/runtime'
import { createRelay } from '@baton/engine'
import { outboxDepth, sendHandoffs } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { acquireRedis, describeWith, eventually, uniqueName } from '@baton/testkit'
import { createRedisTransport } from '@baton/transport'
import { expect, it } from 'vitest'
import { newHandoff, openStore } from '../contract/store-fixture.ts'
import { handledBy } from '../contract/transport-contract-kit.ts'

const WAITING_MAX = 100
/** One claim may be under way when the mark is reached. */
const BATCH_MAX = 200
const SENT = 1_000
const DEADLINE = { deadlineMs: 20_000 }
const logger = createLogger({ service: 'test', level: 'silent' })

describeWith('the high-water mark of a queue', await acquireRedis(), ({ url }) => {
  it('bounds what waits in Redis, and everything arrives once somebody consumes', async () => {
    const store = await openStore('water mark')
    const transport = createRedisTransport({ url, logger, prefix: uniqueName('water') })
    await sendHandoffs(
      store.pool,
      Array.from({ length: SENT }, () => newHandoff()),
    )
    const { pool, databaseUrl } = store
    const metrics = createMetrics()
    const parts = { pool, databaseUrl, transport, waitingMax: WAITING_MAX, metrics, logger }
    const relay = createRelay(parts)
    await relay.start()
    await eventually(async () => (await transport.waiting('reviewer')) >= WAITING_MAX, {
      ...DEADLINE,
      describe: 'the mark is reached',
    })
    // Another queue goes on meanwhile, which shows that the relay had time to publish more.
    await sendHandoffs(store.pool, [newHandoff({ toAgent: 'archivist' })])
    await handledBy(transport, 'archivist').reaches(1)
    const waiting = await transport.waiting('reviewer')
    expect(waiting).toBeLessThanOrEqual(WAITING_MAX + BATCH_MAX)
    await eventually(async () => (await outboxDepth(store.pool)).depth === SENT - waiting, {
      ...DEADLINE,
      describe: 'the rest waits in Postgres',
    })
    await handledBy(transport, 'reviewer', 32).reaches(SENT, DEADLINE.deadlineMs)
    await relay.stop()
    await transport.close()
    await store.close()
  })
})
