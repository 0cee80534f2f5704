// Agents outside of Baton's processes: what they are given, and what they answer.
import type { AgentRegistration, Detail, HandoffMessage } from '@baton/protocol'
import type { Settlement } from '@baton/protocol/settlement'
import { renderForAgent } from '@baton/safety'
import type { ClaimedHandoff, TakenLease } from '@baton/store'
import type { AgentResult } from './agent.ts'
import type { Executing, Execution } from './execute-handoff.ts'

/** What an agent outside is given: by then the decision record is durable (I3) and the lease runs. */
export interface Given {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly lease: TakenLease
  /** Of the span in which it was given away. */
  readonly traceparent: string
}

/** What is given, as it stands in JSON: the same for who asks for work and for who is called. */
export type GivenDocument = ReturnType<typeof describeGiven>

export function describeGiven({ claimed, message, lease, traceparent }: Given, leaseMs: number) {
  const { handoffId, fencingToken, taskId, attempt, attemptsMax, fromAgent, tracestate } = claimed
  return {
    handoffId,
    fencingToken,
    taskId,
    attempt,
    attemptsMax,
    leaseMs,
    leaseUntil: lease.leaseUntil,
    deadline: lease.expiresAt,
    traceparent,
    tracestate,
    fromAgent,
    idempotencyKey: handoffId,
    chunks: lease.chunks,
    context: renderForAgent(message),
    message,
  }
}

/** How an agent outside ended. Codes are upper-case names; its own words go nowhere but into results. */
export type RemoteOutcome =
  | {
      readonly kind: 'done'
      /** What is left out: the state as it was received, no cost, nothing handed on. */
      readonly result: Partial<AgentResult>
    }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly retry: boolean
      /** The next try comes no sooner. */
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'declined'; readonly code: string }
  | { readonly kind: 'blocked'; readonly unmet: readonly Detail[] }

/** What an agent that is called answers. */
export type CallOutcome =
  | RemoteOutcome
  /** It goes on by itself, keeps the lease by its heartbeats and settles over HTTP. */
  | { readonly kind: 'taken' }

/** Answered; answered in a way that another try cannot mend; or not answered, or pushed back. */
export type CallEnd = 'ok' | 'refused' | 'failed'

/** An agent that another process runs, and that the process which hosts it calls for each execution. */
export interface OutsideAgent extends AgentRegistration {
  /** Whose API key keeps and settles what the agent has taken; nobody's where it is left out. */
  readonly operator?: string | undefined
  /** How long what it has taken is its own without a heartbeat. */
  readonly leaseMs: number
  /** Rejects with the reason of the signal once that aborts; transient errors are tried again, others are not. */
  call(given: GivenDocument, signal: AbortSignal): Promise<CallOutcome>
  /** Told when calls are not made for a while, because the agent does not answer, and when they are again. */
  onPaused(listener: (paused: boolean) => void): void
  /** Told of each call that was made, how it went. */
  onCalled(listener: (how: CallEnd) => void): void
  close(): void
}

/** What a settlement of the HTTP interface says. */
export function outcomeOf(settlement: Settlement): RemoteOutcome {
  switch (settlement.outcome) {
    case 'complete':
    case 'partial': {
      const { outcome: _, ...result } = settlement
      return { kind: 'done', result }
    }
    case 'fail':
      return { kind: 'failed', code: settlement.code, retry: settlement.retry ?? false }
    case 'reject':
      return { kind: 'declined', code: settlement.code }
    case 'blocked':
      return { kind: 'blocked', unmet: settlement.unmet.map(unmetDetail) }
  }
}

const unmetDetail = (expected: string): Detail => ({
  pointer: '',
  rule: 'unmet',
  message: 'the agent that took it lacks this',
  fix: 'Register an agent that has it, or hand off without requiring it.',
  expected,
})

interface Executed {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly agent: Executing
  readonly traceparent: string
}

/** The same in the words of an execution, with everything that was left out. */
export function executionOf(outcome: RemoteOutcome, executed: Executed): Execution {
  const { agent, traceparent } = executed
  switch (outcome.kind) {
    case 'done':
      return { kind: 'done', result: completeResult(outcome.result, executed), agent, traceparent }
    case 'failed':
    case 'declined':
      return { ...outcome, agent }
    case 'blocked':
      return outcome
  }
}

const NOTHING_SPENT = { costUSD: 0, tokens: { prompt: 0, completion: 0 } }

function completeResult(
  result: Partial<AgentResult>,
  { claimed, message, agent }: Executed,
): AgentResult {
  const subtask = {
    subtaskId: `${agent.type}-${claimed.taskSeq}`,
    description: `executed by ${agent.type}`,
    result: result.result ?? null,
  }
  return { subtask, state: message.currentState, next: [], ...NOTHING_SPENT, ...result }
}
