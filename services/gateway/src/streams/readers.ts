// Who reads a stream at the moment: bounded in all and for each key, and told from one look at the database when theirs goes on.
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { listStreams } from '@baton/store'
import type { Pool, StreamView } from '@baton/store'
import { createSharedLook } from '../shared-look.ts'
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

interface Asked {
  readonly handoffId: string
  readonly after: number
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
  const stopping = new AbortController()
  const looks = createSharedLook({
    name: 'stream readers',
    everyMs: LOOK_MS,
    async look(all: readonly Asked[]) {
      const views = await listStreams(pool, [...new Set(all.map((one) => one.handoffId))])
      const byId = new Map(views.map((view) => [view.handoffId, view]))
      return ({ handoffId, after }) => {
        const view = byId.get(handoffId)
        return view !== undefined && (view.chunks > after || view.ended) ? view : undefined
      }
    },
    failed: (error) => logger.warn({ event: 'stream.unread', code: codeOf(error) }),
  })
  const moved = (handoffId: string, after: number, signal: AbortSignal) =>
    looks.moved({ handoffId, after }, { signal, withinMs: HEARTBEAT_MS })
  return {
    name: looks.name,
    start: looks.start,
    async stop() {
      stopping.abort()
      await looks.stop()
    },
    enter: (keyId) => ({ stopping: stopping.signal, moved, leave: places.take(keyId) }),
  }
}
