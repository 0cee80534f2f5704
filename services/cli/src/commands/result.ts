// `result`: what a task came to, as its last agent answered it, on stdout and nothing else.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withReadingGateway } from '../gateway-client.ts'
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { findTask, hasEnded, readTask } from './find-task.ts'
import type { WholeTask } from './find-task.ts'

/** Undefined where there is none yet. Of a task without one of its own it is the answer of its last agent. */
export const resultOf = ({ task, handoffs }: WholeTask): unknown =>
  task.result ?? handoffs.at(-1)?.result ?? undefined

/** Exit 4 where the task is not done yet, 1 where it ended without a result. */
export async function result(context: Context, text: string): Promise<ExitCode> {
  const { output } = context
  const whole = await withReadingGateway(context, async (gateway) =>
    readTask(gateway, await findTask(gateway, text)),
  )
  const found = resultOf(whole)
  const { taskId, status } = whole.task
  if (output.json) output.data(JSON.stringify(found ?? null))
  else if (found !== undefined) output.data(JSON.stringify(found, null, 2))
  if (found !== undefined) {
    output.next(nextStep(`trace ${short(taskId)}`))
    return EXIT.fine
  }
  output.words(`Task ${taskId} has no result: it is ${status}.`)
  output.next(nextStep(`task show ${short(taskId)}`))
  return hasEnded(whole) ? EXIT.failure : EXIT.incomplete
}
