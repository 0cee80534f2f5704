// The sender side for applications: one pool, group commit over concurrent sends, or the caller's own transaction.
import type { AgentState, HandoffConstraints, KeyRing } from '@baton/protocol'
import {
  OUTBOX_BOUNDS,
  createHandoffSender,
  createOutboxBound,
  outboxFull,
  prepareHandoff,
  refusedSend,
  type ReadyMessage,
  type Sent,
} from '@baton/pipeline'
import { type Database, createPool, notifyOutbox, outboxDepth, sendHandoffs } from '@baton/store'
import { createMetrics, type Metrics } from '@baton/telemetry'
import { inSetOrSingly } from './in-set-or-singly.ts'
import { createNotifier } from './notifier.ts'

export interface SenderOptions {
  /** The operational database. */
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  /** How often a receiver tries before the task rolls back; 3 by default. */
  readonly attemptsMax?: number
  /** The operator for whom is sent: nobody reviews a handoff of their own. Nobody by default. */
  readonly operator?: string
  readonly connectionsMax?: number
  /** Handoffs that may wait for a relay; 50,000 by default. */
  readonly outboxMax?: number
  /** How long the oldest of them may wait; 30 s by default. */
  readonly outboxAgeMaxMs?: number
  readonly metrics?: Metrics
}

export interface Sender {
  /**
   * Builds, signs and durably sends a handoff (I1); concurrent calls share a commit.
   * Throws permanent errors with a fix (invalid state, conflict, budget mismatch, ended task) and
   * transient ones while the database does not answer or too much waits for delivery
   * (BATON_OUTBOX_FULL; never for priority 0); repeating with the same handoffId is safe.
   */
  send(
    agentState: AgentState,
    targetAgentType: string,
    constraints?: HandoffConstraints,
  ): Promise<Sent>
  /** Sends a message that was built elsewhere. */
  sendMessage(ready: ReadyMessage): Promise<Sent>
  /**
   * Sends inside the caller's own transaction on the operational database, so that the caller's
   * rows and the handoff commit together. Relays are woken by their poll.
   */
  sendIn(transaction: Database, agentState: AgentState, target: SendTarget): Promise<Sent>
  /** Waits for sends under way and closes the connections. */
  close(): Promise<void>
}

export interface SendTarget {
  readonly agentType: string
  readonly constraints?: HandoffConstraints
}

export function createSender(options: SenderOptions): Sender {
  const { keyRing, attemptsMax = 3, connectionsMax = 4, metrics = createMetrics() } = options
  const pool = createPool({
    url: options.databaseUrl,
    applicationName: 'baton-sender',
    connectionsMax,
  })
  const { operator: sentBy = null } = options
  const isFull = createOutboxBound({
    readDepth: (fromSeq) => outboxDepth(pool, fromSeq),
    depthMax: options.outboxMax ?? OUTBOX_BOUNDS.depthMax,
    ageMaxMs: options.outboxAgeMaxMs ?? OUTBOX_BOUNDS.ageMaxMs,
    metrics,
  })
  const sender = createHandoffSender({
    isFull,
    keyRing,
    attemptsMax,
    sentBy,
    metrics,
    sendHandoffs: (handoffs) => inSetOrSingly(handoffs, (set) => sendHandoffs(pool, set)),
    wakeRelays: createNotifier(pool),
  })
  return {
    send: (agentState, targetAgentType, constraints = {}) =>
      sender.send({ agentState, targetAgentType, constraints }),
    sendMessage: (ready) => sender.sendMessage(ready),
    async sendIn(transaction, agentState, { agentType, constraints = {} }) {
      const request = { agentState, targetAgentType: agentType, constraints }
      const handoff = prepareHandoff(request, { keyRing, attemptsMax, sentBy })
      if (await isFull(handoff.priority)) throw outboxFull()
      const [outcome] = await sendHandoffs(transaction, [handoff])
      if (outcome?.kind !== 'sent' && outcome?.kind !== 'duplicate') {
        throw refusedSend(handoff, outcome ?? { kind: 'conflict' })
      }
      const { handoffId, taskId, traceparent } = handoff
      const { taskSeq, state } = outcome
      return {
        handoffId,
        taskId,
        taskSeq,
        state,
        duplicate: outcome.kind === 'duplicate',
        traceparent,
      }
    },
    async close() {
      await sender.drain()
      // The last sends' own NOTIFY may still be waiting for company.
      await notifyOutbox(pool).catch(() => undefined)
      await pool.end()
    },
  }
}
