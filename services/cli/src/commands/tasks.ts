// `tasks` and `task`: how they stand, the checkpoint a sender saved, and taking one up again after a rollback.
import { hash } from 'node:crypto'
import { hasTaskEnded, TASK_STATUSES } from '@baton/protocol/states'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway, withReadingGateway } from '../gateway-client.ts'
import { dollars, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { findHandoffOf, findTask, listTasks, orNotFound, readTask } from './find-task.ts'
import type { Handoff, Task, WholeTask } from './find-task.ts'
import { troubleLines, troublesOf } from './handoff-troubles.ts'
import type { Trouble } from './handoff-troubles.ts'
import { sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'
import { resultOf } from './result.ts'
import { branchTable, hasBranches, stepsOf, waitingFor, waitingLines } from './waiting-branches.ts'

const STATUSES: readonly string[] = TASK_STATUSES

interface TasksOptions extends PageFlags {
  readonly status?: string
}

export async function tasks(context: Context, options: TasksOptions): Promise<ExitCode> {
  const { output } = context
  const status = options.status === undefined ? undefined : readStatus(options.status)
  const listed = await withReadingGateway(context, (gateway) =>
    listTasks(gateway, { status }, options),
  )
  const found = listed.rows
  if (output.json) output.data(JSON.stringify(found))
  else if (found.length > 0) output.data(taskTable(found))
  const first = found[0]
  if (first === undefined) {
    output.words(status === undefined ? 'No task yet.' : `No task is ${status}.`)
    output.next(nextStep('up --once'))
  } else {
    sayShown(output, listed, `tasks${typedAgain({ status, limit: options.limit })}`)
    output.next(nextStep(`trace ${short(first.taskId)}`))
  }
  return EXIT.fine
}

function readStatus(text: string): string {
  const status = text.toUpperCase().replaceAll('-', '_')
  if (STATUSES.includes(status)) return status
  throw permanent('BATON_USAGE', `there is no status ${JSON.stringify(text)}`, {
    fix: `Give one of ${STATUSES.join(', ')}.`,
  })
}

const taskTable = (found: readonly Task[]): string =>
  renderTable(
    [
      { title: 'TASK' },
      { title: 'STATUS' },
      { title: 'HANDOFFS', align: 'right', dropAt: 4 },
      { title: 'SPENT', align: 'right', dropAt: 2 },
      { title: 'BUDGET', align: 'right', dropAt: 3 },
      { title: 'SENT AT (UTC)', dropAt: 1 },
      { title: 'ABOUT', widthMax: 40, dropAt: 5 },
    ],
    found.map((task) => [
      task.taskId,
      task.status,
      String(task.handoffs),
      dollars(task.spentMicroUSD),
      dollars(task.budgetMicroUSD),
      instant(task.createdAt),
      aboutOf(task.result),
    ]),
  )

/** The contract review names what it reviewed; other agents' results are not guessed at. */
function aboutOf(result: unknown): string {
  const licence = (result as { licence?: unknown } | null)?.licence
  return typeof licence === 'string' ? licence : ''
}

export async function showTask(context: Context, text: string): Promise<ExitCode> {
  const { output } = context
  const whole = await withReadingGateway(context, async (gateway) =>
    readTask(gateway, await findTask(gateway, text)),
  )
  const { task, handoffs } = whole
  const troubles = troublesOf(handoffs)
  if (output.json) output.data(JSON.stringify({ ...task, handoffs, troubles }))
  else output.data(`Task ${task.taskId} is ${task.status}.\n\n${tableOf(handoffs)}`)
  const waiting = waitingLines(handoffs)
  const told = waiting.length > 0 ? waiting : troubleLines(troubles)
  if (told.length > 0) output.words(`\n${told.join('\n')}`)
  output.words(`\nSpent ${dollars(task.spentMicroUSD)} of ${dollars(task.budgetMicroUSD)}.`)
  output.next(stepFor(whole, troubles))
  return EXIT.fine
}

const tableOf = (handoffs: readonly Handoff[]): string =>
  hasBranches(handoffs) ? branchTable(handoffs) : handoffTable(handoffs)

const handoffTable = (handoffs: readonly Handoff[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'STATE' },
      { title: 'TRY', align: 'right', dropAt: 2 },
      { title: 'REVISION', align: 'right', dropAt: 3 },
      { title: 'REASON', widthMax: 28, dropAt: 1 },
    ],
    handoffs.map((handoff) => [
      handoff.handoffId,
      `${handoff.fromAgent} → ${handoff.toAgent}`,
      handoff.state,
      `${handoff.attempt}/${handoff.attemptsMax}`,
      String(handoff.revision),
      handoff.reason ?? '',
    ]),
  )

function stepFor(whole: WholeTask, troubles: readonly Trouble[]): string {
  const { task, handoffs } = whole
  const [first] = waitingFor(handoffs)
  const step = first && stepsOf(first)[0]?.[0]
  if (step !== undefined) return step
  const last = troubles.at(-1)
  if (last !== undefined && !hasTaskEnded(task.status)) return last.next
  const hasResult = resultOf(whole) !== undefined
  return nextStep(`${hasResult ? 'result' : 'trace'} ${short(task.taskId)}`)
}

/** Nothing but the exact bytes goes to stdout, without a line end. */
export async function showCheckpoint(context: Context, text: string): Promise<ExitCode> {
  const { output } = context
  const { taskId, bytes } = await withReadingGateway(context, async (gateway) => {
    const whole = await findTask(gateway, text)
    const asked = gateway.ask(`/v2/tasks/${whole}/checkpoint`)
    return { taskId: whole, bytes: (await orNotFound(text, asked)).bytes }
  })
  output.bytes(bytes)
  output.words(`sha-256 ${hash('sha256', bytes)}, ${bytes.byteLength} bytes`)
  output.next(nextStep(`task show ${short(taskId)}`))
  return EXIT.fine
}

interface Resumed {
  readonly handoffId: string
  readonly taskId: string
  readonly state: string
  readonly repeated: boolean
}

/** Through the gateway, as the person who acts. */
export async function resumeTask(
  context: Context,
  {
    task,
    to,
    handoff,
  }: {
    readonly task: string
    readonly to: string | undefined
    readonly handoff: string | undefined
  },
): Promise<ExitCode> {
  const { output } = context
  const resumed = await withGateway(context, async (gateway) => {
    const taskId = await findTask(gateway, task)
    const handoffId = handoff && (await findHandoffOf(gateway, { taskId, text: handoff }))
    return gateway.post<Resumed>(`/v2/tasks/${taskId}/resume`, {
      ...(to === undefined ? {} : { targetAgentType: to }),
      ...(handoffId === undefined ? {} : { handoffId }),
    })
  })
  const { taskId } = resumed
  if (output.json) output.data(JSON.stringify(resumed))
  else {
    const how = resumed.repeated ? 'was resumed before with' : 'is resumed with'
    output.data(`Task ${taskId} ${how} handoff ${resumed.handoffId}.`)
  }
  output.next(`it is delivered while services run: ${nextStep(`task show ${short(taskId)}`)}`)
  return EXIT.fine
}
