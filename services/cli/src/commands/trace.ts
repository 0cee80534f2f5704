// `trace`: what happened to a task, rebuilt from the audit log alone, with every record checked.
import type { TaskTrace, TraceRecord } from '@baton/audit'
import { LOG_VERDICTS, verdictOf } from '@baton/ledger'
import { hasTaskEnded } from '@baton/protocol/states'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withReadingGateway } from '../gateway-client.ts'
import { counted, dollars, elapsed, milliseconds, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { describeEnd, keptLegend } from './describe-kept.ts'
import { findTask, orNotFound } from './find-task.ts'
import { troubleLines, troublesOf } from './handoff-troubles.ts'
import type { Seen, Trouble } from './handoff-troubles.ts'
import { costLines } from './trace-costs.ts'
import { graphLines } from './trace-graph.ts'
import { knownPeople } from '../instance/known-people.ts'
import { resultLines } from './trace-results.ts'
import { signerLine, unprovenDecisions } from './trace-signers.ts'
import type { Unproven } from './trace-signers.ts'

/** The task is null where only the log knows it any more. */
interface TracedTask {
  readonly task: { readonly result: unknown; readonly status: string } | null
  readonly handoffs: readonly Seen[]
  readonly audit: Omit<RecordedTrace, 'result' | 'isOpen' | 'unproven' | 'troubles'>
}

/** What the log says, and the handoffs that it should know and does not. */
interface RecordedTrace extends TaskTrace {
  /** What the task came to, as the operational database has it. */
  readonly result: unknown
  /** Something of it goes on, or waits for somebody. */
  readonly isOpen: boolean
  readonly unrecorded: readonly string[]
  readonly expiredHandoffs: readonly string[]
  readonly alteredStreams: readonly string[]
  readonly isAbsent: boolean
  /** Decisions that no signature proves which counts here. */
  readonly unproven: readonly Unproven[]
  /** What keeps handoffs of it from being done, as the operational database has it. */
  readonly troubles: readonly Trouble[]
}

/** Exit code 3 when a record is missing or was changed, 5 when the log knows nothing of the task. */
export async function trace(context: Context, task: string): Promise<ExitCode> {
  return withReadingGateway(context, async (gateway) => {
    const taskId = await findTask(gateway, task)
    const startedAt = performance.now()
    const asked = gateway.get<TracedTask>(`/v2/tasks/${taskId}/trace`)
    const { audit, handoffs, ...known } = await orNotFound(task, asked)
    const status = known.task?.status
    const isOpen = status !== undefined && !hasTaskEnded(status)
    const bodies = audit.records.map(({ body }) => body)
    const unproven = unprovenDecisions(bodies, await knownPeople(context))
    const traceMs = performance.now() - startedAt
    const isDone = known.task === null || status === 'COMPLETED'
    const troubles = isDone ? [] : troublesOf(handoffs)
    const found = { ...audit, result: known.task?.result ?? null, isOpen, unproven, troubles }
    if (found.records.length === 0 && found.verified && !found.expired)
      return printUnrecorded(context, task, found)
    print(context, found, traceMs)
    return exitCodeOf(found)
  })
}

/** The task is known, and the log holds no record of it: nothing was decided yet, or its records are gone. */
function printUnrecorded({ output }: Context, task: string, found: RecordedTrace): ExitCode {
  if (output.json) output.data(JSON.stringify(found))
  const { isAbsent } = found
  output.step(
    isAbsent ? 'passed' : 'unknown',
    'record',
    isAbsent
      ? 'none yet: no handoff of the task was judged, as a signed seal proves'
      : 'none is stored, and that there never was one cannot be proven now',
  )
  output.next(isAbsent ? nextStep(`task ${task}`) : nextStep('verify'))
  return isAbsent ? EXIT.fine : EXIT.incomplete
}

/** By the table of findings; a gap, or a handoff without its record, is a record that is gone. */
function exitCodeOf({ verified, gaps, findings, unrecorded }: RecordedTrace): ExitCode {
  if (verified) return EXIT.fine
  const { exitCode } = LOG_VERDICTS[verdictOf(findings.map(({ rule }) => rule))]
  const isShort = gaps.length + unrecorded.length > 0 || exitCode === EXIT.fine
  return isShort ? EXIT.verificationFailed : exitCode
}

function print({ output }: Context, found: RecordedTrace, traceMs: number): void {
  const { taskId, records, expired, gaps, findings, unrecorded, alteredStreams, verified, cost } =
    found
  if (output.json) output.data(JSON.stringify({ ...found, traceMs }))
  else {
    output.data(`Task ${taskId}\n`)
    output.data(recordTable(records))
    const graph = graphLines(records.map(({ body }) => body))
    if (graph.length > 0) output.data(`\n${graph.join('\n')}`)
    output.data(`\n${costLines(cost).join('\n')}`)
    const { answers, result } = resultLines(found)
    if (answers !== '') output.data(`\n${answers}`)
    if (result !== '') output.words(`\n${result}`)
    output.words(`\n${keptLegend(records).join('\n')}`)
    const told = troubleLines(found.troubles)
    if (told.length > 0) output.words(`\n${told.join('\n')}`)
  }
  if (expired > 0) {
    const isProven = found.ends.length > 0
    const words = isProven
      ? 'expired after the retention; nothing is wrong.'
      : 'are marked as expired, which no signed head proves yet.'
    output.words(`\n${counted(expired, 'earlier record')} ${words}`)
    for (const handoffId of found.expiredHandoffs)
      output.words(`The decision about handoff ${handoffId} was among them, as its receipt says.`)
  }
  output.words(`\nTrace rebuilt in ${milliseconds(traceMs)} (limit 10 s).`)
  const problems = [
    ...gaps.map(({ message }) => message),
    ...findings.map(({ message }) => message),
    ...unrecorded.map((handoffId) => `handoff ${handoffId} was accepted without a record of it`),
    ...alteredStreams.map(
      (handoffId) => `the chunks of handoff ${handoffId} are not those that its record names`,
    ),
  ]
  for (const problem of problems) output.step('failed', 'record', problem)
  for (const one of found.unproven) output.step('unknown', 'decision', signerLine(one))
  if (verified) {
    const end = describeEnd(found)
    output.step('passed', 'verified', `${counted(records.length, 'record')}, ${end.words}`)
  }
  output.next(nextFor(found))
}

function nextFor({ taskId, verified, troubles, isOpen, result }: RecordedTrace): string {
  if (!verified) return nextStep('verify')
  const last = troubles.at(-1)
  if (last !== undefined && isOpen) return last.next
  if (result !== null) return nextStep(`result ${short(taskId)}`)
  return nextStep(`${isOpen ? 'task show' : 'verify'} ${short(taskId)}`)
}

function recordTable(records: readonly TraceRecord[]): string {
  // Most traces hold nothing that a person decided.
  const decided = records.some(({ body }) => body.act !== undefined)
  const first = Date.parse(records[0]?.body.recordedAt ?? '')
  const rows = records.map(({ body, recordHash, assurance }) => [
    String(body.taskSeq),
    `+${elapsed(Date.parse(body.recordedAt) - first)}`,
    `${body.fromAgent.agentId} → ${body.toAgent.agentType}`,
    body.event,
    String(body.attempt),
    body.cost === null ? '' : dollars(body.cost.spentMicroUSD),
    body.reason ?? '',
    ...(decided ? [body.act?.actor ?? ''] : []),
    assurance,
    short(recordHash),
  ])
  return renderTable(
    [
      { title: '#', align: 'right' },
      { title: 'TIME', align: 'right' },
      { title: 'HANDOFF', widthMax: 44 },
      { title: 'EVENT' },
      { title: 'TRY', align: 'right' },
      { title: 'SPENT', align: 'right' },
      { title: 'REASON', widthMax: 28 },
      ...(decided ? [{ title: 'BY', widthMax: 28 }] : []),
      { title: 'KEPT' },
      { title: 'RECORD' },
    ],
    rows,
  )
}
