// `audit hold` and `audit unhold`: says to the auditor that a task must stay, or need not any longer.
import { permanent, transient } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { ensureArchiveKeys } from '../instance/archive-keys.ts'
import { openInstance } from '../instance/instance.ts'
import { withDatabases } from '../instance/with-databases.ts'
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
  const { output, home, actAs = OPERATOR } = context
  const taskId = await withDatabases(context, ({ pool }) => findTask(pool, task))
  const instance = await openInstance(context, { queue: 'any' })
  try {
    const { holdToken } = await ensureArchiveKeys(home)
    const url = new URL(`/v1/holds/${taskId}`, instance.auditorUrl)
    const answer = await put(url, { token: holdToken, body: { held, actor: actAs } })
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

async function put(
  url: URL,
  { token, body }: { readonly token: string; readonly body: object },
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'PUT',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw transient('BATON_AUDIT_UNAVAILABLE', 'the auditor did not answer', {
      cause,
      fix: 'Repeat the command: holding a task twice is holding it once.',
    })
  })
  const answer = (await response.json()) as Answer & { code?: ErrorCode; detail?: string }
  if (response.ok) return answer
  const { code = 'BATON_AUDITOR_FAILED', detail = `the auditor answered ${response.status}` } =
    answer
  throw permanent(code, detail, { fix: 'Read the auditor’s log.' })
}
