// BullMQ on Redis behind the transport contract: a queue that may lose jobs, never a store.
import type { Logger } from '@baton/runtime'
import { Worker } from 'bullmq'
import { startBullmqConsumer } from './bullmq-consumer.ts'
import type { WorkerBackend } from './bullmq-consumer.ts'
import { logErrors } from './bullmq-errors.ts'
import { createConsumers } from './consumers.ts'
import { consumerOptions, openRedis } from './redis-connection.ts'
import type { RedisClient, RedisServer } from './redis-connection.ts'
import { createRedisPublisher } from './redis-publisher.ts'
import type { PublisherOptions } from './redis-publisher.ts'
import type { Transport } from './transport.ts'

export interface RedisTransportOptions extends RedisServer {
  readonly logger: Logger
  /** First part of every key; installations that share a Redis need different ones. */
  readonly prefix?: string
}

/**
 * Creates the Redis transport. It connects in the background: `publish`, `missing` and `waiting`
 * reject with BATON_QUEUE_UNAVAILABLE (transient) within two seconds while Redis does not answer,
 * and consumers resume by themselves when it does.
 */
export function createRedisTransport({
  url,
  tls,
  logger,
  prefix = 'baton',
}: RedisTransportOptions): Transport {
  const server = { url, tls }
  const publisher = createRedisPublisher({ server, prefix, logger })
  const consumers = createConsumers()
  return {
    kind: 'redis',
    publish: publisher.publish,
    missing: publisher.missing,
    waiting: publisher.waiting,
    watermarks: publisher.watermarks,
    async consume(options) {
      const consumer = startBullmqConsumer({
        ...options,
        backend: redisBackend({ server, prefix, logger }),
        waiting: () => publisher.waiting(options.queue),
        logger,
      })
      return consumers.add(consumer)
    },
    async close() {
      await consumers.stop()
      await publisher.close()
    },
  }
}

function redisBackend({ server, prefix, logger }: PublisherOptions): WorkerBackend {
  // Once false, a connection that is lost ends instead of coming back.
  let wanted = true
  let connection: RedisClient | undefined
  return {
    openWorker(name, processor, settings) {
      connection?.disconnect()
      connection = openRedis(
        server,
        consumerOptions(() => wanted),
      )
      logErrors(connection, logger, `consumer ${name}`)
      return new Worker(name, processor, {
        ...settings,
        connection,
        prefix,
        skipVersionCheck: true,
      })
    },
    async letGo() {
      wanted = false
      connection?.disconnect()
    },
  }
}
