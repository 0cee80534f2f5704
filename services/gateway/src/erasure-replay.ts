// Erasures that a crash interrupted are completed, and what a restore brought back is erased again, from the start on.
import { replayErasures } from '@baton/engine'
import { codeOf, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import type { ErasureReplayOptions } from './erasure-routes.ts'

const AGAIN_MS = 60_000

/** Runs once a minute: looks for what a restore brought back until that has succeeded once, then only for what is unfinished. */
export function createErasureReplay(options: ErasureReplayOptions): Service {
  const { logger } = options
  let restored = true
  return every({
    name: 'erasure-replay',
    everyMs: AGAIN_MS,
    async run() {
      const { completed, unsigned, handoffs } = await replayErasures(
        { ...options, pool: options.everyPool },
        { restored },
      )
      restored = false
      if (completed.length + handoffs > 0) {
        logger.warn({ event: 'erasure.replayed', completed, handoffs })
      }
      if (unsigned.length > 0) logger.error({ event: 'erasure.unsigned', ids: unsigned })
    },
    failed: (error) => logger.warn({ event: 'erasure.replay_failed', code: codeOf(error), error }),
  })
}
