// Fills the gauges of what waits, and takes little of the database's time however much does.
import { outboxDepth, readWaiting } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'

/** The next measure comes no sooner than so many times what the last one took. */
const PAUSE_TIMES = 20

/** Returns what a sweeper calls each second. */
export function createWaitingMeasure(
  pool: Pool,
  metrics: Metrics,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  // Agent types of which something waited once: where nothing does any more, 0 is said.
  const known = new Set<string>()
  let dueAt = -Infinity

  async function measureWaiting(): Promise<void> {
    const waiting = await readWaiting(pool)
    metrics.deadLetterDepth.set(waiting.deadLetters)
    metrics.deadLetterOldestAgeSeconds.set(waiting.deadLetterOldestAgeSeconds)
    metrics.waitingForPeople.dead_letter.set(waiting.deadLetters)
    metrics.waitingForPeople.approval.set(waiting.approvals)
    metrics.waitingForPeople.escalation.set(waiting.escalations)
    metrics.waitingForPeople.alert.set(waiting.alerts)
    const queued = new Map(waiting.queues.map((queue) => [queue.agent, queue]))
    for (const agent of queued.keys()) known.add(agent)
    for (const agent of known) {
      const { depth = 0, oldestAgeSeconds = 0 } = queued.get(agent) ?? {}
      metrics.queueDepth.with({ agent }).set(depth)
      metrics.queueOldestAgeSeconds.with({ agent }).set(oldestAgeSeconds)
    }
  }

  return async () => {
    const { depth, oldestAgeSeconds } = await outboxDepth(pool)
    metrics.outboxDepth.set(depth)
    metrics.outboxOldestAgeSeconds.set(oldestAgeSeconds)
    const startedAt = now()
    if (startedAt < dueAt) return
    try {
      await measureWaiting()
    } finally {
      dueAt = now() + PAUSE_TIMES * (now() - startedAt)
    }
  }
}
