// The drill: rebuilds a random past task as if a regulator had asked, against the clock, and records it.
import { randomInt } from 'node:crypto'
import { readTrace } from '@baton/audit'
import type { ColdStore, CoveredSizes, Pool } from '@baton/audit'
import type { BundleReport } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Periodic } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { DrillAge } from './drill-age.ts'
import { chooseTask } from './drill-choice.ts'
import type { EvidenceService } from './evidence.ts'

interface DrillDependencies {
  readonly reader: Pool
  readonly covered: () => CoveredSizes | undefined
  readonly cold: ColdStore | undefined
  readonly evidence: EvidenceService
  readonly metrics: Pick<Metrics, 'auditDrillsTotal'>
  readonly age: Pick<DrillAge, 'passed'>
  readonly logger: Logger
}

export interface DrillReport {
  readonly seed: number
  readonly taskId: string
  readonly records: number
  /** How many of them stand in the cold store alone. */
  readonly coldRecords: number
  readonly traceMs: number
  readonly verifyMs: number
  readonly totalMs: number
  readonly limitMs: number
  readonly traceVerified: boolean
  readonly verdict: BundleReport['verdict']
  readonly spentMicroUSD: number
  readonly result: 'passed' | 'too slow' | 'failed'
}

const LIMIT_MS = 10_000
const SEEDS = 2 ** 32

const REASONS = {
  passed: 'DRILL_PASSED',
  'too slow': 'DRILL_TOO_SLOW',
  failed: 'DRILL_FAILED',
} as const

interface DrillRequest {
  /** Chooses the task; any by default. */
  readonly seed?: number | undefined
  /** Who wants it: which token, or the schedule. */
  readonly actor: string
}

/**
 * Trace, cost and offline verification of one task, chosen by `seed` among all records of both tiers (E19, I10).
 * The task is a past one: what was recorded of it a moment ago is sealed first, before its time begins. Undefined while the
 * log is empty. The run stands in the task's chain as VERIFY_RUN.
 */
export async function runDrill(
  { reader, covered, cold, evidence, metrics, age, logger }: DrillDependencies,
  { seed = randomInt(SEEDS), actor }: DrillRequest,
): Promise<DrillReport | undefined> {
  const taskId = await chooseTask({ reader, cold }, seed)
  if (taskId === undefined) return undefined
  await evidence.untilCovered([taskId])
  const startedAt = performance.now()
  const trace = await readTrace(reader, taskId, { covered: covered(), cold })
  const tracedAt = performance.now()
  const rebuilt = await evidence.reconstruct(taskId)
  const endedAt = performance.now()
  const verdict = rebuilt?.verdict ?? 'tampered'
  const totalMs = endedAt - startedAt
  const isSound = trace.verified && verdict !== 'tampered'
  const inTime = totalMs <= LIMIT_MS ? 'passed' : 'too slow'
  const result = isSound ? inTime : 'failed'
  const report: DrillReport = {
    seed,
    taskId,
    records: trace.records.length,
    coldRecords: trace.records.filter(({ tier }) => tier === 'cold').length,
    traceMs: tracedAt - startedAt,
    verifyMs: endedAt - tracedAt,
    totalMs,
    limitMs: LIMIT_MS,
    traceVerified: trace.verified,
    verdict,
    spentMicroUSD: trace.cost.totalSpentMicroUSD + trace.cost.finalExecutionsMicroUSD,
    result,
  }
  const traceparent = rebuilt?.evidence.traceparents.get(taskId)
  const reason = REASONS[result]
  await evidence.record('VERIFY_RUN', { taskId, traceparent, actor, reason })
  metrics.auditDrillsTotal[result].inc()
  if (result === 'passed') await age.passed()
  logger.info({ event: 'audit.drill', seed, taskId, result, totalMs: Math.round(totalMs) })
  return report
}

const FIRST_AFTER_MS = 3_600_000

/** Drills by itself, so that nobody has to remember to: first an hour after the start, or sooner where that is the interval. */
export const scheduleDrills = (dependencies: DrillDependencies, everyMs: number): Periodic =>
  every({
    name: 'drills',
    everyMs,
    firstAfterMs: Math.min(everyMs, FIRST_AFTER_MS),
    async run() {
      await runDrill(dependencies, { actor: 'schedule' })
    },
    failed: (error) =>
      dependencies.logger.warn({ event: 'audit.drill_failed', code: codeOf(error), error }),
  })
