// A worker that stops fetching from a real Redis is made anew; when that does not help either, its process is told.
import { createLogger } from '@baton/runtime'
import { acquireRedis, describeWith, eventually, uniqueName } from '@baton/testkit'
import { createRedisTransport, queueNameOf, startBullmqConsumer } from '@baton/transport'
import type { WorkerBackend } from '@baton/transport'
import { Worker } from 'bullmq'
import { expect, it } from 'vitest'
import { jobs } from '../contract/transport-contract-kit.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
const STUCK_MS = 250
const DEADLINE = { deadlineMs: 30_000 }

describeWith('a worker that stops fetching', await acquireRedis(), ({ url }) => {
  function consumerWith(stuckWorkers: number) {
    const prefix = uniqueName('watchdog')
    const queue = uniqueName('queue')
    const transport = createRedisTransport({ url, logger, prefix })
    const seen: string[] = []
    const errors: Error[] = []
    const looks = { count: 0 }
    const workers: Worker[] = []
    const backend: WorkerBackend = {
      openWorker(name, processor, settings) {
        const autorun = workers.length >= stuckWorkers
        const connection = { url, maxRetriesPerRequest: null }
        const worker = new Worker(name, processor, { ...settings, connection, prefix, autorun })
        workers.push(worker)
        return worker
      },
      letGo: async () => undefined,
    }
    const consumer = startBullmqConsumer({
      queue,
      concurrency: 2,
      handle: async ({ handoffId }) => void seen.push(handoffId),
      onStuck: (error) => errors.push(error),
      backend,
      waiting: () => {
        looks.count += 1
        return transport.waiting(queue)
      },
      stuckMs: STUCK_MS,
      logger,
    })
    const close = () => Promise.all([consumer.stop(), transport.close()])
    return { queue, transport, seen, errors, looks, workers, consumer, close }
  }

  it('is left alone while nothing waits, and made anew once something does', async () => {
    const { queue, transport, seen, looks, workers, errors, close } = consumerWith(1)
    await eventually(() => looks.count > 10, { ...DEADLINE, describe: 'ten looks' })
    expect(workers).toHaveLength(1)
    await transport.publish(jobs(queue, 3))
    await eventually(() => seen.length === 3, { ...DEADLINE, describe: 'all three to be handled' })
    expect(workers).toHaveLength(2)
    expect(workers[0]?.name).toBe(queueNameOf(queue))
    expect(errors).toEqual([])
    await close()
  })

  it('is reported once when the new one does not fetch either', async () => {
    const { queue, transport, errors, workers, close } = consumerWith(2)
    await transport.publish(jobs(queue, 1))
    await eventually(() => errors.length > 0, { ...DEADLINE, describe: 'the report' })
    expect(errors).toMatchObject([{ kind: 'permanent', code: 'BATON_CONSUMER_STUCK' }])
    expect(workers).toHaveLength(2)
    await close()
  })

  it('is not suspected while it is paused', async () => {
    const paused = consumerWith(1)
    await paused.consumer.pause()
    await paused.transport.publish(jobs(paused.queue, 1))
    const other = consumerWith(2)
    await other.transport.publish(jobs(other.queue, 1))
    await eventually(() => other.errors.length > 0, { ...DEADLINE, describe: 'the other report' })
    expect(paused.workers).toHaveLength(1)
    expect(paused.looks.count).toBe(0)
    await Promise.all([paused.close(), other.close()])
  })
})
