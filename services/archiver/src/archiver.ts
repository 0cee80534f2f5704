// Copies what is sealed to the cold store, minutes behind; stops for good at the first thing that does not fit.
import { archiveLog, openLogArchive, publishHead, readArchiveTargets } from '@baton/audit'
import type { ArchiveTarget, LogArchive, ProvenRoot } from '@baton/audit'
import { LedgerError } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { createColdWatcher } from './cold-watcher.ts'
import { dropDays, expireChains } from './retention.ts'
import type { RetentionOptions } from './retention.ts'

interface ArchiverOptions extends RetentionOptions {
  readonly everyMs: number
  readonly retentionEveryMs: number
  /** How many are read again, at least, and how often a pass over a small store begins. */
  readonly bundlesPerSecond: number
  readonly passEveryMs: number
  readonly metrics: Metrics
}

const FINDINGS_LOGGED_MAX = 10
const MEND =
  'Keep what is there and find out who changed it; move changed objects away; then run `audit mend-cold` and start the archiver again.'

const tampered = (findings: readonly Finding[]) => ({
  event: 'audit.tamper_detected',
  by: 'archiver',
  findings: findings.slice(0, FINDINGS_LOGGED_MAX),
  ...(findings.some(({ rule }) => rule.startsWith('TILE_')) ? { fix: MEND } : {}),
})

export interface Archiver extends Service {
  /** False once something was found that does not fit; only a person and a restart end that. */
  readonly archiving: boolean
}

/** Stays up and unready after a finding, so that what it saw can be read from its metrics and log. */
export function createArchiver(options: ArchiverOptions): Archiver {
  const { pool, sealKey, everyMs, metrics, logger } = options
  const archives = new Map<number, LogArchive>()
  const proven = new Map<number, ProvenRoot>()
  const watcher = createColdWatcher({ ...options, proven, onFindings: halt })
  let phase: 'archiving' | 'halted' = 'archiving'
  let keptUpAt = Number.NEGATIVE_INFINITY
  /** The day that ended last with partial tiles, as a number of days since 1970. */
  let tailDay = today()
  let stopped: Promise<void> | undefined
  let targets: readonly ArchiveTarget[] = []
  // Also while the store cannot be written: that is when the lag grows.
  metrics.auditArchiveLagRecords.read(() => lagOf(targets, archives))

  function halt(findings: readonly Finding[]): void {
    if (findings.length === 0) return
    phase = 'halted'
    metrics.auditTamperDetectedTotal.inc()
    metrics.auditTampered.set(1)
    logger.error(tampered(findings))
  }

  async function archiveAll(withTail: boolean, isStopped: () => boolean) {
    targets = await readArchiveTargets(pool, sealKey)
    for (const target of targets) {
      if (phase === 'halted') break
      halt(await archiveOne({ ...options, archives, proven, target, withTail, isStopped }))
    }
  }

  async function keepUp(): Promise<void> {
    const isDue = performance.now() - keptUpAt >= options.retentionEveryMs
    if (!isDue || phase === 'halted') return
    // Also before one that fails: appends wait for every attempt to drop a day that somebody reads.
    keptUpAt = performance.now()
    halt(await dropDays(options, { targets, archives }))
    if (phase === 'archiving') halt(await expireChains(options, targets))
  }

  const nextRound = (): number => (phase === 'halted' ? Infinity : everyMs)

  function failed(error: unknown): number {
    void watcher.start()
    if (error instanceof LedgerError) halt([storeFinding(error)])
    else logger.warn({ event: 'archive.failed', code: codeOf(error), error })
    return nextRound()
  }

  const rounds = every({
    name: 'archiver',
    everyMs,
    async run(stopping) {
      await watcher.recheck()
      const isStopped = () => stopping.aborted || phase === 'halted'
      await archiveAll(today() !== tailDay, isStopped)
      tailDay = today()
      await watcher.start()
      await keepUp()
      return nextRound()
    },
    failed,
  })

  async function archiveTheRest(): Promise<void> {
    await rounds.stop()
    await watcher.stop()
    // Ends what is left; a drain that takes too long ends it in turn.
    if (phase === 'archiving') await archiveAll(true, () => false).catch(failed)
    await pool.end()
  }

  return {
    name: rounds.name,
    get archiving() {
      return phase === 'archiving'
    },
    start: () => rounds.start(),
    stop: () => (stopped ??= archiveTheRest()),
  }
}

const lagOf = (
  targets: readonly ArchiveTarget[],
  archives: ReadonlyMap<number, LogArchive>,
): number =>
  targets.reduce((sum, { log, size, position }) => {
    return sum + size - (archives.get(log)?.size ?? position.size)
  }, 0)

interface OneLog extends ArchiverOptions {
  readonly archives: Map<number, LogArchive>
  /** What this process has compared with signed heads. */
  readonly proven: Map<number, ProvenRoot>
  readonly target: ArchiveTarget
  readonly withTail: boolean
  readonly isStopped: () => boolean
}

async function archiveOne(one: OneLog): Promise<readonly Finding[]> {
  const { pool, store, metrics, archives, proven, target, withTail, isStopped } = one
  const { log, origin, position, signers } = target
  const archive = archives.get(log) ?? (await openLogArchive({ store, origin, ...position }))
  archives.set(log, archive)
  // What it appends is compared by the next round.
  const before = { size: archive.size, root: archive.root() }
  const findings = await archiveLog({
    pool,
    log: target,
    archive,
    target,
    withTail: withTail && position.tail < target.size,
    onArchived: (records) => metrics.auditArchivedRecordsTotal.inc(records),
    isStopped,
  }).catch((error: unknown) => {
    // What is remembered of the log may be ahead of what was marked.
    archives.delete(log)
    throw error
  })
  if (findings.length > 0) return findings
  proven.set(log, before)
  return archive.tail === target.size ? publishHead({ store, origin, signers }, target) : []
}

const DAY_MS = 86_400_000
const today = (): number => Math.floor(Date.now() / DAY_MS)

const storeFinding = (error: LedgerError): Finding => ({
  origin: '',
  seq: null,
  rule: 'TILE_MISSING',
  message: error.message,
})
