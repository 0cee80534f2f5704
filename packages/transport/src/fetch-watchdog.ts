// Notices a worker that stops fetching: it is made anew once, and after that its process is told.
import { codeOf, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'

interface WatchdogDeps {
  readonly queue: string
  /** Jobs that wait for somebody. */
  waiting(): Promise<number>
  /** Whether this consumer should be fetching: running, and with handlers to spare. */
  wantsWork(): boolean
  recreate(): void
  readonly onStuck?: ((error: Error) => void) | undefined
  readonly logger: Logger
  /** How long nothing may arrive while jobs wait; 10 s by default. */
  readonly stuckMs?: number
}

export interface FetchWatchdog {
  /** To be told of every job that arrives. */
  fetched(): void
  close(): void
}

const STUCK_MS = 10_000
/** Looks per time that nothing may arrive. */
const LOOKS = 5

/** Looks five times within `stuckMs`; a queue that cannot be asked proves nothing against the worker. */
export function startFetchWatchdog(deps: WatchdogDeps): FetchWatchdog {
  const { queue, waiting, wantsWork, recreate, onStuck, logger, stuckMs = STUCK_MS } = deps
  let starvedSince: number | undefined
  let recreated = false
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function isStarved(): Promise<boolean> {
    if (!wantsWork()) return false
    try {
      return (await waiting()) > 0 && wantsWork()
    } catch (error) {
      logger.debug({ event: 'consumer.unwatched', queue, code: codeOf(error) })
      return false
    }
  }

  async function look(): Promise<void> {
    const askedAt = performance.now()
    const starved = await isStarved()
    if (closed) return
    if (!starved) starvedSince = undefined
    else starvedSince ??= askedAt
    if (starvedSince !== undefined && performance.now() - starvedSince >= stuckMs) actUpon()
    if (!closed) schedule()
  }

  function actUpon(): void {
    starvedSince = undefined
    logger.error({ event: 'consumer.stuck', queue, again: recreated })
    if (recreated) {
      close()
      return onStuck?.(stuckError(queue))
    }
    recreated = true
    recreate()
  }

  function schedule(): void {
    timer = setTimeout(() => void look(), stuckMs / LOOKS)
    timer.unref()
  }

  function close(): void {
    closed = true
    clearTimeout(timer)
  }

  schedule()
  return {
    fetched() {
      starvedSince = undefined
      recreated = false
    },
    close,
  }
}

const stuckError = (queue: string): Error =>
  permanent('BATON_CONSUMER_STUCK', `jobs of ${queue} wait and none arrives here`, {
    fix: 'Let the supervisor start this process again; check its connection to Redis if that repeats.',
  })
