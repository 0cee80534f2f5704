// `cancel`: ends a handoff, or a task with everything open in it; what executes now gets a grace.
import { isUuid } from '@baton/protocol/uuid'
import { BatonError, permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'

interface CancelOptions {
  readonly id: string
  readonly graceSeconds: number
}

interface Canceled {
  readonly ended: readonly string[]
  readonly stopping: readonly { readonly handoffId: string; readonly graceUntil: string }[]
  readonly taskId: string
  readonly taskStatus: string
  readonly repeated: boolean
}

export async function cancel(
  context: Context,
  { id, graceSeconds }: CancelOptions,
): Promise<ExitCode> {
  const { output } = context
  const given = id.trim().toLowerCase()
  if (!isUuid(given)) throw notAnId(id)
  const body = { graceMs: Math.round(graceSeconds * 1_000) }
  const canceled = await withGateway(context, (gateway) => cancelEither(gateway, given, body))
  if (output.json) output.data(JSON.stringify(canceled))
  output.words(describe(canceled))
  output.next(nextStep(`trace ${short(canceled.taskId)}`))
  return EXIT.fine
}

// An id says by itself whether it is a task's or a handoff's: nobody has both.
async function cancelEither(gateway: GatewayClient, id: string, body: object): Promise<Canceled> {
  try {
    return await gateway.post<Canceled>(`/v2/tasks/${id}/cancel`, body)
  } catch (error) {
    if (!hasCode(error, 'BATON_TASK_UNKNOWN')) throw error
  }
  try {
    return await gateway.post<Canceled>(`/v2/handoffs/${id}/cancel`, body)
  } catch (error) {
    throw hasCode(error, 'BATON_HANDOFF_UNKNOWN') ? unknown(id) : error
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof BatonError && error.code === code

function describe({ ended, stopping, taskStatus, repeated }: Canceled): string {
  if (repeated && stopping.length === 0) return `Canceled before; the task is ${taskStatus}.`
  const until = stopping
    .map((one) => one.graceUntil)
    .toSorted()
    .at(-1)
  const rest =
    until === undefined ? '' : `, ${stopping.length} still executing, until ${until} at the latest`
  return `${ended.length} canceled${rest}; the task is ${taskStatus}.`
}

const unknown = (id: string) =>
  permanent('BATON_TASK_NOT_FOUND', `there is neither a task nor a handoff ${id}`, {
    fix: `\`${nextStep('tasks')}\` lists tasks.`,
  })

const notAnId = (text: string) =>
  permanent('BATON_USAGE', `${JSON.stringify(text)} is not a whole id`, {
    fix: 'Give the UUID of a task or a handoff; what is canceled is not guessed from a few digits.',
  })
