// A worker: the receiving side of one process, for the agents it hosts.
import { randomUUID } from 'node:crypto'
import { type AuditClient, createAuditClient } from '@baton/audit'
import {
  type Agent,
  type EventShipper,
  type Heartbeat,
  type Settler,
  createHeartbeat,
  createSettler,
  executeHandoff,
  receiveHandoff,
} from '@baton/pipeline'
import { type KeyRing, judgeHandoff } from '@baton/protocol'
import type { ClaimedHandoff } from '@baton/protocol/delivery'
import { type Logger, type Service, createBatcher, createLogger } from '@baton/runtime'
import { createScanner } from '@baton/safety'
import {
  type Pool,
  claimExecutions,
  createPool,
  extendLeases,
  markExecuting,
  releaseClaims,
} from '@baton/store'
import { type Metrics, createMetrics } from '@baton/telemetry'
import type { Consumer, Transport } from '@baton/transport'
import { createNotifier } from './notifier.ts'
import { createRecorder, shipperFor } from './recorder.ts'
import { relayService, sweeperService } from './relay.ts'
import { completeSteps, endSet, retrySet } from './settlement.ts'
import { watchAudit } from './audit-watch.ts'

export interface WorkerOptions {
  readonly agents: readonly Agent[]
  /** The operational database. */
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  readonly audit: { readonly url: string; readonly token: string }
  /** Where doorbells come from. Close it after the worker has stopped. */
  readonly transport: Transport
  /** Most handoffs under way at once per agent type; 32 by default. */
  readonly concurrency?: number
  /** First and largest wait between attempts; 1 s doubling to 60 s by default. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number }
  /** How long a claim holds without a heartbeat; 8 s by default. Postgres' clock decides. */
  readonly leaseMs?: number
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly quietMs?: number
  /** How long a stop waits for agents before it aborts them; 25 s by default. */
  readonly drainMs?: number
  readonly connectionsMax?: number
  readonly attemptsMax?: number
  readonly metrics?: Metrics
  readonly logger?: Logger
}

const LEASE_MS = 8_000
const SET_MAX = 128
const LINGER_MS = 10
const QUEUED_MAX = 10_000

/**
 * Creates a worker. On an in-process transport it also relays and sweeps for its own agents, so
 * that one process is a whole pipeline. Stopping drains: nothing new is claimed, agents finish or
 * are aborted after `drainMs`, leases are released.
 */
export function createWorker(options: WorkerOptions): Service {
  const { transport, concurrency = 32, drainMs = 25_000, leaseMs = LEASE_MS } = options
  const metrics = options.metrics ?? createMetrics()
  const logger = options.logger ?? createLogger({ service: 'worker' })
  const pool = createPool({
    url: options.databaseUrl,
    applicationName: 'baton-worker',
    connectionsMax: options.connectionsMax ?? 10,
  })
  const client = createAuditClient(options.audit)
  const shipper = shipperFor({ pool, client, metrics, logger })
  const heartbeat = createHeartbeat({
    extendLeases: (fences) => extendLeases(pool, fences, leaseMs),
    leaseMs,
    logger,
  })
  const parts: WorkerParts = { options, leaseMs, pool, client, shipper, heartbeat, metrics, logger }
  const receiver = createReceiver(parts)
  const inner = transport.kind === 'in-process' ? ownRelay(parts) : []
  let consumers: Consumer[] = []
  let watch: { close(): void } | undefined

  return {
    name: 'worker',
    async start() {
      await heartbeat.start()
      consumers = await Promise.all(
        options.agents.map((agent) =>
          transport.consume({ queue: agent.type, concurrency, handle: receiver.receive }),
        ),
      )
      watch = watchAudit({
        client,
        auditUrl: options.audit.url,
        consumers: () => consumers,
        logger,
      })
      for (const service of inner) await service.start()
    },
    async stop() {
      for (const service of inner.toReversed()) await service.stop()
      watch?.close()
      const abort = setTimeout(() => heartbeat.abortAll(), drainMs)
      await Promise.all(consumers.map((consumer) => consumer.stop()))
      clearTimeout(abort)
      await receiver.settle.drain()
      await shipper.drain()
      await heartbeat.stop()
      client.close()
      await pool.end()
    },
  }
}

