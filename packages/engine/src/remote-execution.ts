// Executions by agents outside: what was accepted is given away under a lease, kept by heartbeats and settled by whoever
// took it. Nothing of it is remembered in a process: any gateway answers for any execution.
import type { HandoffMessage } from '@baton/protocol'
import { crashPoint } from '@baton/runtime'
import { findSettled, loadTaken, releaseLeases, takeExecutions } from '@baton/store'
import type { ClaimedHandoff, Fence, Pool, TakenHandoff, TakenLease } from '@baton/store'
import { parseTraceparent } from '@baton/telemetry'
import type { AgentRegistration, Detail } from '@baton/protocol'
import type { AgentResult } from './agent.ts'
import type { SettledAs, Settler } from './commit-outcome.ts'
import type { Accepted, Executor } from './execute-handoff.ts'
import { readMessage } from './prepare-handoff.ts'

/** What an agent outside is given: by then the decision record is durable (I3) and the lease runs. */
export interface Given {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly lease: TakenLease
  /** Of the span in which it was given away. */
  readonly traceparent: string
}

interface RemoteExecutorOptions {
  readonly pool: Pool
  readonly agent: AgentRegistration
  /** The operator who takes it. */
  readonly takenBy: string
  readonly leaseMs: number
  give(given: Given): void
}

/** Gives what it would execute to somebody outside, once that is written down. */
export const createRemoteExecutor = (options: RemoteExecutorOptions): Executor => ({
  agent: options.agent,
  async execute({ claimed, message, span }: Accepted) {
    const { pool, agent, takenBy, leaseMs } = options
    const { handoffId, fencingToken } = claimed
    const { traceparent } = span
    const [lease] = await takeExecutions(pool, [
      {
        handoffId,
        fencingToken,
        takenBy,
        agentType: agent.type,
        agentVersion: agent.version,
        leaseMs,
        traceparent,
      },
    ])
    crashPoint('remote.after_take')
    if (lease !== undefined) options.give({ claimed, message, lease, traceparent })
    return { kind: 'elsewhere' }
  },
})

/** Nobody got what was given: somebody else gets it at once, no attempt is counted. */
export const releaseRemote = (pool: Pool, fences: readonly Fence[]): Promise<void> =>
  releaseLeases(pool, fences)

/** How an agent outside ended. Codes are upper-case names; its own words go nowhere but into results. */
export type RemoteOutcome =
  | {
      readonly kind: 'done'
      /** What is left out: the state as it was received, no cost, nothing handed on. */
      readonly result: Partial<AgentResult>
    }
  | { readonly kind: 'failed'; readonly code: string; readonly retry: boolean }
  | { readonly kind: 'declined'; readonly code: string }
  | { readonly kind: 'blocked'; readonly unmet: readonly Detail[] }

export interface SettleRequest extends Fence {
  readonly outcome: RemoteOutcome
  /** That of the caller; counts where it continues the handoff's trace. */
  readonly traceparent?: string | undefined
}

export type RemoteSettled =
  | { readonly kind: 'settled'; readonly state: string; readonly repeated: boolean }
  /** It is not theirs, or no longer: nothing was changed. */
  | { readonly kind: 'lost' }

/**
 * Settles what `takenBy` has taken, each in the set of all that settle at the same time; the answers are in order. Repeating it answers
 * the state of what the first time came to.
 */
export async function settleRemote(
  { pool, settle }: { readonly pool: Pool; readonly settle: Settler },
  takenBy: string,
  requests: readonly SettleRequest[],
): Promise<readonly RemoteSettled[]> {
  const taken = await loadTaken(pool, requests, takenBy)
  const byId = new Map(taken.map((one) => [one.handoffId, one]))
  crashPoint('remote.before_settle')
  const states = await Promise.all(
    requests.map((request) => settleOne(settle, byId.get(request.handoffId), request)),
  )
  crashPoint('remote.after_settle')
  const unsettled = requests.filter((_, index) => states[index] === undefined)
  const before = unsettled.length === 0 ? [] : await findSettled(pool, unsettled, takenBy)
  const settledBefore = new Map(before.map(({ handoffId, state }) => [handoffId, state]))
  return requests.map(({ handoffId }, index) => {
    const state = states[index] ?? settledBefore.get(handoffId)
    if (state === undefined) return { kind: 'lost' }
    return { kind: 'settled', state, repeated: states[index] === undefined }
  })
}

async function settleOne(
  settle: Settler,
  taken: TakenHandoff | undefined,
  { outcome, traceparent }: SettleRequest,
): Promise<SettledAs> {
  if (taken === undefined) return undefined
  const message = readMessage(taken.body)
  const agent = { type: taken.agentType, version: taken.agentVersion }
  switch (outcome.kind) {
    case 'done': {
      const result = completeResult(outcome.result, taken, message)
      const continued = continuedTrace(traceparent, taken)
      return settle.executed(taken, message, {
        kind: 'done',
        result,
        agent,
        traceparent: continued,
      })
    }
    case 'failed':
      return settle.executed(taken, message, { ...outcome, agent })
    case 'declined':
      return settle.declined(taken, { code: outcome.code, agent })
    case 'blocked':
      return settle.blocked({ claimed: taken, message, unmet: outcome.unmet })
  }
}

const NOTHING_SPENT = { costUSD: 0, tokens: { prompt: 0, completion: 0 } }

function completeResult(
  result: Partial<AgentResult>,
  { agentType, taskSeq }: TakenHandoff,
  message: HandoffMessage,
): AgentResult {
  const subtask = {
    subtaskId: `${agentType}-${taskSeq}`,
    description: `executed by ${agentType}`,
    result: result.result ?? null,
  }
  return { subtask, state: message.currentState, next: [], ...NOTHING_SPENT, ...result }
}

/** What is handed on hangs in the trace below the agent's own span, where it told one of this trace (I9). */
function continuedTrace(
  offered: string | undefined,
  { takenIn, traceparent }: TakenHandoff,
): string {
  const [own, theirs] = [parseTraceparent(traceparent), parseTraceparent(offered ?? '')]
  return theirs !== undefined && theirs.traceId === own?.traceId ? (offered ?? takenIn) : takenIn
}
