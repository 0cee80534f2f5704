// `task`: how one stands, the checkpoint its sender saved, and taking it up again after a rollback.
import { permanent } from '@baton/runtime'
import { findTask as readTask, findTaskCheckpoint, listTaskHandoffs } from '@baton/store'
import type { HandoffView, TaskView } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { withDatabases } from '../instance/databases.ts'
import { dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { findTask, taskNotFound } from './find-task.ts'

export async function showTask(context: Context, text: string): Promise<ExitCode> {
  const { output } = context
  const { task, handoffs } = await withDatabases(context, async ({ pool }) => {
    const taskId = await findTask(pool, text)
    const found = await readTask(pool, taskId)
    if (found === undefined) throw taskNotFound(text)
    return { task: found, handoffs: await listTaskHandoffs(pool, taskId) }
  })
  if (output.json) output.data(JSON.stringify({ ...task, handoffs }))
  else output.data(`Task ${task.taskId} is ${task.status}.\n\n${handoffTable(handoffs)}`)
  output.words(`\nSpent ${dollars(task.spentMicroUSD)} of ${dollars(task.budgetMicroUSD)}.`)
  output.next(stepFor(task, handoffs))
  return EXIT.fine
}

const handoffTable = (handoffs: readonly HandoffView[]): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'STATE' },
      { title: 'TRY', align: 'right' },
      { title: 'REVISION', align: 'right' },
      { title: 'REASON', widthMax: 28 },
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

function stepFor({ taskId, status }: TaskView, handoffs: readonly HandoffView[]): string {
  const isBack = ['ROLLED_BACK', 'EXPIRED'].includes(handoffs.at(-1)?.state ?? '')
  const isOpen = ['PENDING_HANDOFF', 'AWAITING_HUMAN'].includes(status)
  return nextStep(`${isBack && isOpen ? 'task resume' : 'trace'} ${short(taskId)}`)
}

/** Nothing but the exact bytes goes to stdout, without a line end. */
export async function showCheckpoint(context: Context, text: string): Promise<ExitCode> {
  const { output } = context
  const { taskId, found } = await withDatabases(context, async ({ pool }) => {
    const whole = await findTask(pool, text)
    return { taskId: whole, found: await findTaskCheckpoint(pool, whole) }
  })
  if (found === undefined) throw taskNotFound(text)
  output.bytes(found.body)
  output.words(`sha-256 ${found.sha256.toString('hex')}, ${found.body.byteLength} bytes`)
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
  { task, to }: { readonly task: string; readonly to: string | undefined },
): Promise<ExitCode> {
  const { output } = context
  const taskId = await wholeId(context, task)
  const body = to === undefined ? {} : { targetAgentType: to }
  const resumed = await withGateway(context, (gateway) =>
    gateway.post<Resumed>(`/v2/tasks/${taskId}/resume`, body),
  )
  if (output.json) output.data(JSON.stringify(resumed))
  else {
    const how = resumed.repeated ? 'was resumed before with' : 'is resumed with'
    output.data(`Task ${taskId} ${how} handoff ${resumed.handoffId}.`)
  }
  output.next(`it is delivered while services run: ${nextStep(`task show ${short(taskId)}`)}`)
  return EXIT.fine
}

const FULL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

// The first digits are enough where the databases are at hand; another gateway takes whole ids.
async function wholeId(context: Context, text: string): Promise<string> {
  const given = text.trim().toLowerCase()
  if (FULL.test(given)) return given
  if (context.settings.BATON_GATEWAY_URL === undefined)
    return withDatabases(context, ({ pool }) => findTask(pool, text))
  throw permanent('BATON_USAGE', `${JSON.stringify(text)} is not a whole task id`, {
    fix: 'With BATON_GATEWAY_URL give the whole UUID of the task.',
  })
}
