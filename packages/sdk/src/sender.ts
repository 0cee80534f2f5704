// The sender side for applications: one pool, group commit over concurrent sends, or the caller's own transaction.
import { checkCompleteness, completeState, ProtocolError } from '@baton/protocol'
import type { AgentState, GivenState, HandoffConstraints, KeyRing } from '@baton/protocol'
import {
  createDirectDelivery,
  createHandoffSender,
  createKnownReceivers,
  createLargeWork,
  createLevelRecorder,
  createNotificationWatcher,
  createOutboxBound,
  openDirectCalls,
  OUTBOX_BOUNDS,
  prepareOutgoing,
  receiverOf,
  receiversOf,
  requireResidency,
  sendOutgoing,
  writeSummary,
} from '@baton/engine'
import type {
  CompressionBounds,
  DirectlyDelivered,
  LargeWorkBounds,
  NotificationHooks,
  ReadyMessage,
  RequireRoom,
  ReturnParts,
  Sent,
} from '@baton/engine'
import { createLogger, permanent } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import { createPool, isSent, notifyOutbox, outboxDepth, outboxQueueDepths } from '@baton/store'
import type { Database, FanOutBounds, Pool } from '@baton/store'
import type { Summariser, WrittenSummary } from '@baton/summarise'
import { createMetrics } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { waitForOutcome } from './task-outcome.ts'
import type { OutcomeOptions, TaskOutcome } from './task-outcome.ts'

export interface SenderOptions {
  /** The operational database. */
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  /** Where the database is, ISO 3166-1 alpha-2 or EU; without it nothing is taken that must stay somewhere. */
  readonly jurisdiction?: string | undefined
  /** How often a receiver tries before the task rolls back; 3 by default. */
  readonly attemptsMax?: number
  /** The operator for whom is sent: nobody reviews a handoff of their own. Nobody by default. */
  readonly operator?: string
  /** Whose tasks are begun; the default tenant’s by default. What is handed on within a task is of whose the task is. */
  readonly tenant?: string | undefined
  readonly connectionsMax?: number
  /** Threads that build large messages and how long one may take there: one thread and 10 s by default. */
  readonly largeWork?: LargeWorkBounds
  /** Handoffs of one agent type that may wait for a relay; 50,000 by default. Of all types together four times as many. */
  readonly outboxMax?: number
  /** Handoffs of its tenant that may wait for a relay in all; four times as many by default. */
  readonly outboxTenantMax?: number | undefined
  /**
   * Whether it may send with priority 0 (critical), which passes the bounds of an agent type until `outboxCriticalMax` of its kind wait
   * for it; BATON_PRIORITY_REFUSED by default.
   */
  readonly sendsCritical?: boolean | undefined
  /** Handoffs of priority 0 that may wait for one agent type; 1,000 by default. */
  readonly outboxCriticalMax?: number | undefined
  /** How far a task may fan out: 8 fan-outs within one another and 1,000 branches at once by default. */
  readonly fanOuts?: FanOutBounds | undefined
  /** How long the oldest of them may wait; 30 s by default. */
  readonly outboxAgeMaxMs?: number
  /**
   * The agents this program sends as; needed with a hook. Any number of processes may answer for the
   * same agents: each return and each rollback is told to one of them at a time.
   */
  readonly agents?: readonly string[]
  /** Called with a refused handoff of these agents; answers the correction (E09). */
  readonly onReturn?: NotificationHooks['onReturn']
  /** Called when a task is back at the checkpoint of one of these agents (E15). */
  readonly onRollback?: NotificationHooks['onRollback']
  /** Where receivers take direct calls: what `sendSync` needs. Base URLs by agent type; `*` is every other type's. */
  readonly sync?: {
    readonly receivers: ReadonlyMap<string, string>
    readonly token: string
    /** How long an outcome is waited for; 15 s by default. */
    readonly waitMs?: number
  }
  /** How receivers at https URLs are spoken to. What runs for long takes `createTls` and starts its `watch`: of `readTls` it keeps what it read at its start. */
  readonly tls?: Tls | undefined
  /** How long a hook has; a returned handoff is not tried again meanwhile. 30 s by default. */
  readonly correctionMs?: number
  /** Who condenses older turns that do not fit the receiver's window: `createModelSummariser(...)`; the extract by default. */
  readonly summariser?: Summariser | undefined
  /** How much of the receiver's window a message may fill, and how many of the latest turns stay; 0.8 and 5 by default. */
  readonly compression?: CompressionBounds | undefined
  readonly logger?: Logger
  readonly metrics?: Metrics
}

