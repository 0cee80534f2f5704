// A worker: the receiving side of one process, for the agents it hosts.
import { createAuditClient } from '@baton/audit/client'
import type { AuditClient } from '@baton/audit/client'
import {
  createActiveScanner,
  createEventShipper,
  createHeartbeat,
  createHost,
  createKnownReceivers,
  createLargeWork,
  createLevelRecorder,
  createNotificationWatcher,
  createOwnRelay,
  createReceiver,
  createRegistrar,
  watchAudit,
  watchClassifier,
} from '@baton/engine'
import type {
  ActiveScanner,
  Agent,
  Backoff,
  BlockedPolicy,
  CompressionBounds,
  EventShipper,
  HostedAgent,
  JudgingBeside,
  KnownReceivers,
  LargeWorkBounds,
  Receiver,
} from '@baton/engine'
import { NOBODY } from '@baton/ledger'
import type { People } from '@baton/ledger'
import type { KeyRing, LostFactsPolicy } from '@baton/protocol'
import { codeOf, createLogger, NO_TLS, refusePlainListening } from '@baton/runtime'
import type { Logger, Service, Tls, TlsClients } from '@baton/runtime'
import { createPool, extendLeases, findInterrupted, outboxDepth } from '@baton/store'
import type { FanOutBounds, Pool } from '@baton/store'
import type { Summariser } from '@baton/summarise'
import { createMetrics } from '@baton/telemetry'
import type { Gauge, HandoffTransport, Metrics } from '@baton/telemetry'
import type { ConsumeOptions, Consumer, Transport } from '@baton/transport'

/** The worker closes its classifier. */
export interface WorkerOptions extends JudgingBeside {
  /** Of defineAgent and definePushAgent. */
  readonly agents: readonly HostedAgent[]
  /** The operational database. */
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  /** Whose decisions count here, of `parsePeople`; nobody's by default, and then nothing that needs an approval executes. */
  readonly people?: People
  readonly audit: { readonly url: string; readonly token: string }
  /** Where queue messages come from: `openTransport` opens one. Close it after the worker has stopped. */
  readonly transport: Transport
  /** Where direct calls are taken, of senders that wait for an outcome; without it, none are. */
  readonly direct?: {
    readonly host?: string
    readonly port: number
    readonly token: string
    /** Who may call where it speaks TLS: who has a certificate, by default. */
    readonly clients?: TlsClients
  }
  /** With what this process proves itself, and whom it believes, over TLS; by default without a certificate, and whom the machine believes. `createTls`, with its `watch` started, follows renewed files; `readTls` does not. */
  readonly tls?: Tls | undefined
  /** Where this process runs, and so do its agents; ISO 3166-1 alpha-2 or EU. Without it they take nothing that must stay somewhere. */
  readonly jurisdiction?: string | undefined
  /** Who condenses what agents hand on and does not fit the next one's window; the extract by default. The worker closes it. */
  readonly summariser?: Summariser | undefined
  /** How much of a receiver's window what is handed on may fill, and how many of the latest turns stay; 0.8 and 5 by default. */
  readonly compression?: CompressionBounds | undefined
  /** Most handoffs under way at once per agent type; 32 by default. As many direct calls, of all types together. */
  readonly concurrency?: number
  /** First and largest wait between attempts; 1 s doubling to 60 s by default. */
  readonly backoff?: Backoff
  /** How long a claim holds without a heartbeat; 8 s by default. Postgres' clock decides. */
  readonly leaseMs?: number
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly undeliveredMs?: number
  /** How long a stop waits for agents before it aborts them; 25 s by default. */
  readonly drainMs?: number
  /** How long an agent's hook has for a returned or rolled-back handoff; 30 s by default. */
  readonly correctionMs?: number
  readonly connectionsMax?: number
  /** Threads that judge large messages and how long one may take there: one thread and 10 s by default. */
  readonly largeWork?: LargeWorkBounds
  /** By which scanner is judged what comes in; that of the package by default. A receiver process follows an artefact with it. */
  readonly scanner?: ActiveScanner
  readonly attemptsMax?: number
  /** How far what agents hand on may fan out: 8 fan-outs within one another and 1,000 branches at once by default. */
  readonly fanOuts?: FanOutBounds | undefined
  /** What becomes of handoffs that require what their agent lacks: 'reroute' by default. */
  readonly blockedPolicy?: BlockedPolicy
  /** What becomes of handoffs whose conversation lost what its compression had to keep: 'return' by default. */
  readonly lostFacts?: LostFactsPolicy
  /** Called when the queue gives this process nothing although it should, even after a new start. */
  readonly onStuck?: (error: Error) => void
  readonly metrics?: Metrics
  readonly logger?: Logger
}

