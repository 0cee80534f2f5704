// Erasures that a crash interrupted are completed, and what a restore brought back is erased again, from the start on.
import { replayErasures } from '@baton/engine'
import { codeOf } from '@baton/runtime'
import { erasurePorts } from './erasure-routes.ts'
import type { ErasureRouteOptions } from './erasure-routes.ts'

export interface Replay {
  start(): void
  stop(): Promise<void>
}

const AGAIN_MS = 60_000

/** Runs once a minute: looks for what a restore brought back until that has succeeded once, then only for what is unfinished. */
export function createErasureReplay(options: ErasureRouteOptions): Replay {
  const { logger } = options
  const ports = erasurePorts(options)
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  let restored = true

  async function replay(): Promise<void> {
    try {
      const { completed, handoffs } = await replayErasures(ports, { restored })
      restored = false
      if (completed.length + handoffs > 0) {
        logger.warn({ event: 'erasure.replayed', completed, handoffs })
      }
    } catch (error) {
      logger.warn({ event: 'erasure.replay_failed', code: codeOf(error), error })
    }
    if (!stopped) timer = setTimeout(start, AGAIN_MS)
  }

  function start(): void {
    running = replay()
  }

  return {
    start,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
