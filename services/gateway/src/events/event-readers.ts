// Who follows events at the moment: bounded in all and for each key, and told from one look at the database when there are new ones.
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { eventHead } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSharedLook } from '../shared-look.ts'
import type { ReaderBounds } from '../streams/reader-bounds.ts'
import { createPlaces } from '../streams/places.ts'

export interface EventReaders extends Service {
  /** Takes a place until `leave`. Throws 503 BATON_READERS_FULL, or 429 for a key that has its share. */
  enter(keyId: string): EventReader
}

export interface EventReader {
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal
  /** Resolves with where the newest event stands once that is behind this position; with nothing where it takes long. */
  moved(after: number, signal: AbortSignal): Promise<number | undefined>
  leave(): void
}

const LOOK_MS = 200
const HEARTBEAT_MS = 15_000

interface ReaderParts extends ReaderBounds {
  /** Of all tenants. */
  readonly pool: Pool
  readonly logger: Logger
}

export function createEventReaders({ pool, logger, max, perKeyMax }: ReaderParts): EventReaders {
  const places = createPlaces({ max, perKeyMax })
  const stopping = new AbortController()
  const looks = createSharedLook({
    name: 'event readers',
    everyMs: LOOK_MS,
    async look() {
      const head = await eventHead(pool)
      return (after: number) => (head > after ? head : undefined)
    },
    failed: (error) => logger.warn({ event: 'events.unread', code: codeOf(error) }),
  })
  const moved = (after: number, signal: AbortSignal) =>
    looks.moved(after, { signal, withinMs: HEARTBEAT_MS })
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
