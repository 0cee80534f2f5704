// Writes what the counters behind the service levels rose by into the database, so that levels need no other store.
// Every rise is written once, whatever fails in between; a process that is killed loses what it counted since it last wrote.
import { randomUUID } from 'node:crypto'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { writeMinutes } from '@baton/store'
import type { MinuteCounts, Pool } from '@baton/store'
import { takeRises } from '@baton/telemetry'
import type { LevelRise, Metrics } from '@baton/telemetry'

interface LevelRecorderParts {
  readonly pool: Pool
  readonly metrics: Pick<Metrics, 'registry'>
  readonly logger: Logger
  /** How often it writes; 10 s by default. */
  readonly everyMs?: number
}

const FLUSH_MS = 10_000
const MINUTE_MS = 60_000

/** Writes every ten seconds and when it stops, where anything rose. It keeps no process alive. */
export function createLevelRecorder(parts: LevelRecorderParts): Service {
  const { pool, metrics, logger, everyMs = FLUSH_MS } = parts
  const process = randomUUID()
  /** Counted, and of no minute yet. */
  const risen = new Map<string, LevelRise>()
  /** Everything of the minute that was written last. */
  let minute = { at: new Date(0), rows: new Map<string, MinuteCounts>() }
  /** Written, but not known to be: repeated until it is. */
  let unsure: readonly MinuteCounts[] = []
  /** How far the database's clock is ahead of this one's. */
  let aheadMs: number | undefined

  async function write(rows: readonly MinuteCounts[]): Promise<void> {
    aheadMs = (await writeMinutes(pool, process, rows)).getTime() - Date.now()
  }

  /** Moves what rose into the minute that the database has now; a clock that was put back goes on in the one before. */
  function place(ahead: number): readonly MinuteCounts[] {
    const now = Math.floor((Date.now() + ahead) / MINUTE_MS) * MINUTE_MS
    if (now > minute.at.getTime()) minute = { at: new Date(now), rows: new Map() }
    const { at, rows } = minute
    const placed = [...risen].map(([key, rise]) => {
      const row = { ...rise, minute: at, counts: added(rise.counts, rows.get(key)?.counts) }
      rows.set(key, row)
      return row
    })
    risen.clear()
    return placed
  }

  async function flush(): Promise<void> {
    for (const rise of await takeRises(metrics.registry)) {
      const key = `${rise.metric} ${rise.labels}`
      risen.set(key, { ...rise, counts: added(rise.counts, risen.get(key)?.counts) })
    }
    if (risen.size + unsure.length === 0) return
    if (aheadMs === undefined || unsure.length > 0) await write(unsure)
    unsure = place(aheadMs ?? 0)
    await write(unsure)
    unsure = []
  }

  const failed = (error: unknown): void =>
    logger.warn({ event: 'levels.unwritten', code: codeOf(error) })
  const flushes = every({
    name: 'level-recorder',
    everyMs,
    firstAfterMs: everyMs,
    holdsProcess: false,
    run: flush,
    failed,
  })
  let stopped: Promise<void> | undefined
  return {
    name: flushes.name,
    start: () => flushes.start(),
    stop: () => (stopped ??= flushes.stop().then(flush).catch(failed)),
  }
}

const added = (counts: readonly number[], to: readonly number[] = []): readonly number[] =>
  counts.map((count, index) => count + (to[index] ?? 0))