interface WorkerParts {
  readonly options: WorkerOptions
  readonly leaseMs: number
  readonly pool: Pool
  readonly client: AuditClient
  readonly shipper: EventShipper
  readonly heartbeat: Heartbeat
  readonly metrics: Metrics
  readonly logger: Logger
}

function createReceiver(parts: WorkerParts) {
  const { options, pool, metrics, logger } = parts
  const owner = randomUUID()
  const agents = new Map(options.agents.map((agent) => [agent.type, agent]))
  const scanner = createScanner()
  const limits = { maxItems: SET_MAX, maxQueued: QUEUED_MAX, lingerMs: LINGER_MS }
  const claims = createBatcher({
    name: 'claim',
    ...limits,
    flush: (requests: Parameters<typeof claimExecutions>[2]) =>
      claimExecutions(pool, { owner, leaseMs: parts.leaseMs }, requests),
  })
  const starts = createBatcher({
    name: 'start',
    ...limits,
    flush: (set: Parameters<typeof markExecuting>[1]) => markExecuting(pool, set),
  })
  const recorder = createRecorder(parts.client, metrics)
  const settle = createSettlerFor(parts)
  const deps = {
    claim: claims.add,
    judge: (claimed: ClaimedHandoff) =>
      judgeClaimed(claimed, { agents, keyRing: options.keyRing, scan: scanner.scan }),
    record: recorder.record,
    start: starts.add,
    execute: (...[claimed, message, span]: Parameters<ExecuteFn>) =>
      executeHandoff({ agents, heartbeat: parts.heartbeat, metrics }, { claimed, message, span }),
    settle,
    metrics,
    logger,
  }
  return {
    settle,
    receive: (pointer: { handoffId: string; generation: number }) => receiveHandoff(deps, pointer),
  }
}

type ExecuteFn = Parameters<typeof receiveHandoff>[0]['execute']

interface Judging {
  readonly agents: ReadonlyMap<string, Agent>
  readonly keyRing: KeyRing
  readonly scan: ReturnType<typeof createScanner>['scan']
}

function judgeClaimed(claimed: ClaimedHandoff, { agents, keyRing, scan }: Judging) {
  const agent = agents.get(claimed.toAgent) ?? {
    type: claimed.toAgent,
    version: '0.0.0',
    requires: [],
  }
  return judgeHandoff(
    { bytes: claimed.body, keyId: claimed.keyId, signature: claimed.signature },
    {
      agent,
      keyRing,
      scan,
      task: {
        budgetMicroUSD: claimed.budgetMicroUSD,
        remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? claimed.budgetMicroUSD,
      },
    },
  )
}

function createSettlerFor({ options, pool, shipper, metrics, logger }: WorkerParts): Settler {
  const wakeRelays = createNotifier(pool)
  return createSettler({
    keyRing: options.keyRing,
    attemptsMax: options.attemptsMax ?? 3,
    complete: async (steps) => {
      const held = await completeSteps(pool, steps)
      if (steps.some((step) => step.next.length > 0)) wakeRelays()
      return held
    },
    retry: (set) => retrySet(pool, set),
    end: (set) => endSet(pool, set),
    release: (fences, delayMs) => releaseClaims(pool, fences, delayMs),
    committed: (intents) => void shipper.ship(intents),
    backoff: options.backoff ?? { baseMs: 1_000, capMs: 60_000 },
    metrics,
    logger,
  })
}

// One process without a queue server: it takes only as much as its agents can hold.
function ownRelay({ options, pool, shipper, metrics, logger }: WorkerParts): Service[] {
  const relay = {
    pool,
    databaseUrl: options.databaseUrl,
    transport: options.transport,
    queues: options.agents.map((agent) => agent.type),
    waitingMax: 2 * (options.concurrency ?? 32),
    ...(options.quietMs === undefined ? {} : { quietMs: options.quietMs }),
    metrics,
    logger,
  }
  return [relayService(relay), sweeperService({ ...relay, shipper })]
}
