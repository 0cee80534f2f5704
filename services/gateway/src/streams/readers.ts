// Who reads a stream at the moment: bounded in all and for each key, and told from one look at the database when theirs goes on.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { listStreams } from '@baton/store'
import type { Pool, StreamView } from '@baton/store'
import { createPlaces } from './places.ts'
import type { ReaderBounds } from './reader-bounds.ts'

export interface StreamReaders extends Service {
  /** Takes a place until `leave`. Throws 503 BATON_READERS_FULL, or 429 for a key that has its share. */
  enter(keyId: string): Reader
}

export interface Reader {
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal
  /** Resolves once the stream has chunks after this one or has ended; with nothing where that takes long, or `signal` aborts. */
  moved(handoffId: string, after: number, signal: AbortSignal): Promise<StreamView | undefined>
  leave(): void
}

interface Waiting {
  readonly after: number
  readonly handoffId: string
  readonly tell: (view?: StreamView) => void
}

/** How often the database is asked, once for all readers. */
const LOOK_MS = 100
/** As often as that a reader is told that its connection stands. */
const HEARTBEAT_MS = 15_000

interface ReaderParts extends ReaderBounds {
  readonly pool: Pool
  readonly logger: Logger
}

export function createStreamReaders({ pool, logger, max, perKeyMax }: ReaderParts): StreamReaders {
  const places = createPlaces({ max, perKeyMax })
  const waiting = new Set<Waiting>()
  const stopping = new AbortController()

  const looks = every({
    name: 'stream readers',
    everyMs: LOOK_MS,
    async run() {
      if (waiting.size === 0) return Infinity
      const views = await listStreams(pool, [...new Set([...waiting].map((one) => one.handoffId))])
      const byId = new Map(views.map((view) => [view.handoffId, view]))
      for (const { handoffId, after, tell } of waiting) {
        const view = byId.get(handoffId)
        if (view !== undefined && (view.chunks > after || view.ended)) tell(view)
      }
      return undefined
    },
    failed: (error) => logger.warn({ event: 'stream.unread', code: codeOf(error) }),
  })

  function moved(handoffId: string, after: number, signal: AbortSignal) {
    return new Promise<StreamView | undefined>((resolve) => {
      const one: Waiting = { handoffId, after, tell }
      const timer = setTimeout(tell, HEARTBEAT_MS)
      const gone = () => tell()
      function tell(view?: StreamView): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', gone)
        waiting.delete(one)
        resolve(view)
      }
      waiting.add(one)
      signal.addEventListener('abort', gone)
      if (signal.aborted) tell()
      else if (waiting.size === 1) looks.wake()
    })
  }

  return {
    name: 'stream readers',
    start: looks.start,
    async stop() {
      stopping.abort()
      await looks.stop()
    },
    enter: (keyId) => ({ stopping: stopping.signal, moved, leave: places.take(keyId) }),
  }
}
