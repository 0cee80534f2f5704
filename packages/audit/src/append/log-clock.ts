// The time that may stand in the log: this machine's, as long as the database's clock and the passing of time agree with it.
import { sql } from '@baton/postgres/statements'
import { transient } from '@baton/runtime'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { CLOCK_AHEAD_MAX_MS } from '../settings.ts'

/** How long a second source must keep to a time that it jumped to before it is believed. */
const SETTLED_AFTER_MS = 10_000

export interface LogClock {
  /** Microseconds since 1970. Throws BATON_AUDIT_CLOCK while this machine's clock is ahead of what the second source allows. */
  nowMicros(): number
  /** Asks the second source what time it is; answers how far this machine's clock is ahead of it. */
  compare(): Promise<{ readonly aheadMs: number }>
}

interface Reading {
  readonly micros: number
  /** When it was read, by a clock that nobody sets. */
  readonly atMs: number
}

interface LogClockOptions {
  /** The second source; microseconds since 1970. */
  readonly ask: () => Promise<number>
  readonly aheadMaxMs?: number
  readonly systemMicros?: () => number
  /** Milliseconds that pass as time does, whatever the clocks are set to. */
  readonly elapsedMs?: () => number
}

/**
 * Between two comparisons the second source is carried on by the passing of time, so that one wrong second is refused
 * without asking anybody. A source that itself jumps ahead, as it does on the same machine, is believed only after it
 * has kept to its time for ten seconds; one that goes back is believed at once. Nothing is refused before the first
 * comparison.
 */
export function createLogClock(options: LogClockOptions): LogClock {
  const { ask, aheadMaxMs = CLOCK_AHEAD_MAX_MS } = options
  const { systemMicros = () => Date.now() * 1_000, elapsedMs = () => performance.now() } = options
  let trusted: Reading | undefined
  /** Where the second source jumped ahead to, and has not yet kept to for long enough. */
  let jumped: Reading | undefined

  const carriedOn = ({ micros, atMs }: Reading, toMs: number): number =>
    micros + (toMs - atMs) * 1_000
  const isAhead = (micros: number, reading: Reading, atMs: number): boolean =>
    micros - carriedOn(reading, atMs) > aheadMaxMs * 1_000

  const keepsTo = (reading: Reading, read: Reading): boolean =>
    Math.abs(read.micros - carriedOn(reading, read.atMs)) <= aheadMaxMs * 1_000

  function take(read: Reading): void {
    if (trusted === undefined || !isAhead(read.micros, trusted, read.atMs)) {
      trusted = read
      jumped = undefined
      return
    }
    const isKept = jumped !== undefined && keepsTo(jumped, read)
    jumped = isKept ? jumped : read
    if (jumped === undefined || read.atMs - jumped.atMs < SETTLED_AFTER_MS) return
    trusted = read
    jumped = undefined
  }

  return {
    nowMicros() {
      const micros = systemMicros()
      if (trusted === undefined) return micros
      const atMs = elapsedMs()
      if (isAhead(micros, trusted, atMs)) throw ahead((micros - carriedOn(trusted, atMs)) / 1_000)
      return micros
    },
    async compare() {
      const beforeMs = elapsedMs()
      const micros = await ask()
      const atMs = elapsedMs()
      // An answer that was long on its way says too little about when it was true.
      if (atMs - beforeMs < aheadMaxMs) take({ micros, atMs: (beforeMs + atMs) / 2 })
      const reference = trusted === undefined ? micros : carriedOn(trusted, atMs)
      return { aheadMs: (systemMicros() - reference) / 1_000 }
    },
  }
}

/** What time the database has, in microseconds since 1970. */
export async function readDatabaseClock(db: Database): Promise<number> {
  const micros = sql<string>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`
  const [row] = await run(db, 'read_clock', audit.selectNoFrom(micros.as('micros')))
  return Number(row?.micros)
}

const ahead = (aheadMs: number) =>
  transient(
    'BATON_AUDIT_CLOCK',
    `this machine’s clock is ${(aheadMs / 1_000).toFixed(1)} s ahead of what the database’s clock allows`,
    {
      fix: 'Set the clocks right; nothing is recorded meanwhile, and work goes on by itself. If both clocks were set forward on purpose, wait ten seconds.',
    },
  )
