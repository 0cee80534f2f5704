// Tasks as the gateway shows them, and what a person means who names one by the first digits of its id.
import { BatonError, permanent } from '@baton/runtime'
import { microUSD } from '@baton/protocol/money'
import { isTaskAtRest } from '@baton/protocol/states'
import { isUuid } from '@baton/protocol/uuid'
import type { HandoffView, TaskView } from '@baton/store'
import type { Context } from '../context.ts'
import { withReadingGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { readPages } from './list-pages.ts'
import type { Listed, PageFlags } from './list-pages.ts'

/** A row of the database as JSON: instants are texts. */
type Shown<View> = {
  readonly [Key in keyof View]: View[Key] extends Date | null
    ? string | Extract<View[Key], null>
    : View[Key]
}
export type Task = Shown<TaskView>
export type Handoff = Shown<HandoffView>

type TaskAnswer = Omit<Task, 'budgetMicroUSD' | 'spentMicroUSD'> & {
  readonly budgetUSD: number
  readonly spentUSD: number
}
type HandoffAnswer = Omit<Handoff, 'spentMicroUSD' | 'remainingMicroUSD' | 'costMicroUSD'> & {
  readonly spentUSD: number
  readonly remainingUSD: number
  readonly costUSD: number | null
}

const taskOf = ({ budgetUSD, spentUSD, ...rest }: TaskAnswer): Task => ({
  ...rest,
  budgetMicroUSD: microUSD(budgetUSD),
  spentMicroUSD: microUSD(spentUSD),
})

const handoffOf = ({ spentUSD, remainingUSD, costUSD, ...rest }: HandoffAnswer): Handoff => ({
  ...rest,
  spentMicroUSD: microUSD(spentUSD),
  remainingMicroUSD: microUSD(remainingUSD),
  costMicroUSD: costUSD === null ? null : microUSD(costUSD),
})

/** Newest first. The filter as /v2/tasks takes it. */
export async function listTasks(
  gateway: GatewayClient,
  filter: { readonly status?: string | undefined; readonly idPrefix?: string },
  flags: PageFlags,
): Promise<Listed<Task>> {
  const asked = { path: '/v2/tasks', name: 'tasks', filter, flags }
  const listed = await readPages<TaskAnswer>(gateway, asked)
  return { ...listed, rows: listed.rows.map(taskOf) }
}

export interface WholeTask {
  readonly task: Task
  readonly handoffs: readonly Handoff[]
}

/** What tells whether a task has ended. */
interface Progress {
  readonly task: Pick<Task, 'status'>
  readonly handoffs: readonly Pick<Handoff, 'endedAt' | 'state'>[]
}

export const hasEnded = ({ task, handoffs }: Progress): boolean =>
  isTaskAtRest(task.status, handoffs)

/** Throws BATON_TASK_NOT_FOUND. */
export async function readTask(gateway: GatewayClient, taskId: string): Promise<WholeTask> {
  type Answer = { task: TaskAnswer; handoffs: readonly HandoffAnswer[] }
  const { task, handoffs } = await orNotFound(taskId, gateway.get<Answer>(`/v2/tasks/${taskId}`))
  return { task: taskOf(task), handoffs: handoffs.map(handoffOf) }
}

/** The handoff of a task that a person means by its first digits. Throws BATON_TASK_NOT_FOUND. */
export async function findHandoffOf(
  gateway: GatewayClient,
  { taskId, text }: { readonly taskId: string; readonly text: string },
): Promise<string> {
  const given = text.trim().toLowerCase()
  if (isUuid(given)) return given
  const { handoffs } = await readTask(gateway, taskId)
  const [found, other] = handoffs.filter(({ handoffId }) => handoffId.startsWith(given))
  if (found !== undefined && other === undefined) return found.handoffId
  const what = found === undefined ? 'no handoff' : 'more than one handoff'
  throw permanent(
    'BATON_TASK_NOT_FOUND',
    `${what} of the task begins with ${JSON.stringify(text)}`,
    {
      fix: `\`${nextStep(`task show ${taskId.slice(0, 8)}`)}\` lists its handoffs; --json writes their whole ids.`,
    },
  )
}

/** The answer, or BATON_TASK_NOT_FOUND with the words of this command line. */
export async function orNotFound<Answer>(text: string, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof BatonError && error.code === 'BATON_TASK_UNKNOWN') throw taskNotFound(text)
    throw error
  }
}

const DIGITS = /^(?:[0-9a-f]-?){4,32}$/
/** The whole task id. Throws BATON_USAGE or BATON_TASK_NOT_FOUND. */
export const findTask = (gateway: GatewayClient, text: string): Promise<string> =>
  wholeTaskId(text, async (idPrefix) => (await listTasks(gateway, { idPrefix }, { limit: 2 })).rows)

/** The same for a command that otherwise needs no gateway. */
export const nameTask = async (context: Context, text: string): Promise<string> =>
  isUuid(text) ? text : withReadingGateway(context, (gateway) => findTask(gateway, text))

/** The same where `list` answers up to two tasks. A whole id is not looked up: the audit log may know tasks that are gone. */
export async function wholeTaskId(
  text: string,
  list: (idPrefix: string) => Promise<readonly { readonly taskId: string }[]>,
): Promise<string> {
  const given = text.trim().toLowerCase()
  if (isUuid(given)) return given
  if (!DIGITS.test(given)) throw notAnId(text)
  const found = await list(given)
  const [first, second] = found.map(({ taskId }) => taskId).toSorted()
  if (first === undefined) throw taskNotFound(text)
  if (second === undefined) return first
  throw permanent(
    'BATON_USAGE',
    `several tasks start with ${text}, such as ${first} and ${second}`,
    { fix: 'Give more digits.' },
  )
}

export const taskNotFound = (text: string) =>
  permanent('BATON_TASK_NOT_FOUND', `there is no task ${text}`, {
    fix: `\`${nextStep('tasks')}\` lists them.`,
  })

export const taskUnproven = (text: string) =>
  permanent(
    'BATON_TASK_UNPROVEN',
    `nothing is stored of a task ${text}, and that there never was a record of it cannot be proven now`,
    { fix: `\`${nextStep('verify')}\` says what is missing for it.` },
  )

const notAnId = (text: string) =>
  permanent('BATON_USAGE', `${JSON.stringify(text)} is not a task id`, {
    fix: 'Give a UUID, or at least its first 4 hexadecimal digits.',
  })
