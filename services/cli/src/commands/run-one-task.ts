// Sends one handoff through the gateway, waits for the end of its task, and says how it ended.
import { transient } from '@baton/runtime'
import type { AgentState, HandoffConstraints, Sent } from '@baton/sdk'
import type { Context } from '../context.ts'
import { withGateway } from '../gateway-client.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { hasEnded, readTask } from './find-task.ts'
import type { WholeTask } from './find-task.ts'
import { follow } from './follow.ts'

/** A handoff as POST /v2/handoffs takes it. */
export interface Submission {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

interface RunOptions {
  readonly queue: QueueChoice
  readonly timeoutMs: number
  /** Has the gateway call a receiver directly, and says which way the handoff went. */
  readonly direct?: boolean
}

/** A task that has ended; which way its first handoff went where that was asked for. */
export interface EndedTask extends WholeTask {
  readonly deliveredBy?: 'http' | 'queue' | null | undefined
}

const LOOK_EVERY_MS = 50

/** Starts what is not running and stops it again. Throws BATON_TASK_UNDER_WAY when the wait is over. */
export function runOneTask(
  context: Context,
  submission: Submission,
  { queue, timeoutMs, direct = false }: RunOptions,
): Promise<EndedTask> {
  const path = direct ? '/v2/handoffs?mode=sync' : '/v2/handoffs'
  const work = async (gateway: GatewayClient) => {
    const { taskId, deliveredBy } = await gateway.post<Sent & Pick<EndedTask, 'deliveredBy'>>(
      path,
      submission,
    )
    const ended = await follow(context, {
      look: () => readTask(gateway, taskId),
      ended: hasEnded,
      waitMs: timeoutMs,
      everyMs: LOOK_EVERY_MS,
      progress: (_, seconds) => `task ${taskId} is under way, ${seconds} s`,
    })
    if (!hasEnded(ended)) throw underWay(taskId)
    return direct ? { ...ended, deliveredBy } : ended
  }
  return withGateway(context, work, queue)
}

const underWay = (taskId: string) =>
  transient('BATON_TASK_UNDER_WAY', `task ${taskId} has not ended yet`, {
    fix: `It is not lost. Is there an agent of that type? Look later with \`${nextStep(`trace ${taskId}`)}\`.`,
  })

interface End {
  readonly reason: string | null
  readonly details: unknown
  readonly text: string
}

const PLACES_MAX = 5

const AFTERWARDS: Readonly<Record<string, string>> = {
  DEAD_LETTERED: 'It waits for a person and is not tried again.',
  ROLLED_BACK: 'The task stands at its sender’s checkpoint again.',
  REJECTED: 'It was not executed.',
  EXPIRED: 'Its time was over before it could be executed.',
}

/** Why a task ended without a result, in words: the reason, the places, and what happens now. */
export function describeEnd({ task, handoffs }: WholeTask): End {
  const last = handoffs.at(-1)
  const reason = last?.reason ?? null
  const state = last?.state ?? task.status
  const places = placesOf(last?.details).map((place) => `\n    ${place}`)
  const text = `${state}${reason === null ? '' : `: ${reason}`}. ${AFTERWARDS[state] ?? ''}${places.join('')}`
  return { reason, details: last?.details ?? null, text: `  ✗ ${text.trimEnd()}` }
}

function placesOf(details: unknown): string[] {
  if (!Array.isArray(details)) return []
  return (details as { pointer?: string; rule?: string; message?: string }[])
    .slice(0, PLACES_MAX)
    .map(
      ({ pointer = '', rule = '', message = '' }) =>
        `${pointer || '(whole message)'}: ${message} (${rule})`,
    )
}
