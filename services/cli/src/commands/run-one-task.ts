// Sends one handoff on a running instance, waits for the end of its task, and tells how it ended.
import { createSender, parseSigningKeys } from '@baton/sdk'
import { SIGNING_SETTINGS } from '@baton/engine'
import type { Sender } from '@baton/sdk'
import { createPool, findEndedTasks, findTask, listTaskHandoffs } from '@baton/store'
import type { HandoffView, Pool, TaskView } from '@baton/store'
import { readSettings, transient } from '@baton/runtime'
import type { Context } from '../context.ts'
import type { ReadableDatabases } from '../instance/databases.ts'
import { openInstance } from '../instance/instance.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { interrupted } from '../main-job/run-reviews.ts'
import { nextStep } from '../terminal/next-steps.ts'

type Send = (sender: Sender) => ReturnType<Sender['send']>

interface OneTask {
  readonly send: Send
  readonly queue: QueueChoice
  readonly timeoutMs: number
}

export interface EndedTask {
  readonly task: TaskView
  readonly handoffs: readonly HandoffView[]
}

const LOOK_EVERY_MS = 50

/** Starts what is not running and stops it again. Throws BATON_TASK_UNDER_WAY when the wait is over. */
export async function runOneTask(context: Context, options: OneTask): Promise<EndedTask> {
  const instance = await openInstance(context, { queue: options.queue })
  const pool = createPool({
    url: instance.databases.urls.app,
    applicationName: 'baton-cli',
    connectionsMax: 2,
  })
  try {
    const { taskId } = await sendOnce(instance.databases, options.send)
    await Promise.race([untilEnded({ context, pool, taskId, ...options }), instance.failed])
    const task = await findTask(pool, taskId)
    if (task === undefined) throw underWay(taskId)
    return { task, handoffs: await listTaskHandoffs(pool, taskId) }
  } finally {
    context.output.endProgress()
    await pool.end()
    await instance.stop()
  }
}

/**
 * Commits one handoff; it is delivered as soon as the services run. Throws BATON_SETTINGS_INVALID
 * without signing keys.
 */
export async function sendOnce({ urls, secrets }: ReadableDatabases, send: Send) {
  const { BATON_SIGNING_KEYS: signingKeys } = secrets
  const given = readSettings(SIGNING_SETTINGS, { BATON_SIGNING_KEYS: signingKeys })
  const sender = createSender({
    databaseUrl: urls.app,
    keyRing: parseSigningKeys(given.BATON_SIGNING_KEYS),
    connectionsMax: 1,
    operator: 'operator',
  })
  try {
    return await send(sender)
  } finally {
    await sender.close()
  }
}

async function untilEnded(wait: {
  readonly context: Context
  readonly pool: Pool
  readonly taskId: string
  readonly timeoutMs: number
}): Promise<void> {
  const { context, pool, taskId, timeoutMs } = wait
  const startedAt = performance.now()
  while (!(await findEndedTasks(pool, [taskId])).has(taskId)) {
    if (context.interrupt.aborted) throw interrupted()
    const waitedMs = performance.now() - startedAt
    if (waitedMs > timeoutMs) throw underWay(taskId)
    context.output.progress(`task ${taskId} is under way, ${Math.round(waitedMs / 1000)} s`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

const underWay = (taskId: string) =>
  transient('BATON_TASK_UNDER_WAY', `task ${taskId} has not ended yet`, {
    fix: `It is not lost. Is there an agent of that type? Look later with \`${nextStep(`trace ${taskId}`)}\`.`,
  })
