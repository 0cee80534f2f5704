// Queues whose server does not answer while others do, as when one of a Cluster's is gone: their rows wait, and keep no other's.
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'

interface AwayQueuesParts {
  /** Rejects while the queue's server does not answer. */
  ask(queue: string): Promise<unknown>
  readonly logger: Pick<Logger, 'warn'>
}

export interface AwayQueues {
  has(queue: string): boolean
  /** From now on it counts as away, until it has answered. */
  left(queue: string, error: unknown): void
  /** Asks it again, once at a time; resolves with whether it answered. */
  askAgain(queue: string): Promise<boolean>
  /** Why a queue is away. */
  reasonOf(queue: string): unknown
}

const SAY_AGAIN_MS = 10_000
/** Agent types come from messages. */
const QUEUES_MAX = 1_000

export function createAwayQueues({ ask, logger }: AwayQueuesParts): AwayQueues {
  const reasons = new Map<string, unknown>()
  const asking = new Map<string, Promise<boolean>>()
  let saidAt = -SAY_AGAIN_MS

  function left(queue: string, error: unknown): void {
    if (reasons.size >= QUEUES_MAX) reasons.clear()
    reasons.set(queue, error)
    const now = performance.now()
    if (now - saidAt < SAY_AGAIN_MS) return
    saidAt = now
    logger.warn({ event: 'relay.queues_away', queue, count: reasons.size, code: codeOf(error) })
  }

  async function askOnce(queue: string): Promise<boolean> {
    try {
      await ask(queue)
      reasons.delete(queue)
      return true
    } catch (error) {
      left(queue, error)
      return false
    } finally {
      asking.delete(queue)
    }
  }

  return {
    has: (queue) => reasons.has(queue),
    left,
    askAgain(queue) {
      const under = asking.get(queue) ?? askOnce(queue)
      asking.set(queue, under)
      return under
    },
    reasonOf: (queue) => reasons.get(queue),
  }
}
