// Sending: every acknowledged handoff is durable with its checkpoint (I1); concurrent sends share a commit.
import { codeOf, crashPoint, createBatcher, permanent } from '@baton/runtime'
import { residencyProblems } from '@baton/protocol'
import type { Jurisdiction, Residency } from '@baton/protocol'
import { sendHandoffs } from '@baton/store'
import type { Database, NewHandoff, Pool, SendOutcome } from '@baton/store'
import { messagingAttributes, startSpan, startStep } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { Summariser } from '@baton/summarise'
import { inSetOrSingly } from './in-set-or-singly.ts'
import type { RequireRoom } from './outbox-bound.ts'
import { prepareHandoff, prepareMessage } from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions, ReadyMessage } from './prepare-handoff.ts'
import { wakeRelays } from './wake.ts'
import { writeSummary } from './write-summary.ts'

interface SenderParts extends PrepareOptions {
  readonly pool: Pool
  /** Throws where a handoff must wait; nothing is refused without it. */
  readonly requireRoom?: RequireRoom
  /** Where this installation stores and processes; without it nothing is taken that must stay somewhere. */
  readonly jurisdiction?: Jurisdiction
  /** Who condenses older turns that do not fit; the extract by default. */
  readonly summariser?: Summariser | undefined
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

/** Commits a signed handoff; throws where it cannot be sent. */
type Commit = (handoff: NewHandoff) => Promise<Sent>

export interface HandoffSender {
  /**
   * Builds, signs and sends; `sentBy` is the operator for whom. Throws permanent errors with a fix
   * where the handoff cannot be sent.
   */
  send(request: HandoffRequest, sentBy?: string | null): Promise<Sent>
  /** Signs and sends a message that was built elsewhere. */
  sendMessage(ready: ReadyMessage, sentBy?: string | null): Promise<Sent>
}

export interface SharedSender extends HandoffSender {
  /** The same, but each handoff commits by itself through `commit`, with whatever else commits there. */
  through(commit: Commit): HandoffSender
  drain(): Promise<void>
}

const SET_MAX = 64
const BATCHING_DELAY_MS = 20
const QUEUED_MAX = 10_000

/** Sends for a whole process: concurrent handoffs commit in one statement, and one that is bad fails alone. */
export function createHandoffSender(parts: SenderParts): SharedSender {
  const { pool, metrics } = parts
  const batcher = createBatcher({
    name: 'send',
    maxItems: SET_MAX,
    maxQueued: QUEUED_MAX,
    batchingDelayMs: BATCHING_DELAY_MS,
    flush: (handoffs: readonly NewHandoff[]) =>
      inSetOrSingly(handoffs, (set) => sendHandoffs(pool, set)),
  })
  const preparing = { ...parts, onCompressed: () => metrics.contextCompressionsTotal.inc() }

  async function commitInSet(handoff: NewHandoff): Promise<Sent> {
    const outcome = await batcher.add(handoff)
    if (outcome instanceof Error) throw outcome
    return sentOrRefused(handoff, outcome)
  }

  async function committed(handoff: NewHandoff, commit: Commit): Promise<Sent> {
    await parts.requireRoom?.(handoff.toAgent, handoff.priority)
    crashPoint('sender.before_commit')
    const sent = await commit(handoff)
    crashPoint('sender.after_commit')
    wakeRelays(pool)
    if (!sent.duplicate) metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc()
    return sent
  }

  const through = (commit: Commit): HandoffSender => ({
    async send(request, sentBy = parts.sentBy ?? null) {
      const startedAt = performance.now()
      const { agentState, targetAgentType } = request
      requireResidency(agentState.residency, parts.jurisdiction)
      const span = startSpan({
        name: `send ${targetAgentType}`,
        kind: 'producer',
        parent: agentState.traceparent,
        tracestate: agentState.tracestate,
      })
      try {
        const { traceparent } = span
        const step = startStep(span, { name: 'build', attributes: { 'baton.hop': 'build' } })
        const written = await writeSummary(request, parts)
        const handoff = prepareHandoff(request, { ...preparing, traceparent, sentBy, written })
        step.end()
        const seconds = (performance.now() - startedAt) / 1000
        metrics.hopSeconds.build.observe(seconds, span.exemplar)
        span.setAttributes(sendAttributes(handoff))
        const sent = await committed(handoff, commit)
        span.end()
        return sent
      } catch (error) {
        span.end({ error: codeOf(error) })
        throw error
      }
    },
    async sendMessage(ready, sentBy = parts.sentBy ?? null) {
      requireResidency(ready.message.residency, parts.jurisdiction)
      return committed(prepareMessage(ready, { ...parts, sentBy }), commit)
    },
  })
  return { ...through(commitInSet), through, drain: () => batcher.drain() }
}

/** Throws BATON_RESIDENCY_REFUSED where data must not even be stored here. */
export function requireResidency(residency: Residency | undefined, place: Jurisdiction): void {
  const [problem] = residencyProblems(residency, place)
  if (problem === undefined) return
  const { pointer, message, fix } = problem
  throw permanent('BATON_RESIDENCY_REFUSED', `${pointer}: ${message}`, { fix })
}

/**
 * Sends one handoff in the caller's transaction, so that it commits with whatever else commits
 * there. Throws where it cannot be sent, which rolls all of it back.
 */
export async function sendOne(transaction: Database, handoff: NewHandoff): Promise<Sent> {
  const [outcome = { kind: 'conflict' }] = await sendHandoffs(transaction, [handoff])
  return sentOrRefused(handoff, outcome)
}

function sentOrRefused(handoff: NewHandoff, outcome: SendOutcome): Sent {
  if (outcome.kind !== 'sent' && outcome.kind !== 'duplicate') throw refusedSend(handoff, outcome)
  const { handoffId, taskId, traceparent } = handoff
  const { taskSeq, state } = outcome
  return { handoffId, taskId, taskSeq, state, duplicate: outcome.kind === 'duplicate', traceparent }
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
