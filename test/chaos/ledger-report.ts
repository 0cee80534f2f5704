// What a ledger campaign found: figures for programs and some lines for people.
import { describeViolation } from './check.ts'
import type { Violation } from './check.ts'
import type { LedgerEvidence } from './ledger-evidence.ts'
import type { Gathered } from './ledger-gather.ts'
import { LEDGER_INVARIANTS } from './ledger-invariants.ts'
import type { KillRun, KillTarget } from './ledger-kills.ts'
import { spreadOf } from './report.ts'
import type { Spread } from './report.ts'

export interface LedgerReport {
  readonly ok: boolean
  readonly seed: number
  readonly startedAt: string
  readonly elapsedSeconds: number
  /** How often each was killed while it was up. */
  readonly kills: Readonly<Record<string, number>>
  readonly acknowledgedRecords: number
  readonly records: number
  readonly handoffs: number
  readonly executions: number
  readonly lost: number
  readonly forks: number
  readonly executionsWithoutReceipt: number
  readonly seals: number
  readonly checkpointsSeen: number
  readonly archivedRecords: number
  /**
   * Milliseconds from a kill until: the next append is acknowledged that began after it (auditor, Postgres), the
   * next seal is anchored (sealer), the process is ready (others). Other kills may be under way meanwhile.
   */
  readonly recoveryMs: Readonly<Record<string, Spread>>
  readonly drainSeconds: number
  /** Processes that ended although nobody killed them, for example at a start without Postgres. */
  readonly endedByThemselves: Readonly<Record<string, number>>
  readonly invariants: readonly string[]
  readonly violations: readonly string[]
}

export interface LedgerResult extends Gathered {
  readonly seed: number
  readonly startedAt: number
  readonly kills: readonly KillRun[]
  readonly alarms: readonly string[]
  /** When each checkpoint was anchored, in milliseconds since 1970, oldest first. */
  readonly anchoredAt: readonly number[]
  readonly drainMs: number
  readonly surprises: readonly string[]
  readonly violations: readonly Violation[]
}

export function ledgerReportOf(result: LedgerResult): LedgerReport {
  const { evidence, kills, violations } = result
  const broken = (...ids: string[]) => violations.filter(({ id }) => ids.includes(id)).length
  const targets = Map.groupBy(kills, ({ target }) => target)
  return {
    ok: violations.length === 0,
    seed: result.seed,
    startedAt: new Date(result.startedAt).toISOString(),
    elapsedSeconds: Math.round((Date.now() - result.startedAt) / 1_000),
    kills: sorted([...targets].map(([target, ofOne]) => [target, ofOne.length])),
    acknowledgedRecords: new Set(evidence.acknowledged.map(({ handoffId }) => handoffId)).size,
    records: evidence.records.length,
    handoffs: result.handoffs,
    executions: result.executions,
    lost: broken('L1', 'I1'),
    forks: broken('L2', 'L3', 'L4', 'L7'),
    executionsWithoutReceipt: broken('L5', 'L9', 'I4'),
    seals: evidence.hot[0]?.leaves.length ?? 0,
    checkpointsSeen: evidence.checkpoints.length,
    archivedRecords: evidence.coverage.reduce((sum, { archived }) => sum + archived, 0),
    recoveryMs: sorted(
      [...targets].map(([target, ofOne]) => [
        target,
        spreadOf(ofOne.flatMap((kill) => recoveryMs(kill, result))),
      ]),
    ),
    drainSeconds: Math.round(result.drainMs / 100) / 10,
    endedByThemselves: countsOf(result.surprises),
    invariants: LEDGER_INVARIANTS.map(
      ({ id, promise, rule }) => `${id} (promise ${promise}): ${rule}`,
    ),
    violations: violations.map(describeViolation),
  }
}

const sorted = <Value>(entries: readonly (readonly [string, Value])[]) =>
  Object.fromEntries(entries.toSorted(([one], [other]) => one.localeCompare(other)))

const countsOf = (words: readonly string[]): Readonly<Record<string, number>> =>
  sorted([...Map.groupBy(words, (word) => word)].map(([word, same]) => [word, same.length]))

const BY_APPENDS: ReadonlySet<KillTarget> = new Set(['auditor', 'postgres', 'backend'])

/** Empty for a kill after which the load ended before anything could be seen. */
function recoveryMs(
  { target, killedAt, readyAt }: KillRun,
  { evidence, anchoredAt }: Pick<LedgerResult, 'evidence' | 'anchoredAt'>,
): readonly number[] {
  if (target === 'sealer') return firstAfter(anchoredAt, killedAt)
  if (!BY_APPENDS.has(target)) return [readyAt - killedAt]
  return firstAfter(answersAfter(evidence, killedAt), killedAt)
}

const firstAfter = (times: readonly number[], since: number): readonly number[] => {
  const after = times.filter((at) => at > since)
  return after.length === 0 ? [] : [Math.min(...after) - since]
}

const answersAfter = ({ acknowledged }: Pick<LedgerEvidence, 'acknowledged'>, since: number) =>
  acknowledged.filter(({ begunAt }) => begunAt >= since).map(({ at }) => at)

/** A few lines for a terminal. */
export function ledgerSummaryOf(report: LedgerReport): string {
  const kills = Object.entries(report.kills)
  const rows = kills.map(([target, count]) => {
    const { p50, p99, max } = report.recoveryMs[target] ?? { p50: 0, p99: 0, max: 0 }
    return `  ${target.padEnd(10)} ${String(count).padStart(4)} kills, back after p50/p99/max ${p50}/${p99}/${max} ms`
  })
  return [
    `${kills.reduce((sum, [, count]) => sum + count, 0)} kills in ${report.elapsedSeconds} s, seed ${report.seed}`,
    ...rows,
    `  ${report.acknowledgedRecords} acknowledged records, ${report.handoffs} handoffs, ${report.executions} executions`,
    `  ${report.seals} seals, ${report.checkpointsSeen} checkpoints seen, ${report.archivedRecords} of ${report.records} records archived`,
    `  lost ${report.lost}, forks ${report.forks}, executions without a receipt ${report.executionsWithoutReceipt}`,
  ].join('\n')
}
