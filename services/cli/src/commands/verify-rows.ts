// `verify --rows`: holds rows that SQL showed against the proven records of the log, whatever the view did.
import { checkRows, readTrace, unknownColumns, viewOf } from '@baton/audit'
import type { RowFinding, ShownRow, TaskTrace, TraceRecord, ViewName } from '@baton/audit'
import { isUuid } from '@baton/protocol/uuid'
import { permanent } from '@baton/runtime'
import { listTasks } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark } from '../terminal/output.ts'
import { describeEnd, summariseKept } from './describe-kept.ts'
import { wholeTaskId } from './find-task.ts'
import { parseRows } from './parse-rows.ts'
import { readInput } from './read-input.ts'

interface RowsAsked {
  /** A file, or `-` for standard input. */
  readonly from: string
  /** The task that was asked for; without it, the tasks of the rows. */
  readonly task: string | undefined
}

interface RowsReport {
  readonly view: ViewName
  readonly rows: number
  /** How many of them say what a record of the log says. */
  readonly recorded: number
  readonly tasks: readonly string[]
  readonly findings: readonly (RowFinding & { readonly taskId: string })[]
  /** Columns that this version knows nothing of. */
  readonly notCompared: readonly string[]
  readonly verdict: 'verified' | 'altered' | 'incomplete'
}

const BYTES_MAX = 64 * 1_024 * 1_024
const TASKS_MAX = 1_000
const FINDINGS_SHOWN_MAX = 20

/** Exit code 3 when a row is not what was recorded or is missing, 4 when that cannot be said of all of them. */
export async function verifyRows(context: Context, { from, task }: RowsAsked): Promise<ExitCode> {
  const { columns, rows } = parseRows(await readInput(from, BYTES_MAX))
  const view = viewOf(columns)
  if (view === undefined) throw NOT_OF_A_VIEW
  return withDatabases(context, async (opened) => {
    const asked = task === undefined ? [] : [await wholeTaskId(task, listIn(opened))]
    const byTask = groupByTask(rows, asked)
    const checked: TaskRows[] = []
    for (const [taskId, own] of byTask) {
      context.output.progress(`task ${short(taskId)}`)
      checked.push(await checkTask(opened, view, { taskId, rows: own }))
    }
    context.output.endProgress()
    return print(context, {
      view,
      rows: rows.length,
      notCompared: unknownColumns(view, columns),
      checked,
    })
  })
}

const listIn =
  ({ pool }: OpenedDatabases) =>
  (idPrefix: string) =>
    listTasks(pool, { idPrefix, limit: 2 })

type Numbered = readonly (readonly [number, ShownRow])[]

/** Tasks without a row are those that were asked for. */
function groupByTask(
  rows: readonly ShownRow[],
  asked: readonly string[],
): ReadonlyMap<string, Numbered> {
  const numbered = rows.map((row, index) => [index + 1, row] as const)
  const grouped = Map.groupBy(numbered, ([, row]) => String(row['taskid']).toLowerCase())
  for (const taskId of asked) if (!grouped.has(taskId)) grouped.set(taskId, [])
  if (grouped.size === 0) throw NO_TASK
  if (grouped.size > TASKS_MAX) throw tooMany(grouped.size)
  return grouped
}

interface TaskRows {
  readonly taskId: string
  readonly trace: Pick<TaskTrace, 'records' | 'expired' | 'ends' | 'seenBy'>
  readonly records: readonly TraceRecord[]
  readonly findings: readonly RowFinding[]
}

/** Findings about the task's records stand beside those about its rows. */
async function checkTask(
  { audit }: OpenedDatabases,
  view: ViewName,
  { taskId, rows }: { readonly taskId: string; readonly rows: Numbered },
): Promise<TaskRows> {
  if (!isUuid(taskId)) {
    const message = `${JSON.stringify(taskId)} is no task id`
    const findings = rows.map(([row, { handoffid }]) => ({
      row,
      handoffId: String(handoffid),
      message,
    }))
    return {
      taskId,
      trace: { records: [], expired: 0, ends: [], seenBy: null },
      records: [],
      findings,
    }
  }
  const covered = await audit.covered()
  const trace = await readTrace(audit.pool, taskId, { covered, cold: audit.cold })
  const { records, findings } = checkRows(view, rows, trace)
  const broken = [...trace.gaps, ...trace.findings].map(({ message }) => ({
    row: null,
    handoffId: '',
    message: `the log itself: ${message}`,
  }))
  return { taskId, trace, records, findings: [...findings, ...broken] }
}

