// Reads the cold store again at a set rate, for ever, and says what is missing or changed while the database can still mend it.
import type { KeyObject } from 'node:crypto'
import { createColdWatch } from '@baton/audit'
import type { ColdStore, Pool, ProvenRoot } from '@baton/audit'
import type { Finding } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

interface ColdWatcherOptions {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly store: ColdStore
  /** The sealer's. */
  readonly sealKey: KeyObject
  /** What was compared with signed heads, by number of the log. */
  readonly proven: ReadonlyMap<number, ProvenRoot>
  /** At least; more where a pass would take longer than a day. */
  readonly bundlesPerSecond: number
  /** Passes over a small store begin no more often than this. */
  readonly passEveryMs: number
  readonly metrics: Pick<Metrics, 'auditColdBundlesReadTotal' | 'auditColdFaults'>
  readonly logger: Logger
  /** What was not known before. */
  readonly onFindings: (findings: readonly Finding[]) => void
}

export interface ColdWatcher extends Service {
  /** Reads once more what was found before this process was started. Safe to repeat. */
  recheck(): Promise<void>
  /** Does nothing before `recheck` has succeeded, and the second time. */
  start(): Promise<void>
}

const DAY_SECONDS = 80_000
const FAILED_WAIT_MS = 10_000

/** Goes on after a finding: the rest of the store must be known as well. */
export function createColdWatcher(options: ColdWatcherOptions): ColdWatcher {
  const { proven, bundlesPerSecond, passEveryMs, metrics, logger, onFindings } = options
  const watch = createColdWatch({
    ...options,
    rootOf: (log) => proven.get(log),
    now: () => new Date(),
  })
  let perSecond = bundlesPerSecond
  let state: 'new' | 'rechecked' | 'watching' = 'new'
  const pieces = every({
    name: 'cold-watcher',
    everyMs: passEveryMs,
    async run() {
      const startedAt = performance.now()
      const { bundles, findings, mended, faults, total, pass } = await watch.next(perSecond)
      metrics.auditColdBundlesReadTotal.inc(bundles)
      metrics.auditColdFaults.set(faults)
      for (const { rule, message } of mended) {
        logger.info({ event: 'archive.mended', rule, message })
      }
      onFindings(findings)
      perSecond = Math.max(bundlesPerSecond, Math.ceil(total / DAY_SECONDS))
      if (pass === undefined) return Math.max(0, 1_000 - (performance.now() - startedAt))
      logger.info({ event: 'archive.read_again', ...pass })
      return Math.max(0, passEveryMs - (Date.now() - Date.parse(pass.startedAt)))
    },
    failed(error) {
      logger.warn({ event: 'archive.watch_failed', code: codeOf(error), error })
      return FAILED_WAIT_MS
    },
  })
  return {
    ...pieces,
    async recheck() {
      if (state !== 'new') return
      onFindings(await watch.recheck())
      state = 'rechecked'
    },
    async start() {
      if (state !== 'rechecked') return
      state = 'watching'
      await pieces.start()
    },
  }
}
