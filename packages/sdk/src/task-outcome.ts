// What came of a task, for whoever sent it.
import { setTimeout as wait } from 'node:timers/promises'
import { isTaskAtRest, isUuid } from '@baton/protocol'
import type { JsonValue } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import { findTask, listTaskHandoffs } from '@baton/store'
import type { Pool } from '@baton/store'

/** How a task stands. */
export interface TaskOutcome {
  /** COMPLETED, FAILED, CANCELED; PENDING_HANDOFF where it was rolled back, AWAITING_HUMAN where a person decides; RUNNING. */
  readonly status: string
  /** False where it was not waited for long enough. */
  readonly ended: boolean
  /** What its last agent answered; null where there is nothing yet. */
  readonly result: JsonValue | null
  /** Why the handoff that came last was refused or has failed, with the places; null where it was not. */
  readonly reason: string | null
  readonly details: unknown
}

/** How long is waited, and what ends the waiting with an AbortError. */
export interface OutcomeOptions {
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const OUTCOME_WAIT_MS = 60_000
const LOOK_MS = { first: 50, most: 1_000 }

/** The longer it takes, the less often the database is asked. */
export async function waitForOutcome(
  pool: Pool,
  taskId: string,
  { waitMs = OUTCOME_WAIT_MS, signal }: OutcomeOptions = {},
): Promise<TaskOutcome> {
  const over = performance.now() + waitMs
  for (let lookMs = LOOK_MS.first; ; lookMs = Math.min(LOOK_MS.most, lookMs * 1.2)) {
    const outcome = await readOutcome(pool, taskId)
    const leftMs = over - performance.now()
    if (outcome.ended || leftMs <= 0) return outcome
    await wait(Math.min(lookMs, leftMs), undefined, { signal })
  }
}

async function readOutcome(pool: Pool, taskId: string): Promise<TaskOutcome> {
  const task = isUuid(taskId) ? await findTask(pool, taskId) : undefined
  if (task === undefined) throw taskUnknown(taskId)
  const handoffs = await listTaskHandoffs(pool, taskId)
  const { status } = task
  const last = handoffs.at(-1)
  return {
    status,
    ended: isTaskAtRest(status, handoffs),
    result: (task.result ?? last?.result ?? null) as JsonValue | null,
    reason: last?.reason ?? null,
    details: last?.details ?? null,
  }
}

const taskUnknown = (taskId: string) =>
  permanent('BATON_TASK_UNKNOWN', `there is no task ${taskId} in this database`, {
    fix: 'Give the taskId that `send` answered, or that stands in the state which was sent.',
  })
