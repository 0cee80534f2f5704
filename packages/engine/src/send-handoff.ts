// Sending: every acknowledged handoff is durable with its checkpoint (I1); concurrent sends share a commit.
import { createBatcher, crashPoint, permanent } from '@baton/runtime'
import type { Batcher } from '@baton/runtime'
import type { NewHandoff, SendOutcome } from '@baton/store'
import { messagingAttributes, startSpan } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { RequireRoom } from './outbox-bound.ts'
import { prepareHandoff, prepareMessage } from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions, ReadyMessage } from './prepare-handoff.ts'

export interface SendDeps extends PrepareOptions {
  /** Commits a set in one transaction; an Error answers for one that failed alone. */
  sendHandoffs(handoffs: readonly NewHandoff[]): Promise<readonly (SendOutcome | Error)[]>
  /** Throws where a handoff must wait; nothing is refused without it. */
  readonly requireRoom?: RequireRoom
  /** Tells relays that there is work; called after the commit. */
  wakeRelays(): void
  readonly metrics: Metrics
}

/** What a sender gets back once the handoff is durable. */
export interface Sent {
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly state: string
  /** True where the same handoff had been sent before. */
  readonly duplicate: boolean
  readonly traceparent: string
}

export interface HandoffSender {
  /**
   * Builds, signs and sends; `sentBy` is the operator for whom. Throws permanent errors with a fix
   * where the handoff cannot be sent.
   */
  send(request: HandoffRequest, sentBy?: string | null): Promise<Sent>
  /** Signs and sends a message that was built elsewhere. */
  sendMessage(ready: ReadyMessage, sentBy?: string | null): Promise<Sent>
  drain(): Promise<void>
}

const SET_MAX = 64
const LINGER_MS = 20
const QUEUED_MAX = 10_000

export function createHandoffSender(deps: SendDeps): HandoffSender {
  const batcher: Batcher<NewHandoff, SendOutcome | Error> = createBatcher({
    name: 'send',
    maxItems: SET_MAX,
    maxQueued: QUEUED_MAX,
    lingerMs: LINGER_MS,
    flush: async (handoffs) => {
      crashPoint('sender.before_commit')
      const outcomes = await deps.sendHandoffs(handoffs)
      crashPoint('sender.after_commit')
      deps.wakeRelays()
      return outcomes
    },
  })

  const preparing: PrepareOptions = {
    ...deps,
    onCompressed: () => deps.metrics.contextCompressionsTotal.inc(),
  }

  async function commit(handoff: NewHandoff): Promise<Sent> {
    await deps.requireRoom?.(handoff.toAgent, handoff.priority)
    const outcome = await batcher.add(handoff)
    if (outcome instanceof Error) throw outcome
    if (outcome.kind !== 'sent' && outcome.kind !== 'duplicate') throw refusedSend(handoff, outcome)
    if (outcome.kind === 'sent')
      deps.metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc()
    return {
      handoffId: handoff.handoffId,
      taskId: handoff.taskId,
      taskSeq: outcome.taskSeq,
      state: outcome.state,
      duplicate: outcome.kind === 'duplicate',
      traceparent: handoff.traceparent,
    }
  }

  return {
    async send({ agentState, targetAgentType, constraints }, sentBy = deps.sentBy ?? null) {
      const startedAt = performance.now()
      const span = startSpan({
        name: `send ${targetAgentType}`,
        kind: 'producer',
        parent: agentState.traceparent,
        tracestate: agentState.tracestate,
      })
      try {
        const handoff = prepareHandoff(
          { agentState, targetAgentType, constraints },
          { ...preparing, traceparent: span.traceparent, sentBy },
        )
        deps.metrics.hopSeconds.build.observe((performance.now() - startedAt) / 1000)
        span.setAttributes(sendAttributes(handoff))
        return await commit(handoff)
      } finally {
        span.end()
      }
    },
    sendMessage: async (ready, sentBy = deps.sentBy ?? null) =>
      commit(prepareMessage(ready, { ...deps, sentBy })),
    drain: () => batcher.drain(),
  }
}

const sendAttributes = (handoff: NewHandoff) =>
  messagingAttributes({
    operation: 'send',
    destination: handoff.toAgent,
    handoffId: handoff.handoffId,
    taskId: handoff.taskId,
  })

/** Why Postgres refused a handoff, as an error a caller can act on. */
export function refusedSend(handoff: NewHandoff, outcome: SendOutcome): Error {
  if (outcome.kind === 'conflict') {
    return permanent(
      'BATON_HANDOFF_CONFLICT',
      `handoff ${handoff.handoffId} was sent before with other content`,
      {
        fix: 'Use a new handoffId for a new message; repeat the identical message to retry a send.',
      },
    )
  }
  if (outcome.kind === 'task_ended') {
    return permanent('BATON_TASK_ENDED', `task ${handoff.taskId} has ended`, {
      fix: 'Start a new task; an ended one takes no further handoffs.',
    })
  }
  return permanent('BATON_BUDGET_MISMATCH', describeMismatch(handoff, outcome), {
    fix: 'Carry the budget on from the received message: spent + remaining never changes, remaining never rises.',
  })
}

function describeMismatch(handoff: NewHandoff, outcome: SendOutcome): string {
  const claimed = handoff.spentMicroUSD + handoff.remainingMicroUSD
  const budget = outcome.kind === 'budget_mismatch' ? outcome.budgetMicroUSD : claimed
  return claimed === budget
    ? '/costTracking/costBudgetRemainingUSD is higher than what the parent handoff left over, or the task began with'
    : `/costTracking: spent + remaining is ${claimed} micro-USD, but the task's budget is ${budget}`
}
