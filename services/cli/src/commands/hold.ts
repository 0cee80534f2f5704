// `audit hold` and `audit unhold`: says to the auditor that a task must stay, or need not any longer.
import { digestOf } from '@baton/ledger'
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { nameTask } from './find-task.ts'

interface Answer {
  readonly taskId: string
  readonly held: boolean
  readonly changed: boolean
}

interface HoldOptions {
  readonly task: string
  readonly held: boolean
  /** A code that goes on record. */
  readonly reason: string | undefined
}

/** Holding a task twice is holding it once. */
export async function hold(
  context: Context,
  { task, held, reason }: HoldOptions,
): Promise<ExitCode> {
  const { output, actAs: actor = 'operator' } = context
  const answer = await withAuditor(context, 'hold', async (auditor) => {
    const taskId = await nameTask(context, task)
    const body = { held, actor, ...(reason === undefined ? {} : { reason }) }
    const event = held ? 'LEGAL_HOLD_SET' : 'LEGAL_HOLD_LIFTED'
    const meant = { event, taskId, handoffId: null, decided: digestOf(reason) } as const
    const path = `/v1/holds/${taskId}`
    return auditor.decide<Answer>({ path, method: 'PUT', body, meant })
  })
  if (output.json) output.data(JSON.stringify(answer))
  const words = held ? 'held; nothing of it expires' : 'not held; it expires with its time'
  output.check('passed', 'task', `${answer.taskId} is ${words}`)
  output.check('passed', 'recorded', answer.changed ? `by ${actor}, in its chain` : 'before')
  output.next(nextStep('audit retention'))
  return EXIT.fine
}
