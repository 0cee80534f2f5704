// `tasks`: the newest tasks and how they stand.
import { permanent } from '@baton/runtime'
import { listTasks } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import { dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

const STATUSES = ['PENDING_HANDOFF', 'RUNNING', 'AWAITING_HUMAN', 'COMPLETED', 'FAILED', 'CANCELED']

interface TasksOptions {
  readonly status?: string
  readonly limit: number
}

export async function tasks(context: Context, options: TasksOptions): Promise<ExitCode> {
  const { output } = context
  const status = options.status === undefined ? undefined : readStatus(options.status)
  const filter = { limit: options.limit, ...(status === undefined ? {} : { status }) }
  const found = await withDatabases(context, ({ pool }) => listTasks(pool, filter))
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(table(found))
  const first = found[0]
  if (first === undefined) {
    output.words(status === undefined ? 'No task yet.' : `No task is ${status}.`)
    output.next(nextStep('up --once'))
  } else output.next(nextStep(`trace ${short(first.taskId)}`))
  return EXIT.fine
}

function readStatus(text: string): string {
  const status = text.toUpperCase().replaceAll('-', '_')
  if (STATUSES.includes(status)) return status
  throw permanent('BATON_USAGE', `there is no status ${JSON.stringify(text)}`, {
    fix: `Give one of ${STATUSES.join(', ')}.`,
  })
}

const table = (found: Awaited<ReturnType<typeof listTasks>>): string =>
  renderTable(
    [
      { title: 'TASK' },
      { title: 'STATUS' },
      { title: 'HANDOFFS', align: 'right' },
      { title: 'SPENT', align: 'right' },
      { title: 'BUDGET', align: 'right' },
      { title: 'SENT AT (UTC)' },
      { title: 'ABOUT', widthMax: 40 },
    ],
    found.map((task) => [
      task.taskId,
      task.status,
      String(task.handoffs),
      dollars(task.spentMicroUSD),
      dollars(task.budgetMicroUSD),
      task.createdAt.toISOString().slice(0, 19).replace('T', ' '),
      aboutOf(task.result),
    ]),
  )

/** The contract review names what it reviewed; other agents' results are not guessed at. */
function aboutOf(result: unknown): string {
  const licence = (result as { licence?: unknown } | null)?.licence
  return typeof licence === 'string' ? licence : ''
}
