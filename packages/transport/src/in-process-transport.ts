// The queue for a relay and a receiver that share one process: no Redis, nothing durable.
// A crash loses every job in it, and the sweeper re-drives them exactly as after a lost Redis.
import { transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createConsumers } from './consumers.ts'
import { createInProcessQueue } from './in-process-queue.ts'
import type { InProcessQueue } from './in-process-queue.ts'
import type { Job, Transport } from './transport.ts'

export interface InProcessTransportOptions {
  readonly logger: Logger
  /** Most jobs waiting per queue; a `publish` that would exceed it is refused whole. */
  readonly waitingMax?: number
}

const WAITING_MAX = 10_000

/**
 * Creates the in-process transport; hand the same object to the relay and to the receiver.
 * `publish` rejects with BATON_OVERLOADED (transient) when a queue is full.
 */
export function createInProcessTransport({
  logger,
  waitingMax = WAITING_MAX,
}: InProcessTransportOptions): Transport {
  const queues = new Map<string, InProcessQueue>()
  const consumers = createConsumers()
  const queueOf = (name: string): InProcessQueue => {
    const queue = queues.get(name) ?? createInProcessQueue(logger)
    queues.set(name, queue)
    return queue
  }
  let closed = false
  return {
    kind: 'in-process',
    watermarks: null,
    async publish(jobs) {
      if (closed) throw transient('BATON_QUEUE_UNAVAILABLE', 'the in-process queue is closed')
      refuseOverload(jobs, (name) => waitingMax - (queues.get(name)?.waiting ?? 0))
      for (const job of jobs) queueOf(job.queue).accept(job)
    },
    async consume(options) {
      return consumers.add(queueOf(options.queue).consume(options))
    },
    missing: async (jobs) =>
      jobs
        .filter(({ queue, jobId }) => queues.get(queue)?.knows(jobId) !== true)
        .map(({ jobId }) => jobId),
    waiting: async (name) => queues.get(name)?.waiting ?? 0,
    async close() {
      closed = true
      await consumers.stop()
    },
  }
}

function refuseOverload(jobs: readonly Job[], freeIn: (queue: string) => number): void {
  const wanted = new Map<string, number>()
  for (const { queue } of jobs) wanted.set(queue, (wanted.get(queue) ?? 0) + 1)
  for (const [queue, count] of wanted) {
    if (count <= freeIn(queue)) continue
    throw transient('BATON_OVERLOADED', `the in-process queue "${queue}" is full`, {
      fix: 'Publish less per call, or wait until its consumer has caught up.',
    })
  }
}
