// Whoever is shown protected text is on record, durably, before it is shown: the text of what was stopped, saved states, what
// came back, and what waits for an agent. Where that cannot be recorded, nothing is shown.
import { inTransaction } from '@baton/store'
import type { Pool } from '@baton/store'
import { recordOperation } from './record-operation.ts'

export type ProtectedText =
  | 'quarantined-message'
  | 'checkpoint'
  | 'returned-message'
  | 'pending-message'

/** One text, shown to somebody. */
export interface Reading {
  readonly text: ProtectedText
  readonly taskId: string
  /** Missing where it is of the task as a whole. */
  readonly handoffId?: string | undefined
  /** In the trace of the task. */
  readonly traceparent: string
}

/** Who reads, with which key, from which address. */
export interface Reader {
  readonly operator: string
  readonly tenant: string
  readonly keyId: string
  readonly address: string | undefined
}

export interface ReadingRecorder {
  /** Resolves once all of them are durable. Throws where they are not: then none may be shown. */
  read(reader: Reader, readings: readonly Reading[]): Promise<void>
}

interface RecorderParts {
  readonly pool: Pool
  /** Milliseconds, of any origin. */
  readonly now?: () => number
}

/** What the same reader is shown again within this time is one reading: who polls does not fill the log. */
const ONE_READING_MS = 600_000
/** Of so many readings it is remembered that they are recorded; of more, some are recorded again. */
const REMEMBERED_MAX = 10_000

export function createReadingRecorder({
  pool,
  now = () => performance.now(),
}: RecorderParts): ReadingRecorder {
  /** When each was recorded last, oldest first. */
  const recorded = new Map<string, number>()

  function isRecorded(name: string): boolean {
    const at = recorded.get(name)
    return at !== undefined && now() - at < ONE_READING_MS
  }

  function remember(name: string): void {
    recorded.delete(name)
    recorded.set(name, now())
    const [oldest] = recorded.keys()
    if (recorded.size > REMEMBERED_MAX && oldest !== undefined) recorded.delete(oldest)
  }

  return {
    async read(reader, readings) {
      const named = readings.map((reading) => ({ reading, name: nameOf(reader, reading) }))
      const fresh = named.filter(({ name }) => !isRecorded(name))
      if (fresh.length === 0) return
      const done = fresh.map(({ reading }) => operationOf(reader, reading))
      await inTransaction(pool, (db) => recordOperation(db, ...done))
      for (const { name } of fresh) remember(name)
    },
  }
}

const nameOf = (reader: Reader, { text, taskId, handoffId = '' }: Reading): string =>
  [reader.keyId, reader.operator, reader.address, text, taskId, handoffId].join(' ')

const operationOf = (
  { operator, tenant, keyId, address }: Reader,
  { text, taskId, handoffId, traceparent }: Reading,
) => ({
  event: 'TEXT_READ' as const,
  actor: operator,
  by: 'gateway',
  tenant,
  subject: text,
  right: `api-key:${keyId}`,
  address,
  about: { taskId, handoffId, traceparent },
})
