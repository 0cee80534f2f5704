// Sending: every acknowledged handoff is durable with its checkpoint (I1); concurrent sends share a commit.
import { codeOf, crashPoint, createBatcher, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { residencyProblems } from '@baton/protocol'
import type { Jurisdiction, Residency } from '@baton/protocol'
import { inTransaction, isSent, sendHandoffs } from '@baton/store'
import type { NewHandoff, Pool } from '@baton/store'
import { messagingAttributes, startSpan, startStep } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { Summariser } from '@baton/summarise'
import { sendOutgoing, sentOrRefused } from './commit-outgoing.ts'
import type { Sent } from './commit-outgoing.ts'
import { receiverOf, receiverOfMessage } from './choose-receiver.ts'
import { inSetOrSingly } from './in-set-or-singly.ts'
import type { KnownReceivers } from './known-receivers.ts'
import { LARGE_BYTES } from './large-work.ts'
import type { LargeWork } from './large-work.ts'
import type { RequireRoom } from './outbox-bound.ts'
import { prepareOutgoing, prepareOutgoingMessage, receiversOf } from './prepare-fan-out.ts'
import type { Outgoing } from './prepare-fan-out.ts'
import type { HandoffRequest, PrepareOptions, ReadyMessage } from './prepare-handoff.ts'
import { wakeRelays } from './wake.ts'

interface SenderParts extends PrepareOptions {
  readonly pool: Pool
  /** Who may be sent to. */
  readonly receivers: KnownReceivers
  /** Throws where a handoff must wait; nothing is refused without it. */
  readonly requireRoom?: RequireRoom
  /** Where this installation stores and processes; without it nothing is taken that must stay somewhere. */
  readonly jurisdiction?: Jurisdiction
  /** Who condenses older turns that do not fit; the extract by default. */
  readonly summariser?: Summariser | undefined
  readonly largeWork: LargeWork
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Commits what is signed; throws where it cannot be sent. */
type Commit = (outgoing: Outgoing) => Promise<Sent>

export interface HandoffSender {
  /** Builds, signs and sends. Throws permanent errors with a fix where the handoff cannot be sent. */
  send(request: HandoffRequest, author?: Author): Promise<Sent>
  /** Signs and sends a message that was built elsewhere. */
  sendMessage(ready: ReadyMessage, author?: Author): Promise<Sent>
}

/** Who sends: the operator, and the tenant whose task it is. By default as the sender was made. */
export type Author = Pick<PrepareOptions, 'sentBy' | 'tenant'>

export interface SharedSender extends HandoffSender {
  /** The same, but each handoff commits by itself through `commit`, with whatever else commits there. */
  through(commit: Commit): HandoffSender
  drain(): Promise<void>
}

const SET_MAX = 64
/** Of large ones: each is megabytes to write, and whoever commits with it waits for that. */
const LARGE_SET_MAX = 4
const BATCHING_DELAY_MS = 20
const QUEUED_MAX = 10_000

/** Concurrent handoffs commit in one statement, large ones apart from all others. */
function createSends(pool: Pool) {
  const setsOf = (name: string, maxItems: number) =>
    createBatcher({
      name,
      maxItems,
      maxQueued: QUEUED_MAX,
      batchingDelayMs: BATCHING_DELAY_MS,
      flush: (handoffs: readonly NewHandoff[]) =>
        inSetOrSingly(handoffs, (set) => sendHandoffs(pool, set)),
    })
  const [small, large] = [setsOf('send', SET_MAX), setsOf('send of large ones', LARGE_SET_MAX)]
  return {
    add: (handoff: NewHandoff) =>
      (handoff.body.byteLength > LARGE_BYTES ? large : small).add(handoff),
    drain: async () => void (await Promise.all([small.drain(), large.drain()])),
  }
}

/** Sends for a whole process: concurrent handoffs commit in one statement, and one that is bad fails alone. */
export function createHandoffSender(parts: SenderParts): SharedSender {
  const { pool, metrics } = parts
  const sends = createSends(pool)
  const preparing = { ...parts, onCompressed: () => metrics.contextCompressionsTotal.inc() }

  async function commitInSet(outgoing: Outgoing): Promise<Sent> {
    const { handoff, branching } = outgoing
    if (branching !== undefined) return commitBranching(pool, outgoing)
    const outcome = await sends.add(handoff)
    if (outcome instanceof Error) throw outcome
    return sentOrRefused(handoff, outcome)
  }

  async function committed(outgoing: Outgoing, commit: Commit): Promise<Sent> {
    const { handoff, branching } = outgoing
    const handoffs = branching?.handoffs ?? [handoff]
    const { requireRoom = async () => undefined } = parts
    await Promise.all(
      handoffs.map(({ toAgent: agentType, ...one }) => requireRoom({ ...one, agentType })),
    )
    crashPoint('sender.before_commit')
    const sent = await commit(outgoing)
    crashPoint('sender.after_commit')
    wakeRelays(pool)
    if (!sent.duplicate)
      metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc(handoffs.length)
    return sent
  }

  const through = (commit: Commit): HandoffSender => ({
    async send(request, author = parts) {
      const startedAt = performance.now()
      const { agentState, targetAgentType } = request
      const { sentBy = null, tenant = null } = author
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
        const receiver = await receiverOf(request, { ...parts, tenant })
        const bounds = await parts.receivers.boundsOf(receiversOf(request, receiver))
        const outgoing = await prepareOutgoing(
          request,
          { ...preparing, traceparent, sentBy, tenant, receiver, bounds },
          { ...parts, bounds, isKnown: () => isSent(pool, agentState.handoffId) },
        )
        step.end()
        const seconds = (performance.now() - startedAt) / 1000
        metrics.hopSeconds.build.observe(seconds, span.exemplar)
        span.setAttributes(sendAttributes(outgoing.handoff))
        const sent = await committed(outgoing, commit)
        span.end()
        return sent
      } catch (error) {
        span.end({ error: codeOf(error) })
        throw error
      }
    },
    async sendMessage(ready, { sentBy = null, tenant = null } = parts) {
      requireResidency(ready.message.residency, parts.jurisdiction)
      const receiver = await receiverOfMessage(ready.message, { ...parts, tenant })
      const options = { ...parts, sentBy, tenant, receiver }
      return committed(await prepareOutgoingMessage(ready, options), commit)
    },
  })
  return { ...through(commitInSet), through, drain: sends.drain }
}

/** Who sends the same at the same moment has committed it by then: it is a duplicate. */
async function commitBranching(pool: Pool, outgoing: Outgoing): Promise<Sent> {
  const commit = () => inTransaction(pool, (transaction) => sendOutgoing(transaction, outgoing))
  try {
    return await commit()
  } catch (error) {
    if (codeOf(error) !== 'BATON_SEND_RACE') throw error
    return commit()
  }
}

/** Throws BATON_RESIDENCY_REFUSED where data must not even be stored here. */
export function requireResidency(residency: Residency | undefined, place: Jurisdiction): void {
  const [problem] = residencyProblems(residency, place)
  if (problem === undefined) return
  const { pointer, message, fix } = problem
  throw permanent('BATON_RESIDENCY_REFUSED', `${pointer}: ${message}`, { fix })
}

const sendAttributes = (handoff: NewHandoff) =>
  messagingAttributes({
    operation: 'send',
    destination: handoff.toAgent,
    handoffId: handoff.handoffId,
    taskId: handoff.taskId,
  })
