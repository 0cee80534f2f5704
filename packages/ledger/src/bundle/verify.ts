// Verifies an evidence bundle offline, against nothing but the auditor's own policy.
import { CHECK_TITLES, CHECKS } from './checks.ts'
import type { CheckId, CheckTable, FoundEnd } from './checks.ts'
import { readEvidence } from './evidence.ts'
import type { ReadOptions } from './evidence.ts'
import { FILES } from './format.ts'
import { notExcluded } from './not-excluded.ts'
import { isBundleLike } from './recognise.ts'
import { visitRecords } from './records.ts'
import { createCheckLog } from './report.ts'
import type { BundleReport, CheckReport, ProvenEnd, SegmentReport } from './report.ts'

/**
 * Performs every check on a bundle (E24, I10) and says for each one how it went and where it
 * failed. Never throws for what the bytes are. The policy and the time come from the caller.
 */
export const verifyBundle = (bytes: Uint8Array, options: ReadOptions): BundleReport =>
  verifyWith(CHECKS, bytes, options)

/** The same with another table of checks; for the tests of the checks themselves. */
export function verifyWith(
  table: CheckTable,
  bytes: Uint8Array,
  options: ReadOptions,
): BundleReport {
  const evidence = readEvidence(bytes, options)
  const segments: SegmentReport[] = []
  const found: FoundEnd = { until: null, later: [], absent: [] }
  const running = Object.entries(table).map(([id, check]) => {
    const log = createCheckLog(id as CheckId, CHECK_TITLES[id as CheckId])
    return { log, visitor: check({ evidence, log, segments, end: found }) }
  })
  const visits = running.flatMap(({ visitor }) => visitor.record ?? [])
  let records = 0
  for (const name of [FILES.records, FILES.erasures]) {
    visitRecords(name, evidence.files.get(name) ?? new Uint8Array(0), (record) => {
      records += Number(name === FILES.records)
      for (const visit of visits) visit(record)
    })
  }
  for (const { visitor } of running) visitor.end?.()
  const checks = running.map(({ log }) => log.report())
  const { manifest, seal } = evidence
  const verdict = isBundleLike(bytes) ? verdictOf(checks) : 'not-a-bundle'
  const end = provenEnd(found, checks)
  return {
    verdict,
    taskId: manifest?.taskId ?? null,
    records,
    sealedAt: seal?.at ?? null,
    checks,
    end,
    notExcluded: notExcluded({ verdict, checks, end, heir: evidence.sealSigners?.open }),
    segments,
  }
}

/** Only under a seal that is proven, that the reader's witnesses saw and whose time can be. */
function provenEnd(
  { until, later, absent }: FoundEnd,
  checks: readonly CheckReport[],
): ProvenEnd | null {
  const isDoubted = checks.some(
    ({ id, result }) => result === 'failed' || (result === 'incomplete' && UNDER_THE_SEAL.has(id)),
  )
  return until === null || isDoubted ? null : { until, later, absent }
}

const UNDER_THE_SEAL: ReadonlySet<CheckId> = new Set(['WITNESS_QUORUM', 'SEAL_TIME'])

function verdictOf(checks: readonly CheckReport[]): BundleReport['verdict'] {
  const results = new Map(checks.map(({ id, result }) => [id, result]))
  const isWhole =
    results.get('CONTAINER') !== 'failed' && results.get('MANIFEST_DIGEST') !== 'failed'
  if (isWhole && results.get('VERSION') === 'failed') return 'unsupported'
  if (checks.some(({ result }) => result === 'failed')) return 'tampered'
  // Times that do not agree are a clock's fault: what was recorded, and in which order, is proven without them.
  if (results.get('SEAL_TIME') === 'incomplete') return 'clock'
  return checks.some(({ result }) => result === 'incomplete') ? 'incomplete' : 'valid'
}
