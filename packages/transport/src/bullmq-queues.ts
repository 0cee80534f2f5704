// BullMQ queues: a name of its own for every agent type, and objects made on first use, bounded in
// number, and published to in bulk.
import type { Queue } from 'bullmq'
import { jobIdOf } from './transport.ts'
import type { Job, Pointer } from './transport.ts'

/** Agent types come from messages: beyond this many, the queue object unused longest is let go. */
const QUEUES_MAX = 500
/** The name BullMQ shows for every job; the pointer says the rest. */
const JOB_NAME = 'handoff'
/** What a queue name of BullMQ and Redis Cluster could trip over. */
const UNSAFE = /[^A-Za-z0-9._-]/g

/**
 * Maps an agent type to a BullMQ queue name: `{risk-scoring}`. The braces are a hash tag, so that all keys
 * of one queue live in one slot of a Redis Cluster. Anything but letters, digits, `.`, `_` and `-`
 * becomes `%` and four hex digits per UTF-16 unit, which no two types can share.
 */
export function queueNameOf(agentType: string): string {
  const escaped = agentType.replace(
    UNSAFE,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `{${escaped}}`
}

export type PointerQueue = Queue<Pointer, void>

export interface BullmqQueues {
  of(agentType: string): PointerQueue
  /** One bulk insert per queue. Not atomic: see Transport.publish. */
  publish(jobs: readonly Job[]): Promise<void>
  close(): Promise<void>
}

/** Opens no queue yet; each is opened when a job for its agent type is published or asked for. */
export function createBullmqQueues(open: (name: string) => PointerQueue): BullmqQueues {
  const queues = new Map<string, PointerQueue>()
  const of = (agentType: string): PointerQueue => {
    const queue = queues.get(agentType) ?? open(queueNameOf(agentType))
    queues.delete(agentType)
    queues.set(agentType, queue)
    if (queues.size > QUEUES_MAX) closeOldest(queues)
    return queue
  }
  return {
    of,
    async publish(jobs) {
      const byQueue = Map.groupBy(jobs, (job) => job.queue)
      await Promise.all(
        [...byQueue].map(([agentType, group]) => of(agentType).addBulk(group.map(toBullJob))),
      )
    },
    async close() {
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()))
    },
  }
}

function closeOldest(queues: Map<string, PointerQueue>): void {
  const [oldest] = queues
  if (oldest === undefined) return
  queues.delete(oldest[0])
  oldest[1].close().catch(() => undefined)
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
