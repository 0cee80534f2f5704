// EXPERIMENTAL: BullMQ on Postgres behind the transport contract, for several processes without Redis.
// It keeps the contract, but at about a twentieth of Redis's rate and with waits of seconds under
// load; nothing chooses it by default.
import { setMaxListeners } from 'node:events'
import type { EventEmitter } from 'node:events'
import type { Logger } from '@baton/runtime'
import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq'
import type { PgPool } from 'bullmq'
import { startBullmqConsumer } from './bullmq-consumer.ts'
import type { WorkerBackend } from './bullmq-consumer.ts'
import { logErrors, PUBLISH_TIMEOUT_MS, within } from './bullmq-errors.ts'
import { createBullmqQueues } from './bullmq-queues.ts'
import type { BullmqQueues, PointerQueue } from './bullmq-queues.ts'
import type { Consumer, JobReference, Transport } from './transport.ts'

/** The schema all pools of this transport must have as their search_path. */
export const BULLMQ_SCHEMA = 'bullmq'

export interface BullmqPostgresTransportOptions {
  /**
   * Opens a pool whose connections have `search_path=bullmq`. Called once for publishing and once
   * per consumer, which keeps one connection for LISTEN. The transport ends the pools it opened.
   */
  readonly openPool: () => PgPool
  readonly logger: Logger
}

/** Creates or upgrades BullMQ's tables. Run it before opening the transport; safe to repeat. */
export async function migrateBullmqPostgres(pool: PgPool): Promise<void> {
  const client = await pool.connect()
  try {
    await runMigrations(client, BULLMQ_SCHEMA)
  } finally {
    client.release()
  }
}

/** Creates the experimental transport; its publications fail as those of the Redis transport do. */
export function createBullmqPostgresTransport({
  openPool,
  logger,
}: BullmqPostgresTransportOptions): Transport {
  const pool = openSharedPool(openPool, logger)
  const queues = createBullmqQueues((name) => openQueue(pool, name, logger))
  const consumers: Consumer[] = []
  let closing: Promise<void> | undefined
  async function closeAll(): Promise<void> {
    await Promise.all(consumers.map((consumer) => consumer.stop()))
    await queues.close()
    await pool.end()
  }
  const waiting = (agentType: string) =>
    within(PUBLISH_TIMEOUT_MS, queues.of(agentType).getJobCountByTypes('waiting', 'prioritized'))
  return {
    kind: 'postgres',
    marks: null,
    publish: (jobs) => within(PUBLISH_TIMEOUT_MS, queues.publish(jobs)),
    missing: (jobs) => within(PUBLISH_TIMEOUT_MS, findMissing(queues, jobs)),
    waiting,
    async consume(options) {
      const backend = postgresBackend(openSharedPool(openPool, logger))
      const consumer = startBullmqConsumer({
        ...options,
        backend,
        waiting: () => waiting(options.queue),
        logger,
      })
      consumers.push(consumer)
      return consumer
    },
    close: () => (closing ??= closeAll()),
  }
}

// Every BullMQ object on a pool adds its own listener.
function openSharedPool(openPool: () => PgPool, logger: Logger): PgPool {
  const pool = openPool()
  setMaxListeners(0, pool as unknown as EventEmitter)
  logErrors(pool, logger, 'postgres pool')
  return pool
}

function openQueue(connection: PgPool, name: string, logger: Logger): PointerQueue {
  const queue = new Queue(name, { connection }, createPostgresBackend) as unknown as PointerQueue
  logErrors(queue, logger, 'publisher')
  return queue
}

async function findMissing(
  queues: BullmqQueues,
  jobs: readonly JobReference[],
): Promise<readonly string[]> {
  const found = await Promise.all(jobs.map(({ queue, jobId }) => queues.of(queue).getJob(jobId)))
  return jobs
    .filter((_, index) => found[index] === undefined || found[index].finishedOn !== undefined)
    .map(({ jobId }) => jobId)
}

function postgresBackend(pool: PgPool): WorkerBackend {
  return {
    openWorker: (name, processor, settings) =>
      new Worker(name, processor, { ...settings, connection: pool }, createPostgresBackend),
    letGo: () => pool.end(),
  }
}