export interface Sender {
  /**
   * Builds, signs and durably sends a handoff (I1); concurrent calls share a commit.
   * Throws permanent errors with a fix (invalid state, conflict, budget mismatch, ended task) and
   * transient ones while the database does not answer or too much waits for this agent type
   * (BATON_OUTBOX_FULL); repeating with the same handoffId is safe. Priority 0 has a bound of its own, and is
   * refused (BATON_PRIORITY_REFUSED) where `sendsCritical` does not allow it.
   */
  send(
    agentState: GivenState,
    targetAgentType: string,
    constraints?: HandoffConstraints,
  ): Promise<Sent>
  /**
   * The same, and also calls the receiver at once and waits for the outcome (`sync` of the options says where). What goes wrong with the
   * call loses nothing: the queue delivers it, and `handoff` says how it stands.
   */
  sendSync(
    agentState: GivenState,
    targetAgentType: string,
    constraints?: HandoffConstraints,
  ): Promise<SentSync>
  /** Sends a message that was built elsewhere. */
  sendMessage(ready: ReadyMessage): Promise<Sent>
  /**
   * Sends inside the caller's own transaction on the operational database, so that the caller's
   * rows and the handoff commit together. A transaction waits for no model: a long conversation is
   * condensed by the extract, or by what `summarise` answered before it began. Relays are woken by their poll. Metrics count it at once, also where that
   * transaction rolls back.
   */
  sendIn(transaction: Database, agentState: GivenState, target: SendTarget): Promise<Sent>
  /**
   * What the summariser writes of the conversation for this receiver, for `sendIn`, which the same state and target
   * are given to; undefined where it needs none, where there are several receivers or a join, and where it was sent before.
   */
  summarise(
    agentState: GivenState,
    target: Omit<SendTarget, 'summary'>,
  ): Promise<WrittenSummary | undefined>
  /**
   * Waits until nothing of a task goes on by itself any more, at most `waitMs` (60 s by default), and answers how it stands then.
   * An aborted `signal` ends the waiting. Throws BATON_TASK_UNKNOWN.
   */
  outcome(taskId: string, options?: OutcomeOptions): Promise<TaskOutcome>
  /** Whether the operational database answers. */
  ready(): Promise<boolean>
  /** Waits for sends and hooks under way and closes the connections. */
  close(): Promise<void>
  /** The same, at the end of `await using sender = createSender(...)`. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface SentSync extends Sent {
  /** Which way it came to its receiver, or will; null where it had been sent before. */
  readonly deliveredBy: 'http' | 'queue' | null
  /** Its state, and its result or reason where it has ended; undefined where the database does not say it now. */
  readonly handoff: DirectlyDelivered['handoff'] | undefined
}

export interface SendTarget {
  readonly agentType: string
  readonly constraints?: HandoffConstraints
  /** What `summarise` answered. */
  readonly summary?: WrittenSummary | undefined
}

function roomIn(pool: Pool, options: SenderOptions, metrics: Metrics): RequireRoom {
  const requireRoom = createOutboxBound({
    readDepth: (countMax) => outboxDepth(pool, countMax),
    readQueueDepths: (queues, countMax) => outboxQueueDepths(pool, queues, countMax),
    depthMax: options.outboxMax ?? OUTBOX_BOUNDS.depthMax,
    criticalMax: options.outboxCriticalMax,
    tenantMax: options.outboxTenantMax,
    ageMaxMs: options.outboxAgeMaxMs ?? OUTBOX_BOUNDS.ageMaxMs,
    metrics,
  })
  return async (handoff) => {
    if (handoff.priority === 0 && options.sendsCritical !== true) throw PRIORITY_REFUSED
    await requireRoom(handoff)
  }
}

const PRIORITY_REFUSED = permanent(
  'BATON_PRIORITY_REFUSED',
  'this sender may not send with priority 0, which passes bounds that hold for others',
  { fix: 'Send with priority 1; or give the sender sendsCritical (BATON_SENDER_CRITICAL).' },
)