interface Checked {
  readonly view: ViewName
  readonly rows: number
  readonly notCompared: readonly string[]
  readonly checked: readonly TaskRows[]
}

function print({ output }: Context, { view, rows, notCompared, checked }: Checked): ExitCode {
  const findings = checked.flatMap((one) =>
    one.findings.map((finding) => ({ taskId: one.taskId, ...finding })),
  )
  const records = checked.flatMap((one) => one.records)
  const unproven = records.filter(({ assurance }) => assurance === 'committed').length
  const open = checked.filter(({ trace }) => !describeEnd(trace).isProven)
  const isWhole = notCompared.length + unproven + open.length === 0
  const verdict = findings.length > 0 ? 'altered' : isWhole ? 'verified' : 'incomplete'
  const tasks = checked.map(({ taskId }) => taskId)
  const report: RowsReport = {
    view,
    rows,
    recorded: records.length,
    tasks,
    findings,
    notCompared,
    verdict,
  }
  if (output.json) output.data(JSON.stringify(report))
  const [rowFindings, missing] = [
    findings.filter(({ row }) => row !== null),
    findings.filter(({ row }) => row === null),
  ]
  output.check(
    rowFindings.length === 0 ? 'passed' : 'failed',
    'rows',
    `${records.length} of ${counted(rows, 'row')} of ${view} say what was recorded`,
  )
  output.check(
    missing.length > 0 ? 'failed' : open.length > 0 ? 'unknown' : 'passed',
    'none missing',
    missing.length > 0 ? counted(missing.length, 'finding') : endsOf(checked, open),
  )
  if (notCompared.length > 0)
    output.check('unknown', 'columns', `not known to this version: ${notCompared.join(', ')}`)
  if (records.length > 0) output.check('passed', 'protected', summariseKept(records))
  for (const { taskId, row, message } of findings.slice(0, FINDINGS_SHOWN_MAX))
    output.words(`    ${row === null ? `task ${short(taskId)}` : `row ${row}`}: ${message}`)
  const more = findings.length - FINDINGS_SHOWN_MAX
  if (more > 0) output.words(`    … and ${more} more; --json gives them all`)
  output.check(MARKS[verdict], 'verdict', wordsOf(report, unproven))
  output.next(nextStep('verify'))
  return EXITS[verdict]
}

const MARKS = {
  verified: 'passed',
  altered: 'failed',
  incomplete: 'unknown',
} as const satisfies Record<RowsReport['verdict'], Mark>
const EXITS = {
  verified: EXIT.fine,
  altered: EXIT.verificationFailed,
  incomplete: EXIT.incomplete,
} as const satisfies Record<RowsReport['verdict'], ExitCode>

function endsOf(checked: readonly TaskRows[], open: readonly TaskRows[]): string {
  if (open.length > 0)
    return `of ${counted(open.length, 'task')} no signed head says yet whether later records are missing`
  const [first] = checked
  return checked.length === 1 && first !== undefined
    ? describeEnd(first.trace).words
    : `of ${counted(checked.length, 'task')}, as far as signed heads say`
}

function wordsOf({ verdict, rows, tasks, view }: RowsReport, unproven: number): string {
  const what = `${counted(rows, 'row')} of ${counted(tasks.length, 'task')}`
  if (verdict === 'altered') return `NOT verified: ${view} did not show what was recorded`
  if (verdict === 'verified')
    return `Verified OK: ${what} are what was recorded, and none is missing`
  const rest = unproven === 0 ? '' : `; ${counted(unproven, 'row')} under no signed head yet`
  return `Incomplete: ${what} are what the log holds${rest}`
}

const NOT_OF_A_VIEW = permanent(
  'BATON_USAGE',
  'these are no whole rows of handoff_audit or handoff_events',
  {
    fix: 'Select * from one of them: taskid, handoffid, recordhash, and status or event are needed.',
  },
)

const NO_TASK = permanent('BATON_USAGE', 'there is no row, and no task is named', {
  fix: 'Name the task that was asked for: verify TASK --rows FILE.',
})

const tooMany = (tasks: number) =>
  permanent('BATON_USAGE', `the rows are of ${tasks} tasks, more than ${TASKS_MAX}`, {
    fix: 'Give them in parts, all rows of a task together.',
  })
