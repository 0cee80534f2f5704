// `send`: one handoff from the command line, durable at once, and by default watched until its task has ended.
import type { Sender } from '@baton/sdk'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { readAgentState } from './agent-state.ts'
import type { StateFlags } from './agent-state.ts'
import { describeEnd } from './describe-end.ts'
import { runOneTask, sendOnce } from './run-one-task.ts'
import type { EndedTask } from './run-one-task.ts'

interface SendOptions extends StateFlags {
  readonly to: string
  readonly constraint: readonly string[]
  readonly wait: boolean
  /** Seconds. */
  readonly timeout: number
  readonly queue: QueueChoice
}

export async function send(context: Context, options: SendOptions): Promise<ExitCode> {
  const agentState = await readAgentState(options)
  const dispatch = (sender: Sender) =>
    sender.send(agentState, options.to, { list: options.constraint })
  if (!options.wait) return commitOnly(context, dispatch)
  const ended = await runOneTask(context, {
    queue: options.queue,
    timeoutMs: options.timeout * 1000,
    send: dispatch,
  })
  print(context, ended)
  return ended.task.status === 'COMPLETED' ? EXIT.fine : EXIT.failure
}

async function commitOnly(
  context: Context,
  dispatch: (sender: Sender) => ReturnType<Sender['send']>,
): Promise<ExitCode> {
  const { output } = context
  const sent = await withDatabases(context, ({ databases }) => sendOnce(databases, dispatch))
  if (output.json) output.data(JSON.stringify(sent))
  else output.data(`Handoff ${sent.handoffId} of task ${sent.taskId} is ${sent.state}.`)
  output.next(`it is delivered while services run: ${nextStep('up')}`)
  return EXIT.fine
}

function print({ output }: Context, ended: EndedTask): void {
  const { task, handoffs } = ended
  if (output.json) output.data(JSON.stringify({ ...task, handoffs: ended.handoffs }))
  else output.data(table(handoffs))
  if (task.status === 'COMPLETED')
    output.step('passed', 'completed', `for ${dollars(task.spentMicroUSD)}`)
  else output.words(describeEnd(ended).text)
  output.next(nextStep(`trace ${short(task.taskId)}`))
}

const table = (handoffs: EndedTask['handoffs']): string =>
  renderTable(
    [
      { title: 'HANDOFF' },
      { title: 'FROM → TO', widthMax: 44 },
      { title: 'STATE' },
      { title: 'REASON' },
    ],
    handoffs.map((handoff) => [
      handoff.handoffId,
      `${handoff.fromAgent} → ${handoff.toAgent}`,
      handoff.state,
      handoff.reason ?? '',
    ]),
  )