const LEASE_MS = 8_000
const CONCURRENCY = 32
const BACKOFF = { baseMs: 1_000, capMs: 60_000 }

export interface Worker extends Service {
  /** Whether handoffs given to this process would be executed now: not draining, database and auditor there. */
  ready(): Promise<boolean>
}

/**
 * Creates a worker. On an in-process transport it also relays and sweeps for its own agents, so
 * that one process is a whole pipeline. Stopping drains: nothing new is claimed, agents finish or
 * are aborted after `drainMs`, leases are released.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { drainMs = 25_000, leaseMs = LEASE_MS } = options
  const metrics = options.metrics ?? createMetrics()
  const logger = options.logger ?? createLogger({ service: 'worker' })
  const pool = createPool({
    url: options.databaseUrl,
    applicationName: 'baton-worker',
    connectionsMax: options.connectionsMax ?? 10,
    gauges: metrics.poolConnections,
  })
  const audit = { ...options.audit, tls: options.tls }
  const client = createAuditClient(audit)
  const shipper = createEventShipper({ pool, client, metrics, logger })
  const heartbeat = createHeartbeat({
    extendLeases: (fences) => extendLeases(pool, fences, leaseMs),
    findInterrupted: (fences) => findInterrupted(pool, fences),
    leaseMs,
    logger,
  })
  const receivers = createKnownReceivers({ pool, compression: options.compression })
  const { scanner, largeWork } = scanningOf(options, { metrics, logger })
  const parts = { pool, client, shipper, heartbeat, receivers, scanner, largeWork, metrics, logger }
  const receiver = createReceiver({
    ...parts,
    ...judgingOf(options),
    ...settlementOf(options),
    leaseMs,
  })
  const recorder = createLevelRecorder({ pool, metrics, logger })
  const registrar = createRegistrar({ ...hostOf(options), pool, logger })
  watchCalls(options, metrics, logger)
  watchClassifier(options.classifier, { metrics, logger })
  const inner = [...ownRelay(options, parts), ...ownHooks(options, parts)]
  let consumers: Consumer[] = []
  const watch = watchAudit({ ...audit, client, consumers: () => consumers, logger })
  let stopped: Promise<void> | undefined

  async function drain(): Promise<void> {
    const abort = setTimeout(() => heartbeat.abortAll(), drainMs)
    // From this line on nothing new starts; the rest waits for what is under way.
    const finished = Promise.all([watch, ...consumers].map((one) => one.stop()))
    for (const service of inner.toReversed()) await service.stop()
    await finished
    clearTimeout(abort)
    await receiver.drain()
    await receiver.fanIn.stop()
    await shipper.drain()
    await heartbeat.stop()
    await registrar.stop()
    await recorder.stop()
    for (const one of [...options.agents, options.summariser, options.classifier]) one?.close?.()
    await largeWork.close()
    client.close()
    await pool.end()
  }

  return {
    name: 'worker',
    async start() {
      await recorder.start()
      await heartbeat.start()
      await registrar.start()
      const executorOf = createHost({ ...parts, ...hostOf(options), leaseMs })
      const receiveBy = (by: HandoffTransport) => receiver.receiveFor(executorOf, by)
      consumers = await consumeAll(options, { metrics, logger }, receiveBy)
      await watch.start()
      await receiver.fanIn.start()
      for (const service of inner) await service.start()
    },
    stop: () => (stopped ??= drain()),
    abort() {
      heartbeat.abortAll()
      receiver.releaseOwnLeases().catch((error: unknown) => {
        logger.warn({ event: 'lease.kept', code: codeOf(error) })
      })
    },
    ready: async () =>
      stopped === undefined && !client.blocked && (await outboxDepth(pool)).depth >= 0,
  }
}

/** One scanner, for the process and its threads. */
function scanningOf(
  options: WorkerOptions,
  told: Required<Pick<WorkerOptions, 'metrics' | 'logger'>>,
) {
  const { scanner = createActiveScanner() } = options
  return { scanner, largeWork: createLargeWork({ ...options.largeWork, scanner, ...told }) }
}

/** What a worker says of its agents: where they are, and who condenses what they hand on. */
const hostOf = ({ agents, jurisdiction, summariser }: WorkerOptions) => ({
  agents,
  jurisdiction,
  summariser,
})

