// What a person reads after the main job: findings per licence, latencies against the target, cost, and what waits.
import type { ReviewFindings } from '@baton/contract-review'
import type { ClaimDecision } from '@baton/insurance-claim'
import { LATENCY_TARGETS } from '@baton/telemetry'
import { count, counted, dollars, milliseconds, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import type { Output } from '../terminal/output.ts'
import type { MainJobInput } from './contracts.ts'
import type { RunFigures } from './measure-run.ts'

const ROWS_MAX = 20

type Outcome = RunFigures['outcomes'][number]

/** Prints the tables of a finished run; the riskiest licences come first. */
export function printReport(output: Output, figures: RunFigures, input: MainJobInput): void {
  output.data('')
  const reviews = figures.outcomes.filter(({ taskId }) => taskId !== input.claimTaskId)
  output.data(findingsTable(reviews))
  const completed = reviews.filter(({ status }) => status === 'COMPLETED').length
  if (completed > ROWS_MAX) output.data(`… and ${count(completed - ROWS_MAX)} more, less risky`)
  output.data('')
  output.data(latencyLine(figures))
  output.data(costLine(figures))
  output.data(auditLine(figures))
  for (const line of claimLines(figures, input)) output.line(line)
  for (const line of exceptionLines(figures, input)) output.line(line)
}

function findingsTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes
    .filter(({ status }) => status === 'COMPLETED')
    .map(({ taskId, result }) => ({ taskId, findings: result as ReviewFindings }))
    .toSorted((a, b) => b.findings.riskScore - a.findings.riskScore)
    .slice(0, ROWS_MAX)
    .map(({ taskId, findings }) => [
      findings.licence,
      findings.spdx,
      String(findings.riskScore),
      findings.level,
      String(findings.clauses),
      findings.flags.slice(0, 3).join(', '),
      short(taskId),
    ])
  return renderTable(
    [
      { title: 'LICENCE OF', widthMax: 34 },
      { title: 'SPDX', widthMax: 20 },
      { title: 'RISK', align: 'right' },
      { title: 'LEVEL' },
      { title: 'CLAUSES', align: 'right' },
      { title: 'FLAGS', widthMax: 48 },
      { title: 'TASK' },
    ],
    rows,
  )
}

function latencyLine({ latencyMs, accepted, handoffs }: RunFigures): string {
  const { p99Ms, maxMs } = LATENCY_TARGETS.queue
  const { p50, p95, p99, max } = latencyMs
  const figures = [
    `p50 ${milliseconds(p50)}`,
    `p95 ${milliseconds(p95)}`,
    `p99 ${milliseconds(p99)}`,
  ]
  const met = p99 <= p99Ms && max <= maxMs ? 'within' : 'outside'
  return [
    `Handoffs     ${count(handoffs)} sent, ${count(accepted)} accepted; dispatch to accept`,
    `${figures.join(', ')}, max ${milliseconds(max)}: ${met} the target (p99 ${milliseconds(p99Ms)}, max ${milliseconds(maxMs)})`,
  ].join(' ')
}

function costLine({ outcomes, audited }: RunFigures): string {
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  const booked = total(outcomes.map(({ spentMicroUSD }) => spentMicroUSD))
  const added = total(outcomes.map(({ hopsMicroUSD }) => hopsMicroUSD))
  const recorded = total([...audited.values()].map(({ spentMicroUSD }) => spentMicroUSD))
  const exact = booked === added && booked === recorded
  const agreement = exact
    ? 'booked, added up hop by hop and recorded in the audit log to the same micro-dollar'
    : `booked; the hops add up to ${dollars(added)}, the audit log says ${dollars(recorded)}`
  return `Cost         ${dollars(booked)} ${agreement}`
}

function auditLine({ verification, traceMs }: RunFigures): string {
  const { ok, records, chains, findingsTotal } = verification
  const verified = ok
    ? `verified, ${counted(records, 'record')} in ${counted(chains.length, 'chain')}`
    : `NOT verified: ${counted(findingsTotal, 'finding')} in ${counted(records, 'record')}`
  return `Audit log    ${verified}; one trace rebuilt in ${milliseconds(traceMs)} (limit 10 s)`
}

function claimLines({ outcomes }: RunFigures, { claimTaskId }: MainJobInput): string[] {
  const claim = outcomes.find(({ taskId }) => taskId === claimTaskId)
  if (claim?.status !== 'COMPLETED') return []
  const { decision, amount } = claim.result as ClaimDecision
  const decided = decision === 'pay' ? `pay $${amount.toFixed(2)}` : decision
  const drawn = nextStep(`trace ${short(claimTaskId)}`)
  return [
    `Claim        three checks at the same time, joined to one decision: ${decided}; ${drawn}`,
  ]
}

const reviewStep = (taskId: string): string => nextStep(`dlq show ${short(taskId)}`)

function exceptionLines({ outcomes }: RunFigures, { names }: MainJobInput): string[] {
  return outcomes.flatMap(({ taskId, state, reason }) => {
    const name = `${names.get(taskId) ?? 'task'} (${short(taskId)})`
    if (state === 'DEAD_LETTERED')
      return [`Dead letter  ${name}: ${reason ?? ''}; waits for a person: ${reviewStep(taskId)}`]
    if (state === 'ROLLED_BACK')
      return [`Rolled back  ${name}: ${reason ?? ''}; stands at its sender’s checkpoint`]
    return []
  })
}