export function createSender(options: SenderOptions): Sender {
  const { keyRing, attemptsMax = 3, connectionsMax = 4, metrics = createMetrics() } = options
  const pool = createPool({
    url: options.databaseUrl,
    applicationName: 'baton-sender',
    connectionsMax,
    gauges: metrics.poolConnections,
  })
  const author = { sentBy: options.operator ?? null, tenant: options.tenant ?? null }
  const requireRoom = roomIn(pool, options, metrics)
  const { jurisdiction, summariser, compression, fanOuts } = options
  const receivers = createKnownReceivers({ pool, compression })
  const { logger = createLogger({ service: 'sender' }) } = options
  const preparing = { pool, receivers, keyRing, attemptsMax, fanOuts, metrics, logger }
  const bounds = { requireRoom, jurisdiction, summariser }
  const largeWork = createLargeWork({ ...options.largeWork, metrics, logger })
  const sender = createHandoffSender({ ...preparing, ...bounds, ...author, largeWork })
  const watcher = watchReturns(options, { ...preparing, summariser })
  const recorder = createLevelRecorder({ pool, metrics, logger })
  void recorder.start()
  const { sync } = options
  const calls =
    sync === undefined
      ? undefined
      : openDirectCalls({ ...sync, tls: options.tls, waitMs: waitOf(sync) }, { metrics, logger })
  const deliverDirectly = createDirectDelivery({ pool, calls, waitMs: waitOf(sync), logger })
  const opened = { watcher, calls, sender, largeWork, summariser, recorder, pool }
  const close = () => closeAll(opened)
  return {
    send: async (agentState, targetAgentType, constraints = {}) =>
      sender.send({ agentState: toSend(agentState), targetAgentType, constraints }),
    async sendSync(given, targetAgentType, constraints = {}) {
      const agentState = toSend(given)
      const sent = await sender.send({ agentState, targetAgentType, constraints })
      const { handoffId, duplicate: repeated } = sent
      const delivered = await deliverDirectly({ handoffId, repeated })
      return {
        ...sent,
        deliveredBy: delivered?.deliveredBy ?? 'queue',
        handoff: delivered?.handoff,
      }
    },
    sendMessage: sender.sendMessage,
    summarise: summariseAhead({ ...preparing, ...bounds, ...author }),
    async sendIn(transaction, given, { agentType, constraints = {}, summary }) {
      const agentState = toSend(given)
      const request = { agentState, targetAgentType: agentType, constraints }
      requireResidency(agentState.residency, jurisdiction)
      const onCompressed = () => metrics.contextCompressionsTotal.inc()
      const receiver = await receiverOf(request, { pool, tenant: author.tenant, logger })
      const known = await receivers.boundsOf(receiversOf(request, receiver))
      const own = { ...preparing, ...author, receiver, bounds: known, onCompressed, largeWork }
      const outgoing = await prepareOutgoing(request, { ...own, written: summary }, undefined)
      const handoffs = outgoing.branching?.handoffs ?? [outgoing.handoff]
      await Promise.all(
        handoffs.map(({ toAgent: agentType, ...one }) => requireRoom({ ...one, agentType })),
      )
      const sent = await sendOutgoing(transaction, outgoing)
      if (!sent.duplicate)
        metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc(handoffs.length)
      return sent
    },
    ready: () =>
      pool.query({ text: 'select' }).then(
        () => true,
        () => false,
      ),
    outcome: (taskId, options) => waitForOutcome(pool, taskId, options),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Opened {
  readonly watcher: Service | undefined
  readonly calls: ReturnType<typeof openDirectCalls> | undefined
  readonly sender: ReturnType<typeof createHandoffSender>
  readonly largeWork: ReturnType<typeof createLargeWork>
  readonly summariser: Summariser | undefined
  readonly recorder: Service
  readonly pool: Pool
}

async function closeAll(opened: Opened): Promise<void> {
  await opened.watcher?.stop()
  opened.calls?.close()
  await opened.sender.drain()
  await opened.largeWork.close()
  opened.summariser?.close()
  await opened.recorder.stop()
  // The last sends' own NOTIFY may still be waiting for company.
  await notifyOutbox(opened.pool).catch(() => undefined)
  await opened.pool.end()
}

// No receiver could accept it, and it would come back only after its last attempt.
function toSend(given: GivenState): AgentState {
  const state = completeState(given)
  const [first, ...others] = checkCompleteness(state, undefined)
  if (first !== undefined) throw new ProtocolError('BATON_HANDOFF_INVALID', [first, ...others])
  return state
}

interface AheadParts extends Pick<ReturnParts, 'pool' | 'receivers' | 'metrics' | 'logger'> {
  readonly summariser: Summariser | undefined
  readonly jurisdiction: string | undefined
  readonly tenant: string | null
}

function summariseAhead(parts: AheadParts): Sender['summarise'] {
  const { pool, receivers, summariser, jurisdiction, tenant, metrics, logger } = parts
  return async (given, { agentType, constraints = {} }) => {
    const { receiverList = [], join } = constraints
    if (receiverList.length > 1 || join !== undefined) return undefined
    const agentState = toSend(given)
    const request = { agentState, targetAgentType: agentType, constraints }
    requireResidency(agentState.residency, jurisdiction)
    const targetAgentType = await receiverOf(request, { pool, tenant, logger })
    const bounds = await receivers.boundsOf([targetAgentType])
    const isKnown = () => isSent(pool, agentState.handoffId)
    return writeSummary({ ...request, targetAgentType }, { summariser, metrics, bounds, isKnown })
  }
}

const WAIT_MS = 15_000

const waitOf = (sync: SenderOptions['sync']): number => sync?.waitMs ?? WAIT_MS

// Starting waits for nothing, so it cannot fail while the database is away.
function watchReturns(options: SenderOptions, parts: ReturnParts): Service | undefined {
  const hooks = hooksOf(options)
  if (hooks.size === 0) return undefined
  const { databaseUrl, correctionMs, operator = null } = options
  const given = { databaseUrl, hooks, correctionMs, operator }
  const watcher = createNotificationWatcher({ ...parts, ...given })
  void watcher.start()
  return watcher
}

function hooksOf({ agents = [], onReturn, onRollback }: SenderOptions) {
  if (onReturn === undefined && onRollback === undefined)
    return new Map<string, NotificationHooks>()
  if (agents.length === 0) {
    throw permanent('BATON_SENDER_AGENTS_MISSING', 'a sender with hooks names no agents', {
      fix: 'createSender({ ..., agents: ["the agentId you send as"], onReturn, onRollback })',
    })
  }
  const hooks: NotificationHooks = {
    ...(onReturn === undefined ? {} : { onReturn }),
    ...(onRollback === undefined ? {} : { onRollback }),
  }
  return new Map(agents.map((agent) => [agent, hooks]))
}
