// What a verification of one task proves, line by line, and what it comes to.
import type { TaskTrace } from '@baton/audit'
import { LOG_VERDICTS, verdictOf } from '@baton/ledger'
import type { Finding, FindingRule } from '@baton/ledger'
import { counted, dollars, short } from '../terminal/figures.ts'
import type { Mark } from '../terminal/output.ts'
import { describeEnd, summariseKept } from './describe-kept.ts'
import { markOf } from './verification-checks.ts'
import type { TaskCheck } from './decision-checks.ts'
import type { Check } from './verification-checks.ts'

/** What speaks of the end of a task, and not of the records that are there. */
const OF_THE_END: ReadonlySet<FindingRule> = new Set<FindingRule>(['TASK_END', 'TASK_MAP'])
const isOfColumns = ({ rule }: Finding): boolean => rule === 'RECORD_COLUMNS'
const isOfEnd = ({ rule }: Finding): boolean => OF_THE_END.has(rule)

/** One line per check, each with the first thing that is wrong there. */
export function taskChecks(found: TaskTrace): readonly Check[] {
  const { records, gaps, findings, cost } = found
  const total = cost.totalSpentMicroUSD + cost.finalExecutionsMicroUSD
  const end = describeEnd(found)
  const none = 'no record is there'
  const line = (name: string, problems: readonly { readonly message: string }[], text: string) => ({
    name,
    mark: problems.length > 0 ? ('failed' as const) : ('passed' as const),
    text: problems[0]?.message ?? text,
  })
  const ofEnd = line('end', findings.filter(isOfEnd), end.words)
  return [
    line(
      'record hashes',
      findings.filter((finding) => !isOfColumns(finding) && !isOfEnd(finding)),
      `${records.length} of ${records.length} recomputed (RFC 8785, SHA-256)`,
    ),
    line('links', gaps, records.length === 0 ? none : linkedText(records.length)),
    line('columns', findings.filter(isOfColumns), 'indexed columns say what was recorded'),
    ofEnd.mark === 'passed' && !end.isProven ? { ...ofEnd, mark: 'unknown' } : ofEnd,
    line('protected', [], records.length === 0 ? none : summariseKept(records)),
    line('cost', [], `${dollars(total)} over ${counted(cost.hops.length, 'hop')}`),
  ]
}

const linkedText = (records: number): string =>
  `0→${records - 1} unbroken, every parent handoff is there`

/** A record that no signed head proves yet is only consistent with the others. */
export function taskVerdict(
  found: TaskTrace,
  decisions: readonly TaskCheck[] = [],
): readonly [Mark, string] {
  const { taskId, records, gaps, findings, ends } = found
  const task = `task ${short(taskId)}`
  const verdict = gaps.length > 0 ? 'altered' : verdictOf(findings.map(({ rule }) => rule))
  if (verdict === 'altered') {
    const isMapAlone = gaps.length === 0 && findings.every(({ rule }) => rule === 'TASK_MAP')
    const words = isMapAlone
      ? `whether records of ${task} are missing at its end cannot be said, because the map of tasks was changed; nothing is wrong with those that are there`
      : `the records of ${task} are not what was recorded`
    return ['failed', `NOT verified: ${words}`]
  }
  if (verdict !== 'verified') return [markOf(verdict), LOG_VERDICTS[verdict].sentence]
  if (decisions.some(({ mark }) => mark === 'failed'))
    return ['failed', `NOT verified: a decision about ${task} was not made by whom it names`]
  const unproven = records.filter(({ assurance }) => assurance === 'committed').length
  if (unproven === records.length && unproven > 0)
    return [
      'unknown',
      `Incomplete: the records of ${task} fit together, and no signed head proves one`,
    ]
  if (ends.length === 0) {
    const words = `no record of ${task} between its first and its last was altered or removed; no seal says yet whether later ones are missing`
    return ['unknown', `Incomplete: ${words}`]
  }
  const words = `no record of ${task} was altered, ${describeEnd(found).words}`
  const open = decisions.find(({ mark }) => mark === 'unknown')
  if (open !== undefined) {
    const undecided = `${words}; who decided about it is not ${open.isJudged ? 'proven' : 'judged'}`
    return open.isJudged
      ? ['unknown', `Incomplete: ${undecided}`]
      : ['passed', `Verified OK: ${undecided}`]
  }
  return ['passed', `Verified OK: ${words}`]
}
