// Keeps wrong times out of the log: compares this machine's clock with the database's, and says when they do not agree.
import { createLogClock, readDatabaseClock, readHeads } from '@baton/audit'
import type { LogClock, Pool } from '@baton/audit'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

interface ClockWatchOptions {
  /** Connected as audit_writer: appends depend on nothing that others who read could use up. */
  readonly writer: Pool
  readonly aheadMaxMs: number
  readonly metrics: Pick<Metrics, 'auditClockAheadSeconds'>
  readonly logger: Logger
}

export interface ClockWatch extends Service {
  /** The time of a record. Throws BATON_AUDIT_CLOCK while it would be in the future. */
  nowMicros(): number
}

const COMPARE_EVERY_MS = 2_000
const MICROS_PER_MS = 1_000

/** A database that does not answer is asked again; the passing of time goes on meanwhile. */
export function createClockWatch(options: ClockWatchOptions): ClockWatch {
  const { writer, aheadMaxMs, metrics, logger } = options
  const clock = createLogClock({ ask: () => readDatabaseClock(writer), aheadMaxMs })
  let isRefusing = false
  let isChainAhead = false

  async function compare(): Promise<void> {
    const { aheadMs } = await clock.compare()
    metrics.auditClockAheadSeconds.set(aheadMs / 1_000)
    const refuses = isWrong(clock)
    if (refuses !== isRefusing) {
      const said = { event: 'audit.clock_ahead', blocked: refuses, aheadMs: Math.round(aheadMs) }
      logger[refuses ? 'error' : 'info'](said)
    }
    isRefusing = refuses
    if (!refuses) await lookAtChains()
  }

  /** Chains that were given a later time keep it: their next records follow by a microsecond each. */
  async function lookAtChains(): Promise<void> {
    const last = Math.max(0, ...(await readHeads(writer)).map(({ lastMicros }) => lastMicros))
    const aheadMs = last / MICROS_PER_MS - Date.now()
    const isAhead = aheadMs > aheadMaxMs
    if (isAhead && !isChainAhead) {
      logger.warn({ event: 'audit.clock_wrong', by: 'append', aheadMs: Math.round(aheadMs) })
    }
    isChainAhead = isAhead
  }

  const compares = every({
    name: 'clock-watch',
    everyMs: COMPARE_EVERY_MS,
    firstAfterMs: COMPARE_EVERY_MS,
    run: compare,
    failed: (error) => logger.warn({ event: 'audit.clock_unread', code: codeOf(error), error }),
  })
  return {
    ...compares,
    nowMicros: () => clock.nowMicros(),
    async start() {
      await compare()
      await compares.start()
    },
  }
}

function isWrong(clock: LogClock): boolean {
  try {
    clock.nowMicros()
    return false
  } catch {
    return true
  }
}
