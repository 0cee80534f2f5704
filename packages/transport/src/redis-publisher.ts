// The sending side of the Redis doorbell: one connection, one BullMQ queue object per agent type.
import type { Logger } from '@baton/runtime'
import { Queue, QueueKeys } from 'bullmq'
import { Redis } from 'ioredis'
import { logErrors, PUBLISH_TIMEOUT_MS, publisherOptions, within } from './redis-connection.ts'
import { queueNameOf } from './queue-name.ts'
import { jobIdOf } from './transport.ts'
import type { Job, JobReference, Pointer } from './transport.ts'

export interface RedisPublisher {
  publish(jobs: readonly Job[]): Promise<void>
  missing(jobs: readonly JobReference[]): Promise<readonly string[]>
  waiting(queue: string): Promise<number>
  close(): Promise<void>
}

interface PublisherOptions {
  readonly url: string
  readonly prefix: string
  readonly logger: Logger
}

/** The name BullMQ shows for every job; the pointer says the rest. */
const JOB_NAME = 'handoff'
/** BullMQ writes four stream entries per job that nobody here reads: keep the stream short. */
const EVENTS_KEPT = 100
/** Agent types come from messages: beyond this many, the queue object unused longest is let go. */
const QUEUES_MAX = 500

type PointerQueue = Queue<Pointer, void>

export function createRedisPublisher(options: PublisherOptions): RedisPublisher {
  const redis = new Redis(options.url, publisherOptions)
  logErrors(redis, options.logger, 'publisher')
  const queues = new Map<string, PointerQueue>()
  const queueOf = (agentType: string): PointerQueue => {
    const queue = queues.get(agentType) ?? openQueue(redis, agentType, options)
    queues.delete(agentType)
    queues.set(agentType, queue)
    if (queues.size > QUEUES_MAX) closeOldest(queues)
    return queue
  }
  const keys = new QueueKeys(options.prefix)
  const keyOf = (agentType: string, part: string): string =>
    keys.toKey(queueNameOf(agentType), part)
  // The first request may come before the first connection; later ones fail at once without one.
  const opened = new Promise<void>((resolve) => {
    redis.once('ready', () => resolve()).once('end', () => resolve())
  })
  const bounded = <Result>(work: () => Promise<Result>): Promise<Result> =>
    within(PUBLISH_TIMEOUT_MS, opened.then(work))
  return {
    publish: (jobs) => bounded(() => publishAll(jobs, queueOf)),
    missing: (jobs) => bounded(() => findMissing(redis, jobs, keyOf)),
    waiting: (agentType) => bounded(() => countWaiting(redis, agentType, keyOf)),
    async close() {
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()))
      redis.disconnect()
    },
  }
}

function openQueue(
  connection: Redis,
  agentType: string,
  { prefix, logger }: PublisherOptions,
): PointerQueue {
  const queue: PointerQueue = new Queue(queueNameOf(agentType), {
    connection,
    prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT } },
  })
  logErrors(queue, logger, 'publisher')
  return queue
}

function closeOldest(queues: Map<string, PointerQueue>): void {
  const [oldest] = queues
  if (oldest === undefined) return
  queues.delete(oldest[0])
  oldest[1].close().catch(() => undefined)
}

// One pipeline per queue, all on one connection. A pipeline is not atomic: see Transport.publish.
async function publishAll(
  jobs: readonly Job[],
  queueOf: (agentType: string) => PointerQueue,
): Promise<void> {
  const byQueue = Map.groupBy(jobs, (job) => job.queue)
  await Promise.all(
    [...byQueue].map(([agentType, group]) => queueOf(agentType).addBulk(group.map(toBullJob))),
  )
}

// BullMQ runs jobs without a priority first and then from 1 upwards, so p + 1 keeps Baton's order.
// The trace context travels in the pointer alone: a second copy in BullMQ's own telemetry option
// cost 6 % more processor time per job and only another program's worker would read it.
function toBullJob({ priority, pointer }: Job) {
  return {
    name: JOB_NAME,
    data: pointer,
    opts: { jobId: jobIdOf(pointer), priority: priority + 1, attempts: 1 },
  }
}

type KeyOf = (agentType: string, part: string) => string

// A finished job is kept for a while, yet it starts no handler any more.
async function findMissing(
  redis: Redis,
  jobs: readonly JobReference[],
  keyOf: KeyOf,
): Promise<readonly string[]> {
  const pipeline = redis.pipeline()
  for (const { queue, jobId } of jobs)
    pipeline.hmget(keyOf(queue, jobId), 'timestamp', 'finishedOn')
  const replies = (await pipeline.exec()) ?? []
  return jobs.filter((_, index) => isGone(replies[index])).map(({ jobId }) => jobId)
}

function isGone(reply: readonly [Error | null, unknown] | undefined): boolean {
  if (reply === undefined) throw new Error('Redis left a command unanswered')
  const [error, fields] = reply
  if (error !== null) throw error
  const [addedAt, finishedAt] = fields as (string | null)[]
  return addedAt === null || typeof finishedAt === 'string'
}

async function countWaiting(redis: Redis, agentType: string, keyOf: KeyOf): Promise<number> {
  const [plain, prioritized] = await Promise.all([
    redis.llen(keyOf(agentType, 'wait')),
    redis.zcard(keyOf(agentType, 'prioritized')),
  ])
  return plain + prioritized
}
