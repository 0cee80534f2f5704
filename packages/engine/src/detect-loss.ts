// Notices within a second that a queue lost its tail, and publishes from Postgres what was in it.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { forgetOldMarks, listQueueMarks, redriveTail, takeLostTails } from '@baton/store'
import type { LostMark, LostTail, Pool } from '@baton/store'
import type { QueueMarks } from '@baton/transport'
import { wakeRelays } from './wake.ts'

interface LossParts {
  readonly pool: Pool
  readonly marks: QueueMarks
  readonly logger: Logger
}

const INTERVAL_MS = 500
const SET_MAX = 500
const FORGET_EVERY_MS = 60_000

/**
 * Compares marks twice a second. A queue's server loses from the end (a dump is older, a log is cut,
 * a replica lags), so where a mark survived, what was published before it did too. Any number may run.
 */
export function createLossDetector({ pool, marks, logger }: LossParts): Service {
  let forgottenAt = performance.now()

  async function look(): Promise<void> {
    const lost = await findLost(pool, marks)
    const tails = lost.length === 0 ? [] : await takeLostTails(pool, lost)
    for (const tail of tails) {
      const redriven = await redriveAll(pool, tail)
      logger.warn({ event: 'queue.tail_lost', queue: tail.queue, redriven })
    }
    if (performance.now() - forgottenAt < FORGET_EVERY_MS) return
    forgottenAt = performance.now()
    await forgetOldMarks(pool)
  }

  return every({
    name: 'loss-detector',
    everyMs: INTERVAL_MS,
    run: look,
    // A server that is away has lost nothing yet: it is asked again.
    failed: (error) => logger.debug({ event: 'marks.unread', code: codeOf(error) }),
  })
}

// Postgres first: a mark is in the queue before it commits, so the queue's is never the older one.
async function findLost(pool: Pool, marks: QueueMarks): Promise<readonly LostMark[]> {
  const known = await listQueueMarks(pool)
  if (known.length === 0) return []
  const survived = await marks.read(known)
  return known.flatMap((one, index) => {
    const mark = survived[index] ?? null
    return mark === null || mark < one.mark ? [{ ...one, survived: mark }] : []
  })
}

// Whoever dies in between leaves the rest to the sweeper, which finds it by its age.
async function redriveAll(pool: Pool, tail: LostTail): Promise<number> {
  let redriven = 0
  let count = SET_MAX
  while (count === SET_MAX) {
    count = await redriveTail(pool, tail, SET_MAX)
    redriven += count
    if (count > 0) wakeRelays(pool)
  }
  return redriven
}
