// `audit hold` and `audit unhold`: says to the auditor that a task must stay, or need not any longer.
import { createHttpClient } from '@baton/http/client'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { openInstance } from '../instance/instance.ts'
import { withDatabases } from '../instance/databases.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { findTask } from './find-task.ts'

interface Answer {
  readonly taskId: string
  readonly held: boolean
  readonly changed: boolean
}

interface HoldOptions {
  readonly task: string
  readonly held: boolean
}

const TIMEOUT_MS = 30_000
const OPERATOR = 'operator'

/** Against the auditor of the instance, which is started where it does not run. */
export async function hold(context: Context, { task, held }: HoldOptions): Promise<ExitCode> {
  const { output, actAs = OPERATOR } = context
  const taskId = await withDatabases(context, ({ pool }) => findTask(pool, task))
  const instance = await openInstance(context, { queue: 'any' })
  try {
    const { holdToken } = instance.databases.keys.archive
    const auditor = createHttpClient({
      url: instance.auditorUrl,
      name: 'the auditor',
      token: holdToken,
      timeoutMs: TIMEOUT_MS,
      unavailable: {
        code: 'BATON_AUDIT_UNAVAILABLE',
        fix: 'Repeat the command: holding a task twice is holding it once.',
      },
      refused: 'BATON_AUDITOR_FAILED',
    })
    const answer = await auditor.json<Answer>(`/v1/holds/${taskId}`, {
      method: 'PUT',
      body: { held, actor: actAs },
    })
    if (output.json) output.data(JSON.stringify(answer))
    const words = held ? 'held; nothing of it expires' : 'not held; it expires with its time'
    output.check('passed', 'task', `${taskId} is ${words}`)
    output.check('passed', 'recorded', answer.changed ? `by ${actAs}, in its chain` : 'before')
    output.next(nextStep('audit tiers'))
    return EXIT.fine
  } finally {
    await instance.stop()
  }
}
