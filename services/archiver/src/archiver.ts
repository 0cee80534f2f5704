// Copies what is sealed to the cold store, minutes behind; stops for good at the first thing that does not fit.
import { archiveLog, LogArchive, readArchiveTargets } from '@baton/audit'
import type { ArchiveTarget } from '@baton/audit'
import { LedgerError } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { codeOf } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { dropDays, expireChains } from './upkeep.ts'
import type { UpkeepOptions } from './upkeep.ts'

interface ArchiverOptions extends UpkeepOptions {
  readonly everyMs: number
  readonly upkeepEveryMs: number
  readonly metrics: Metrics
}

const FINDINGS_LOGGED_MAX = 10

/** Stays up and unready after a finding, so that what it saw can be read from its metrics and log. */
export class Archiver implements Service {
  readonly name = 'archiver'
  readonly #options: ArchiverOptions
  readonly #archives = new Map<number, LogArchive>()
  #halted = false
  #stopped = false
  #isLast = false
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #keptUpAt = Number.NEGATIVE_INFINITY
  /** The day that ended last with partial tiles, as a number of days since 1970. */
  #tailDay = today()

  constructor(options: ArchiverOptions) {
    this.#options = options
  }

  /** False once something was found that does not fit; only a person and a restart end that. */
  get archiving(): boolean {
    return !this.#halted
  }

  async start(): Promise<void> {
    this.#next()
  }

  async stop(): Promise<void> {
    if (this.#stopped) return this.#running
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#running = this.#running.then(() => this.#lastRound())
    await this.#running
    await this.#options.pool.end()
  }

  #next(): void {
    this.#running = this.#guarded(async () => {
      const targets = await this.#round(today() !== this.#tailDay)
      this.#tailDay = today()
      await this.#keepUp(targets)
    })
  }

  async #lastRound(): Promise<void> {
    this.#isLast = true
    await this.#guarded(async () => void (await this.#round(true)))
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    const { logger, everyMs } = this.#options
    if (this.#halted) return
    try {
      await work()
    } catch (error) {
      // What was remembered of the logs may be ahead of what was marked.
      this.#archives.clear()
      if (error instanceof LedgerError) this.#halt([storeFinding(error)])
      else logger.warn({ event: 'archive.failed', code: codeOf(error), error })
    }
    if (this.#stopped || this.#halted) return
    this.#timer = setTimeout(() => this.#next(), everyMs)
  }

  async #round(withTail: boolean): Promise<readonly ArchiveTarget[]> {
    const { pool, sealKey, metrics } = this.#options
    const targets = await readArchiveTargets(pool, sealKey)
    for (const target of targets) {
      if (this.#halted) break
      await this.#archive(target, withTail)
    }
    const lag = targets.map(({ log, size }) => size - (this.#archives.get(log)?.size ?? 0))
    metrics.auditArchiveLagRecords.set(lag.reduce((sum, behind) => sum + behind, 0))
    return targets
  }

  async #archive(target: ArchiveTarget, withTail: boolean): Promise<void> {
    const { pool, store, metrics } = this.#options
    const { log, origin, position } = target
    const archive =
      this.#archives.get(log) ?? (await LogArchive.open({ store, origin, size: position.size }))
    this.#archives.set(log, archive)
    const findings = await archiveLog({
      pool,
      log: target,
      archive,
      target,
      withTail: withTail && position.tail < target.size,
      onArchived: (records) => metrics.auditArchivedRecordsTotal.inc(records),
      // The last round ends what is left; a drain that takes too long ends it in turn.
      isStopped: () => this.#stopped && !this.#isLast,
    })
    if (findings.length > 0) this.#halt(findings)
  }

  async #keepUp(targets: readonly ArchiveTarget[]): Promise<void> {
    const isDue = performance.now() - this.#keptUpAt >= this.#options.upkeepEveryMs
    if (!isDue || this.#halted) return
    // Also before one that fails: appends wait for every attempt to drop a day that somebody reads.
    this.#keptUpAt = performance.now()
    const findings = await dropDays(this.#options, { targets, archives: this.#archives })
    if (findings.length > 0) return this.#halt(findings)
    await expireChains(this.#options, targets)
  }

  #halt(findings: readonly Finding[]): void {
    const { metrics, logger } = this.#options
    this.#halted = true
    metrics.auditTamperDetectedTotal.inc()
    const shown = findings.slice(0, FINDINGS_LOGGED_MAX)
    logger.error({ event: 'audit.tamper_detected', by: 'archiver', findings: shown })
  }
}

const DAY_MS = 86_400_000
const today = (): number => Math.floor(Date.now() / DAY_MS)

const storeFinding = (error: LedgerError): Finding => ({
  origin: '',
  seq: null,
  rule: 'TILE_MISSING',
  message: error.message,
})
