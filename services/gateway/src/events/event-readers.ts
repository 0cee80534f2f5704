// Who follows events at the moment: bounded in all and for each key, and told from one look at the database when there are new ones.
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { eventHead } from '@baton/store'
import type { Pool } from '@baton/store'
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

interface Waiting {
  readonly after: number
  readonly tell: (head?: number) => void
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
  const waiting = new Set<Waiting>()
  const stopping = new AbortController()

  const looks = every({
    name: 'event readers',
    everyMs: LOOK_MS,
    async run() {
      if (waiting.size === 0) return Infinity
      const head = await eventHead(pool)
      for (const { after, tell } of waiting) if (head > after) tell(head)
      return undefined
    },
    failed: (error) => logger.warn({ event: 'events.unread', code: codeOf(error) }),
  })

  function moved(after: number, signal: AbortSignal) {
    return new Promise<number | undefined>((resolve) => {
      const one: Waiting = { after, tell }
      const timer = setTimeout(tell, HEARTBEAT_MS)
      const gone = () => tell()
      function tell(head?: number): void {
        clearTimeout(timer)
        signal.removeEventListener('abort', gone)
        waiting.delete(one)
        resolve(head)
      }
      waiting.add(one)
      signal.addEventListener('abort', gone)
      if (signal.aborted) tell()
      else if (waiting.size === 1) looks.wake()
    })
  }

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
