// Notices within a second that a queue lost its suffix, and publishes from Postgres what was in it.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  forgetOldWatermarks,
  listQueueWatermarks,
  redriveLostSuffix,
  takeLostSuffixes,
} from '@baton/store'
import type { LostSuffix, LostWatermark, Pool } from '@baton/store'
import type { QueueWatermarks } from '@baton/transport'
import { wakeRelays } from './wake.ts'

interface LossParts {
  readonly pool: Pool
  readonly watermarks: QueueWatermarks
  readonly logger: Logger
}

const INTERVAL_MS = 500
const SET_MAX = 500
const FORGET_EVERY_MS = 60_000

/**
 * Compares watermarks twice a second. A queue's server loses from the end (a dump is older, a log is cut,
 * a replica lags), so where a watermark survived, what was published before it did too. Any number may run.
 */
export function createLossDetector({ pool, watermarks, logger }: LossParts): Service {
  let forgottenAt = performance.now()

  async function look(): Promise<void> {
    const lost = await findLost(pool, watermarks)
    const suffixes = lost.length === 0 ? [] : await takeLostSuffixes(pool, lost)
    for (const suffix of suffixes) {
      const redriven = await redriveAll(pool, suffix)
      logger.warn({ event: 'queue.suffix_lost', queue: suffix.queue, redriven })
    }
    if (performance.now() - forgottenAt < FORGET_EVERY_MS) return
    forgottenAt = performance.now()
    await forgetOldWatermarks(pool)
  }

  return every({
    name: 'loss-detector',
    everyMs: INTERVAL_MS,
    run: look,
    failed: (error) => logger.debug({ event: 'watermarks.unread', code: codeOf(error) }),
  })
}

// Postgres first: a watermark is in the queue before it commits, so the queue's is never the older one.
async function findLost(
  pool: Pool,
  watermarks: QueueWatermarks,
): Promise<readonly LostWatermark[]> {
  const known = await listQueueWatermarks(pool)
  if (known.length === 0) return []
  const survived = await watermarks.read(known)
  return known.flatMap((one, index) => {
    const watermark = survived[index]
    // A server that is away has lost nothing yet: it is asked again.
    if (watermark === undefined) return []
    return watermark === null || watermark < one.watermark ? [{ ...one, survived: watermark }] : []
  })
}

// Whoever dies in between leaves the rest to the sweeper, which finds it by its age.
async function redriveAll(pool: Pool, suffix: LostSuffix): Promise<number> {
  let redriven = 0
  let count = SET_MAX
  while (count === SET_MAX) {
    count = await redriveLostSuffix(pool, suffix, SET_MAX)
    redriven += count
    if (count > 0) wakeRelays(pool)
  }
  return redriven
}
