// Re-reads the whole log for ever at a set rate, and says what it found; the appends come first.
import { readScrubPosition, scrubPiece, storeScrubPosition } from '@baton/audit'
import type { ColdStore, Pool, ScrubPass, ScrubPosition, SubjectVault } from '@baton/audit'
import type { Finding } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import { reportFindings } from './report-findings.ts'

interface ScrubberOptions {
  readonly reader: Pool
  readonly writer: Pool
  readonly vault: SubjectVault
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly sealKey: KeyObject | undefined
  readonly cold: ColdStore | undefined
  /** At least; more where a pass would take longer than a day. */
  readonly recordsPerSecond: number
  readonly metrics: Pick<
    Metrics,
    'auditTamperDetectedTotal' | 'auditTampered' | 'auditScrubbedRecordsTotal'
  >
  readonly logger: Logger
}

/** The answer of `GET /v1/scrub`. */
export interface ScrubStatus {
  readonly passStartedAt: string | null
  readonly passRecords: number
  readonly passFindings: number
  readonly lastPass: ScrubPass | null
  readonly recordsPerSecond: number
  /** The last hundred, since this process started. */
  readonly findings: readonly Finding[]
}

export interface Scrubber extends Service {
  status(): ScrubStatus
}

/** At least two of the largest batch, so that a piece always ends behind a whole one. */
const PIECE_RECORDS_MIN = 512
const DAY_SECONDS = 80_000
/** Passes over a small log begin no more often than this. */
const PASS_EVERY_MS = 600_000
const FAILED_WAIT_MS = 10_000
const FINDINGS_KEPT = 100

export function createScrubber(options: ScrubberOptions): Scrubber {
  const { reader, writer, metrics, logger } = options
  const findings: Finding[] = []
  let position: ScrubPosition | undefined
  let perSecond = options.recordsPerSecond

  function report(found: readonly Finding[]): void {
    if (found.length === 0) return
    reportFindings(found, { metrics, logger, by: 'scrub' })
    findings.push(...found.slice(0, FINDINGS_KEPT))
    findings.splice(0, findings.length - FINDINGS_KEPT)
  }

  /** Answers how long to wait before the next piece. */
  async function piece(): Promise<number> {
    position ??= await readScrubPosition(reader)
    const records = Math.max(PIECE_RECORDS_MIN, perSecond)
    const now = () => new Date()
    const scrubbed = await scrubPiece(position, { ...options, pool: reader, records, now })
    const passStarted = position?.passStartedAt
    report(scrubbed.findings)
    position = scrubbed.position
    await storeScrubPosition(writer, position)
    metrics.auditScrubbedRecordsTotal.inc(scrubbed.records)
    perSecond = Math.max(options.recordsPerSecond, Math.ceil(scrubbed.total / DAY_SECONDS))
    if (!scrubbed.isThrough) return (scrubbed.records / perSecond) * 1_000
    logger.info({ event: 'audit.scrubbed', ...scrubbed.position.lastPass })
    const tookMs = passStarted === undefined ? 0 : Date.now() - Date.parse(passStarted)
    return Math.max(0, PASS_EVERY_MS - tookMs)
  }

  const pieces = every({
    name: 'scrubber',
    everyMs: PASS_EVERY_MS,
    run: piece,
    failed(error) {
      logger.warn({ event: 'audit.scrub_failed', code: codeOf(error), error })
      return FAILED_WAIT_MS
    },
  })
  return {
    ...pieces,
    status: () => ({
      passStartedAt: position?.passStartedAt ?? null,
      passRecords: position?.passRecords ?? 0,
      passFindings: position?.passFindings ?? 0,
      lastPass: position?.lastPass ?? null,
      recordsPerSecond: perSecond,
      findings,
    }),
  }
}
