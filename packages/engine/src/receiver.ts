// The receiving functions of a worker: the steps of receive-handoff.ts on Postgres, scanner and auditor.
import { randomUUID } from 'node:crypto'
import type { AuditClient } from '@baton/audit/client'
import type { Backoff } from './decide/outcome.ts'
import { receiveHandoff } from './receive-handoff.ts'
import type { Delivery, ReceiveDeps } from './receive-handoff.ts'
import { createSettler } from './commit-outcome.ts'
import type { Settler } from './commit-outcome.ts'
import type { Executor } from './execute-handoff.ts'
import { createFanIn } from './fan-in.ts'
import { createJudge } from './judge-delivery.ts'
import type { JudgeParts } from './judge-delivery.ts'
import type { KnownReceivers } from './known-receivers.ts'
import { LARGE_BYTES } from './large-work.ts'
import { createBatcher } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimExecutions,
  extendLeases,
  markExecuting,
  notifyOutbox,
  releaseOwnLeases,
} from '@baton/store'
import type { ClaimedHandoff, ClaimRequest, FanOutBounds, StartedExecution } from '@baton/store'
import type { HandoffTransport, Metrics } from '@baton/telemetry'
import { createRecorder, shipDecisions } from './record-audit.ts'
import type { EventShipper } from './record-audit.ts'
import type { BlockedPolicy } from './settings.ts'

export interface ReceiverParts extends JudgeParts {
  /** What is handed on is compressed for the windows of who gets it (E03). */
  readonly receivers: KnownReceivers
  readonly attemptsMax: number
  readonly fanOuts?: FanOutBounds | undefined
  readonly backoff: Backoff
  readonly blockedPolicy: BlockedPolicy
  readonly client: AuditClient
  readonly shipper: EventShipper
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface Receiver {
  /**
   * Handles queue messages, one per call, for who would execute them; never rejects for what a handoff is. Answers whether it was this
   * message that claimed the handoff.
   */
  receiveFor(
    executorOf: (claimed: ClaimedHandoff) => Executor,
    transport?: HandoffTransport,
  ): (pointer: Delivery) => Promise<boolean>
  /** Settles what agents outside have taken. */
  readonly settle: Settler
  /** Joins what has fanned out, once its branches have ended. */
  readonly fanIn: Service
  /** Resolves when every settlement under way has been committed. */
  drain(): Promise<void>
  /** Releases whatever this receiver still holds. */
  releaseOwnLeases(): Promise<void>
}

const LIMITS = { maxItems: 128, maxQueued: 10_000, batchingDelayMs: 20 }
/** Whoever is claimed with large handoffs waits until all of them have been read. */
const LARGE_LIMITS = { ...LIMITS, maxItems: 4 }

export function createReceiver(parts: ReceiverParts): Receiver {
  const { pool, shipper, metrics, logger, leaseMs } = parts
  const owner = randomUUID()
  const claimsOf = (name: string, limits: typeof LIMITS) =>
    createBatcher({
      name,
      ...limits,
      flush: (requests: readonly ClaimRequest[]) =>
        claimExecutions(pool, { owner, leaseMs }, requests),
    })
  const claims = claimsOf('claim', LIMITS)
  const largeClaims = claimsOf('claim of large ones', LARGE_LIMITS)
  const starts = createBatcher({
    name: 'start',
    ...LIMITS,
    flush: (set: readonly StartedExecution[]) => markExecuting(pool, set),
  })
  const fanIn = createFanIn(parts)
  const settle = createSettler({ ...parts, onFannedIn: fanIn.wake })

  const deps: Omit<ReceiveDeps, 'executorOf' | 'transport'> = {
    claim: (one) => ((one.bytes ?? 0) > LARGE_BYTES ? largeClaims : claims).add(one),
    judge: createJudge(parts),
    leaseMs,
    extend: async (fence) => (await extendLeases(pool, [fence], leaseMs)).length > 0,
    record: createRecorder(parts.client, metrics),
    recordDecisions: (handoffId) => shipDecisions(pool, shipper, handoffId),
    start: starts.add,
    settle,
    metrics,
    logger,
  }
  return {
    receiveFor:
      (executorOf, transport = 'queue') =>
      (pointer) =>
        receiveHandoff({ ...deps, executorOf, transport }, pointer),
    settle,
    fanIn,
    drain: settle.drain,
    async releaseOwnLeases() {
      const given = await releaseOwnLeases(pool, owner)
      if (given > 0) await notifyOutbox(pool)
    },
  }
}
