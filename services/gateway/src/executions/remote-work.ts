// What a gateway needs to give handoffs to agents outside: the receiving steps, a queue, the audit log.
import { createAuditClient } from '@baton/audit/client'
import type { AuditClient } from '@baton/audit/client'
import {
  createEventShipper,
  createOwnRelay,
  createReceiver,
  openTransport,
  releaseRemote,
  summarised,
  watchAudit,
  watchClassifier,
} from '@baton/engine'
import type {
  ActiveScanner,
  Backoff,
  BlockedPolicy,
  EventShipper,
  JudgingBeside,
  KnownReceivers,
  LargeWork,
  Receiver,
  SettleParts,
} from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import type { People } from '@baton/ledger'
import type { KeyRing, LostFactsPolicy } from '@baton/protocol'
import { codeOf } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import type { Summariser } from '@baton/sdk'
import type { FanOutBounds, Fence, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { Transport } from '@baton/transport'
import { createHandOut } from './hand-out.ts'
import type { HandOut } from './hand-out.ts'

/** What the gateway is told about it; a classifier is closed by who opened it. */
export interface RemoteOptions extends JudgingBeside {
  /** Where queue messages come from; closed by who opened it, after the gateway has stopped. */
  readonly transport: Transport
  readonly client: AuditClient
  readonly auditUrl: string
  /** How that auditor is spoken to. */
  readonly tls?: Tls | undefined
  /** How long what was claimed is its claimer's without a heartbeat. */
  readonly leaseMs: number
  readonly backoff: Backoff
  readonly blockedPolicy: BlockedPolicy
  readonly lostFacts: LostFactsPolicy
  readonly onStuck: (error: Error) => void
}

interface RemoteWorkParts extends RemoteOptions {
  readonly pool: Pool
  readonly receivers: KnownReceivers
  readonly largeWork: LargeWork
  readonly scanner: ActiveScanner
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  /** Whose decisions count here. */
  readonly people: People
  readonly attemptsMax: number
  readonly summariser?: Summariser | undefined
  readonly fanOuts?: FanOutBounds | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface RemoteWork extends Service {
  readonly handOut: HandOut
  readonly leaseMs: number
  readonly settle: Receiver['settle']
  /** Has the summaries written of what is handed on there. */
  readonly summarise: SettleParts['summarise']
  /** Brings what has committed into the log. */
  readonly shipper: Pick<EventShipper, 'ship'>
  /** Handles queue messages, or handoffs that are named, for whoever executes them outside. */
  readonly receiveFor: Receiver['receiveFor']
  /** Releases what nobody got; never rejects. */
  release(fences: readonly Fence[]): void
}

/** What cannot be summarised is settled as it came, and says there what is wrong with it. */
const summariseIn = (parts: RemoteWorkParts): SettleParts['summarise'] =>
  parts.summariser &&
  ((step, execution) => summarised(parts, step, execution).catch(() => execution))

/** A claim is judged, recorded and given away well within this time, and its taker's lease begins then. */
const CLAIM_MS = 8_000
const WAITING_MAX = 64

export function createRemoteWork(parts: RemoteWorkParts): RemoteWork {
  const { pool, logger, client, metrics, leaseMs } = parts
  const shipper = createEventShipper({ pool, client, metrics, logger })
  watchClassifier(parts.classifier, parts)
  const receiver = createReceiver({ ...parts, shipper, leaseMs: CLAIM_MS })
  const handOut = createHandOut({ ...parts, receiver, blocked: () => client.blocked })
  // The queues are read again by themselves once the auditor takes records again.
  const watch = watchAudit({ ...parts, url: parts.auditUrl, consumers: () => [] })
  const relay = createOwnRelay({
    ...parts,
    shipper,
    queues: handOut.types,
    waitingMax: WAITING_MAX,
  })
  return {
    name: 'remote work',
    handOut,
    leaseMs,
    settle: receiver.settle,
    summarise: summariseIn(parts),
    shipper,
    receiveFor: receiver.receiveFor,
    release(fences) {
      if (fences.length === 0) return
      releaseRemote(pool, fences).catch((error: unknown) => {
        logger.warn({ event: 'lease.kept', code: codeOf(error) })
      })
    },
    async start() {
      await watch.start()
      await handOut.start()
      await receiver.fanIn.start()
      for (const service of relay) await service.start()
    },
    async stop() {
      await handOut.stop()
      for (const service of relay.toReversed()) await service.stop()
      await watch.stop()
      await receiver.fanIn.stop()
      await receiver.drain()
      await shipper.drain()
    },
  }
}

interface RemoteSettings {
  readonly BATON_AUDIT_URL: string
  readonly BATON_AUDIT_APPEND_TOKEN?: string | undefined
  readonly BATON_REDIS_URL?: string | undefined
  readonly BATON_QUEUE_PREFIX: string
  readonly BATON_PULL_LEASE_MS: number
  readonly BATON_RETRY_BASE_MS: number
  readonly BATON_RETRY_CAP_MS: number
  readonly BATON_BLOCKED_POLICY: BlockedPolicy
  readonly BATON_LOST_FACTS: LostFactsPolicy
}

/** What the settings of a gateway say about it; undefined where it may not write the audit log. */
export async function openRemote(
  settings: RemoteSettings,
  {
    logger,
    tls,
    ...given
  }: JudgingBeside &
    Pick<RemoteOptions, 'onStuck'> & {
      readonly tls: Tls
      readonly logger: Logger
    },
): Promise<RemoteOptions | undefined> {
  const { BATON_AUDIT_URL: auditUrl, BATON_AUDIT_APPEND_TOKEN: token } = settings
  if (token === undefined) return undefined
  const transport = await openTransport({
    redisUrl: settings.BATON_REDIS_URL,
    tls,
    prefix: settings.BATON_QUEUE_PREFIX,
    logger,
  })
  return {
    transport,
    client: createAuditClient({ url: auditUrl, token, tls }),
    auditUrl,
    tls,
    leaseMs: settings.BATON_PULL_LEASE_MS,
    backoff: { baseMs: settings.BATON_RETRY_BASE_MS, capMs: settings.BATON_RETRY_CAP_MS },
    blockedPolicy: settings.BATON_BLOCKED_POLICY,
    lostFacts: settings.BATON_LOST_FACTS,
    ...given,
  }
}

/** Throws 503 BATON_EXECUTIONS_NOT_OFFERED where this gateway gives nothing away. */
export function offered(remote: RemoteWork | undefined): RemoteWork {
  if (remote === undefined) throw NOT_OFFERED
  return remote
}

/** What a gateway answers that gives nothing away. */
export const NOT_OFFERED = new ProblemError({
  status: 503,
  code: 'BATON_EXECUTIONS_NOT_OFFERED',
  detail: 'this gateway gives no executions away, because it may not write the audit log',
  fix: 'Set BATON_AUDIT_APPEND_TOKEN (and BATON_REDIS_URL, where relays use Redis) for the gateway.',
})