/** The calls of agents outside are seen in metrics and logs from now on. */
function watchCalls(options: WorkerOptions, metrics: Metrics, logger: Logger): void {
  const agents = options.agents.filter((agent) => 'call' in agent)
  const gauge = metrics.breakerOpen.with({ target: 'outside' })
  const pausedTypes = new Set<string>()
  for (const { type, onPaused, onCalled } of agents) {
    gauge.set(0)
    onCalled((outcome) => metrics.outsideCallsTotal.with({ kind: 'push', outcome }).inc())
    onPaused((paused) => {
      if (paused) pausedTypes.add(type)
      else pausedTypes.delete(type)
      gauge.set(pausedTypes.size)
      if (paused) logger.warn({ event: 'push.paused', agent: type })
      else logger.info({ event: 'push.resumed', agent: type })
    })
  }
}

/** By what, and beside whom, handoffs are judged. */
const judgingOf = ({ people = NOBODY, ...options }: WorkerOptions) => {
  const { keyRing, classifier, exemptions, rejectFlagged, shadow } = options
  return { keyRing, people, classifier, exemptions, rejectFlagged, shadow }
}

const settlementOf = ({
  attemptsMax = 3,
  fanOuts,
  backoff = BACKOFF,
  blockedPolicy = 'reroute',
  lostFacts = 'return',
}: WorkerOptions) => ({ attemptsMax, fanOuts, backoff, blockedPolicy, lostFacts })

// Agents hosted here answer for what they sent on; without hooks nothing is watched.
function ownHooks(
  options: WorkerOptions,
  { pool, receivers, metrics, logger }: RelayInside,
): Service[] {
  const hooked = options.agents.filter(
    (agent): agent is Agent =>
      'execute' in agent && (agent.onReturn !== undefined || agent.onRollback !== undefined),
  )
  if (hooked.length === 0) return []
  const { keyRing, attemptsMax = 3, databaseUrl, correctionMs, summariser } = options
  const hooks = new Map(hooked.map((agent) => [agent.type, agent]))
  const given = {
    keyRing,
    attemptsMax,
    databaseUrl,
    correctionMs,
    summariser,
    hooks,
    operator: null,
  }
  return [createNotificationWatcher({ ...given, pool, receivers, metrics, logger })]
}

interface RelayInside {
  readonly pool: Pool
  readonly receivers: KnownReceivers
  readonly client: AuditClient
  readonly shipper: EventShipper
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Everything by which handoffs come to this process. */
async function consumeAll(
  options: WorkerOptions,
  { metrics, logger }: Pick<RelayInside, 'metrics' | 'logger'>,
  receiveBy: (transport: HandoffTransport) => Receive,
): Promise<Consumer[]> {
  const { agents, transport, concurrency = CONCURRENCY, onStuck } = options
  const queued = await Promise.all(
    agents.map(({ type: agent }) => {
      metrics.executionsLimit.with({ agent }).set(concurrency)
      return transport.consume({
        queue: agent,
        concurrency,
        handle: counted(receiveBy('queue'), metrics.executionsActive.with({ agent })),
        ...(onStuck === undefined ? {} : { onStuck }),
      })
    }),
  )
  return [...queued, ...(await openDirect(options, logger, receiveBy('http')))]
}

// What serves HTTP is loaded only where it is served.
async function openDirect(
  { agents, direct, tls = NO_TLS, concurrency = CONCURRENCY }: WorkerOptions,
  logger: Logger,
  handle: Receive,
): Promise<readonly Consumer[]> {
  if (direct === undefined) return []
  const { openDirectEntry } = await import('@baton/transport/direct-entry')
  const { host = '127.0.0.1', port, token, clients = 'certified' } = direct
  refusePlainListening(tls, { host, setting: 'BATON_RECEIVER_HOST' })
  const agentTypes = agents.map(({ type }) => type)
  const own = { host, port, token, tls: { tls, clients, logger } }
  return [await openDirectEntry({ ...own, agentTypes, concurrency, handle, logger })]
}

type Receive = ReturnType<Receiver['receiveFor']>

function counted(receive: Receive, gauge: Gauge): ConsumeOptions['handle'] {
  let active = 0
  gauge.read(() => active)
  return async (pointer) => {
    active += 1
    try {
      await receive(pointer)
    } finally {
      active -= 1
    }
  }
}

// One process without a queue server takes only as much as its agents can hold.
const ownRelay = (options: WorkerOptions, parts: RelayInside): readonly Service[] =>
  createOwnRelay({
    ...parts,
    databaseUrl: options.databaseUrl,
    transport: options.transport,
    queues: () => options.agents.map((agent) => agent.type),
    waitingMax: 2 * (options.concurrency ?? CONCURRENCY),
    ...(options.undeliveredMs === undefined ? {} : { undeliveredMs: options.undeliveredMs }),
  })
