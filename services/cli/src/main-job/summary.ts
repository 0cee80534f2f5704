// The summary of a main job, and what must be true of it.
import type { RunFigures } from './measure-run.ts'
import type { MainJobInput } from './contracts.ts'

/** The JSON object that `up --once --json` prints; outsiders rely on its fields. */
export interface Summary {
  readonly ok: boolean
  readonly tasks: number
  readonly handoffs: number
  readonly accepted: number
  readonly rejected: Readonly<Record<string, number>>
  readonly deadLettered: number
  readonly rolledBack: number
  readonly latencyMs: Readonly<Record<'p50' | 'p95' | 'p99' | 'max', number>>
  readonly costUSD: number
  readonly auditRecords: number
  readonly chainVerified: boolean
  readonly traceMs: number
  readonly queue: 'redis' | 'postgres' | 'in-process'
  readonly database: string
  readonly elapsedMs: number
}

interface Circumstances {
  readonly queue: Summary['queue']
  readonly database: string
  readonly elapsedMs: number
}

const REJECTIONS: ReadonlySet<string> = new Set([
  'SIGNATURE_INVALID',
  'SCHEMA_INVALID',
  'INCOMPLETE_CONTEXT',
  'BUDGET_EXHAUSTED',
  'SAFETY_VIOLATION',
])

const tenths = (ms: number): number => Math.round(ms * 10) / 10
const sum = (values: Iterable<number>): number =>
  [...values].reduce((total, value) => total + value, 0)

/** `ok` is true when `problems` is empty. */
export function summarise(
  figures: RunFigures,
  problems: readonly string[],
  circumstances: Circumstances,
): Summary {
  const { latencyMs: latency } = figures
  return {
    ok: problems.length === 0,
    tasks: figures.outcomes.length,
    handoffs: figures.handoffs,
    accepted: figures.accepted,
    rejected: rejectionsOf(figures),
    deadLettered: figures.deadLettered,
    rolledBack: figures.rolledBack,
    latencyMs: {
      p50: tenths(latency.p50),
      p95: tenths(latency.p95),
      p99: tenths(latency.p99),
      max: tenths(latency.max),
    },
    costUSD: sum(figures.outcomes.map((outcome) => outcome.spentMicroUSD)) / 1_000_000,
    auditRecords: sum([...figures.audited.values()].map(({ records }) => records)),
    chainVerified: figures.verification.ok,
    traceMs: tenths(figures.traceMs),
    queue: circumstances.queue,
    database: circumstances.database,
    elapsedMs: Math.round(circumstances.elapsedMs),
  }
}

const rejectionsOf = ({ reasons }: RunFigures): Record<string, number> =>
  Object.fromEntries([...reasons].filter(([reason]) => REJECTIONS.has(reason)))

/** Targets of a main job; a miss of any makes the command fail. */
const TARGETS = { tasksMin: 100, acceptedMin: 300, p99Ms: 500, traceMs: 10_000 } as const

/** What is not as it must be, one sentence each; empty when the run was fine. */
export function findProblems(figures: RunFigures, input: MainJobInput): readonly string[] {
  const problems: string[] = []
  const expect = (holds: boolean, problem: string) => void (holds || problems.push(problem))
  const { outcomes, verification, latencyMs } = figures
  expect(
    outcomes.length === input.taskIds.length,
    `${input.taskIds.length} tasks were sent, ${outcomes.length} are in the database`,
  )
  expect(
    !input.isWhole || outcomes.length >= TARGETS.tasksMin,
    `${outcomes.length} tasks, expected at least ${TARGETS.tasksMin}`,
  )
  expect(
    !input.isWhole || figures.accepted >= TARGETS.acceptedMin,
    `${figures.accepted} handoffs were accepted, expected at least ${TARGETS.acceptedMin}`,
  )
  problems.push(
    ...outcomes.flatMap((outcome) => outcomeProblem(outcome, input)).slice(0, PROBLEMS_MAX),
  )
  problems.push(...costProblems(figures).slice(0, PROBLEMS_MAX))
  expect(
    verification.ok,
    `the audit log does not verify: ${verification.findings[0]?.message ?? 'unknown'} (${verification.findingsTotal} findings)`,
  )
  expect(
    latencyMs.p99 < TARGETS.p99Ms,
    `p99 from dispatch to accept is ${Math.round(latencyMs.p99)} ms, the target is ${TARGETS.p99Ms} ms`,
  )
  expect(
    figures.traceMs < TARGETS.traceMs,
    `a trace took ${Math.round(figures.traceMs)} ms to rebuild`,
  )
  return problems
}

const PROBLEMS_MAX = 10

function outcomeProblem(outcome: RunFigures['outcomes'][number], input: MainJobInput): string[] {
  const { taskId, status, state, reason } = outcome
  const name = `${input.names.get(taskId) ?? 'task'} (${taskId})`
  const seen = `is ${status}, its last handoff ${state}${reason === null ? '' : ` ${reason}`}`
  if (taskId === input.injectedTaskId) {
    const stopped = state === 'DEAD_LETTERED' && reason === 'SAFETY_VIOLATION'
    return stopped ? [] : [`the planted injection was not dead-lettered: ${name} ${seen}`]
  }
  if (taskId === input.failingTaskId) {
    const rolledBack = state === 'ROLLED_BACK' && status === 'PENDING_HANDOFF'
    return rolledBack ? [] : [`the failing task was not rolled back: ${name} ${seen}`]
  }
  return status === 'COMPLETED' ? [] : [`${name} ${seen}, expected COMPLETED`]
}

function costProblems({ outcomes, audited }: RunFigures): string[] {
  return outcomes.flatMap(({ taskId, spentMicroUSD, hopsMicroUSD }) => {
    const recorded = audited.get(taskId)?.spentMicroUSD
    if (spentMicroUSD === hopsMicroUSD && spentMicroUSD === recorded) return []
    return [
      `task ${taskId} booked ${spentMicroUSD} micro-USD, its hops add up to ${hopsMicroUSD}, the audit log says ${recorded ?? 'nothing'}`,
    ]
  })
}
