// Handing a conversation over from a program: durable once it resolves, and the same key is the same handoff, also after a crash.
import type { HandoffConstraints, JsonObject, JsonValue } from '@baton/protocol'
import { foreignUuid } from '@baton/protocol/dialects/foreign-id'
import { codeOf, permanent, transient } from '@baton/runtime'
import { turnsOf } from './conversation.ts'
import type { ChatMessage } from './conversation.ts'
import type { Sender } from './sender.ts'
import type { TaskOutcome } from './task-outcome.ts'

/** What is handed over, in whichever framework it was said. */
export interface HandOverRequest {
  /**
   * What makes it the same handoff when it is sent again: the id of a tool call, of a thread or of a run. What was sent first under a key to
   * an agent type counts; what comes later under it is answered with the first one's outcome.
   */
  readonly key: string
  /** The agent type that goes on. */
  readonly to: string
  /** What it shall do, in words. */
  readonly task: string
  readonly messages: readonly ChatMessage[]
  /** More of the next `currentState`, beside `task`. */
  readonly state?: JsonObject
  /** What the program has spent on it so far: charged to the task. */
  readonly spent?: {
    readonly costUSD: number
    readonly tokens: { readonly prompt: number; readonly completion: number }
  }
  readonly constraints?: HandoffConstraints
  /** How long the outcome is waited for, instead of what was said for all; 0 for not at all. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

export interface HandedOver {
  readonly taskId: string
  /** Undefined within an execution that Baton hosts: there it is sent when that execution commits. */
  readonly handoffId: string | undefined
  /** Whether something was sent under this key before. */
  readonly duplicate: boolean
  /** How the task stood when it ended or `waitMs` was over; undefined where nobody waits. */
  readonly outcome: TaskOutcome | undefined
}

/** Hands over; within an agent that Baton hosts it is what that agent hands on, elsewhere it begins a task. */
export type HandOver = (request: HandOverRequest) => Promise<HandedOver>

export interface HandOverOptions {
  readonly sender: Pick<Sender, 'send' | 'outcome'>
  /** As whom is sent. */
  readonly agent: { readonly agentId: string; readonly agentVersion: string }
  /** What one task may cost in all. */
  readonly budgetUSD: number
  /** How long the outcome is waited for: 60 s by default, 0 for not at all. */
  readonly waitMs?: number
}

const NOTHING_SPENT = { costUSD: 0, tokens: { prompt: 0, completion: 0 } }
const WAIT_MS = 60_000

/** How a program hands conversations over to agents of Baton. */
export function createHandOver(options: HandOverOptions): HandOver {
  const { sender, agent, budgetUSD } = options
  return async (request) => {
    const { key, to, task, messages, state, spent = NOTHING_SPENT, constraints, signal } = request
    const waitMs = request.waitMs ?? options.waitMs ?? WAIT_MS
    signal?.throwIfAborted()
    const taskId = foreignUuid(agent.agentId, 'task', key)
    const handoffId = foreignUuid(agent.agentId, `handoff to ${to}`, key)
    const given = {
      taskId,
      handoffId:
        handoffId === taskId ? foreignUuid(agent.agentId, 'handoff', `${key}/${to}`) : handoffId,
      agent,
      currentState: { ...state, task },
      ...turnsOf(messages),
      cost: {
        spentSoFarUSD: 0,
        budgetRemainingUSD: budgetUSD,
        ownCostUSD: spent.costUSD,
        tokenSpent: spent.tokens,
      },
    }
    const duplicate = await sentBefore(() => sender.send(given, to, constraints))
    const outcome = waitMs === 0 ? undefined : await sender.outcome(taskId, { waitMs, signal })
    return { taskId, handoffId: given.handoffId, duplicate, outcome }
  }
}

/** What a model, or a step behind it, is told of a handover. */
export interface HandOverAnswer {
  /** As of the task; HANDED_OVER where nobody waited. */
  readonly status: string
  readonly taskId: string
  readonly result: JsonValue
  /** Why it was refused or has failed. */
  readonly reason: string | null
}

export const answerOf = ({ taskId, outcome }: HandedOver): HandOverAnswer => ({
  status: outcome?.status ?? 'HANDED_OVER',
  taskId,
  result: outcome?.result ?? null,
  reason: outcome?.reason ?? null,
})

/**
 * The result of a task that was waited for. Throws BATON_TASK_NOT_COMPLETED where it ended otherwise, and the transient BATON_TASK_UNFINISHED
 * where it has not: handing over again under the same key goes on waiting.
 */
export function completedResult({ taskId, outcome }: HandedOver): JsonValue {
  if (outcome?.status === 'COMPLETED') return outcome.result
  if (outcome?.ended === true) {
    const reason = outcome.reason === null ? '' : ` (${outcome.reason})`
    throw permanent('BATON_TASK_NOT_COMPLETED', `task ${taskId} is ${outcome.status}${reason}`, {
      fix: 'See what happened to it: `baton trace` with its id.',
    })
  }
  throw transient('BATON_TASK_UNFINISHED', `task ${taskId} goes on`, {
    fix: 'Hand over again under the same key: nothing is sent twice, and the waiting goes on.',
  })
}

/** For who is handed over by nobody that has an id: without a key, a crash in between would send it twice. */
export const keyMissing = (who: string) =>
  permanent('BATON_HANDOVER_KEY_MISSING', `${who} has no id that a handoff could be known by`, {
    fix: 'Give `key`: an id of your own request, the same when it is tried again.',
  })

/** A model that is asked again says it in other words: under a key, what was sent first counts. */
async function sentBefore(send: () => Promise<{ readonly duplicate: boolean }>): Promise<boolean> {
  try {
    return (await send()).duplicate
  } catch (error) {
    if (codeOf(error) === 'BATON_HANDOFF_CONFLICT') return true
    throw error
  }
}
