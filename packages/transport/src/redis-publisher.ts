// The sending side of BullMQ: everything goes through one connection.
import type { Logger } from '@baton/runtime'
import { Queue, QueueKeys } from 'bullmq'
import { availableWithin, logErrors, PUBLISH_TIMEOUT_MS } from './bullmq-errors.ts'
import { createBullmqQueues, queueNameOf } from './bullmq-queues.ts'
import type { PointerQueue } from './bullmq-queues.ts'
import { openRedis, publisherOptions } from './redis-connection.ts'
import type { RedisClient, RedisServer } from './redis-connection.ts'
import type {
  Job,
  JobReference,
  NextWatermark,
  QueueWatermark,
  QueueWatermarks,
} from './transport.ts'

export interface RedisPublisher {
  publish(jobs: readonly Job[]): Promise<void>
  missing(jobs: readonly JobReference[]): Promise<readonly string[]>
  waiting(queue: string): Promise<number>
  readonly watermarks: QueueWatermarks
  close(): Promise<void>
}

export interface PublisherOptions {
  readonly server: RedisServer
  readonly prefix: string
  readonly logger: Logger
}

/** BullMQ writes four stream entries per job that nobody here reads: keep the stream short. */
const EVENTS_KEPT = 100
/** One server of several that takes longer is left out of the answer, which is due within PUBLISH_TIMEOUT_MS. */
const SERVER_TIMEOUT_MS = PUBLISH_TIMEOUT_MS - 500
/** Longer than Postgres keeps a watermark that nobody renews. */
const KEPT_SECONDS = 2 * 3_600

// A watermark is never written over the place of one that was lost: the loss would go unseen.
const WRITE = `
if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`

type KeyOf = (agentType: string, part: string) => string

/** Connects in the background; every call fails within two seconds where Redis does not answer. */
export function createRedisPublisher(options: PublisherOptions): RedisPublisher {
  const redis = openRedis(options.server, publisherOptions)
  logErrors(redis, options.logger, 'publisher')
  const queues = createBullmqQueues((name) => openQueue(redis, name, options))
  const keys = new QueueKeys(options.prefix)
  const keyOf = (agentType: string, part: string): string =>
    keys.toKey(queueNameOf(agentType), part)
  // The first request may come before the first connection; later ones fail at once without one.
  const opened = new Promise<void>((resolve) => {
    redis.once('ready', () => resolve()).once('end', () => resolve())
  })
  const bounded = <Result>(work: () => Promise<Result>): Promise<Result> =>
    availableWithin(PUBLISH_TIMEOUT_MS, opened.then(work))
  return {
    publish: (jobs) => bounded(() => queues.publish(jobs)),
    missing: (jobs) => bounded(() => findMissing(redis, jobs, keyOf)),
    waiting: (agentType) => bounded(() => countWaiting(redis, agentType, keyOf)),
    watermarks: {
      write: (watermarks) => bounded(() => writeWatermarks(redis, watermarks, keyOf)),
      read: (watermarks) => bounded(() => readWatermarks(redis, watermarks, keyOf)),
    },
    async close() {
      await queues.close()
      redis.disconnect()
    },
  }
}

function openQueue(
  connection: RedisClient,
  name: string,
  { prefix, logger }: PublisherOptions,
): PointerQueue {
  const queue: PointerQueue = new Queue(name, {
    connection,
    prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT } },
  })
  logErrors(queue, logger, 'publisher')
  return queue
}

// A finished job is kept for a while, yet it starts no handler any more. One pipeline a queue: those of a Cluster live on different servers.
async function findMissing(
  redis: RedisClient,
  jobs: readonly JobReference[],
  keyOf: KeyOf,
): Promise<readonly string[]> {
  const byQueue = [...Map.groupBy(jobs, ({ queue }) => queue).values()]
  const missing = await ofThoseThatAnswer(
    byQueue.map((group) => findMissingOfQueue(redis, group, keyOf)),
  )
  return missing.flatMap((ids) => ids ?? [])
}

async function findMissingOfQueue(
  redis: RedisClient,
  jobs: readonly JobReference[],
  keyOf: KeyOf,
): Promise<readonly string[]> {
  const pipeline = redis.pipeline()
  for (const { queue, jobId } of jobs)
    pipeline.hmget(keyOf(queue, jobId), 'timestamp', 'finishedOn')
  const replies = (await pipeline.exec()) ?? []
  return jobs.filter((_, index) => isGone(replies[index])).map(({ jobId }) => jobId)
}

/** Of a Cluster some servers may be away: what they have is undefined. Rejects where none answers. */
async function ofThoseThatAnswer<Answer>(
  asked: readonly Promise<Answer>[],
): Promise<readonly (Answer | undefined)[]> {
  const answers = await Promise.allSettled(
    asked.map((one) => availableWithin(SERVER_TIMEOUT_MS, one)),
  )
  const [first] = answers
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected'))
    throw first.reason
  return answers.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
}

function isGone(reply: readonly [Error | null, unknown] | undefined): boolean {
  if (reply === undefined) throw new Error('Redis left a command unanswered')
  const [error, fields] = reply
  if (error !== null) throw error
  const [addedAt, finishedAt] = fields as (string | null)[]
  return addedAt === null || typeof finishedAt === 'string'
}

async function countWaiting(redis: RedisClient, agentType: string, keyOf: KeyOf): Promise<number> {
  const [plain, prioritized] = await Promise.all([
    redis.llen(keyOf(agentType, 'wait')),
    redis.zcard(keyOf(agentType, 'prioritized')),
  ])
  return plain + prioritized
}

const watermarkKey = ({ queue, relay }: QueueWatermark, keyOf: KeyOf): string =>
  keyOf(queue, `mark:${relay}`)

// One command a key: the queues of a Redis Cluster live in different slots.
async function writeWatermarks(
  redis: RedisClient,
  watermarks: readonly NextWatermark[],
  keyOf: KeyOf,
): Promise<readonly boolean[]> {
  const replies = await Promise.all(
    watermarks.map((one) => {
      const values = [one.previous ?? '', one.watermark, KEPT_SECONDS]
      return redis.eval(WRITE, 1, watermarkKey(one, keyOf), ...values)
    }),
  )
  return replies.map((reply) => reply === 1)
}

async function readWatermarks(
  redis: RedisClient,
  watermarks: readonly QueueWatermark[],
  keyOf: KeyOf,
): Promise<readonly (number | null | undefined)[]> {
  const asked = watermarks.map(async (one) => {
    const reply = await redis.get(watermarkKey(one, keyOf))
    return reply === null ? null : Number(reply)
  })
  return ofThoseThatAnswer(asked)
}
