// A relay and a sweeper on given connections: what moves handoffs from Postgres to the queue.
import type { AuditClient } from '@baton/audit/client'
import type { EventShipper } from './ship-events.ts'
import { createSweeper } from './sweep.ts'
import type { SweepDeps } from './sweep.ts'
import { createLossDetector } from './detect-loss.ts'
import { createReceiptReconciler } from './reconcile-receipts.ts'
import { createRelay } from './relay-outbox.ts'
import { crashPoint } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimOutbox,
  deadLetterDepth,
  forgetOldMarks,
  inTransaction,
  listAuditIntents,
  listExecutionsAfter,
  listNewestReceipts,
  listOutboxLanes,
  listQueueMarks,
  listQuietHandoffs,
  listenToOutbox,
  markDispatched,
  outboxDepth,
  readReceiptMark,
  redriveHandoffs,
  redriveTail,
  sweepForgotten,
  sweepLapsedLeases,
  sweepNotices,
  sweepRegistrations,
  sweepRetries,
  takeLostTails,
  writeReceiptMark,
} from '@baton/store'
import type { Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { Transport } from '@baton/transport'
import { jobIdOf } from '@baton/transport/jobs'
import { createNotifier } from './notifier.ts'
import { advanceRedrives } from './review-service.ts'
import { endCanceledWithEvents, expireWithEvents } from './control-events.ts'

const QUIET_MS = 5_000

export interface RelayParts {
  readonly pool: Pool
  readonly databaseUrl: string
  readonly transport: Transport
  /** Where set, only these agent types are relayed. */
  readonly queues?: readonly string[]
  /** Most jobs waiting in a queue before its rows wait in Postgres. */
  readonly waitingMax: number
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly quietMs?: number
  readonly metrics: Metrics
  readonly logger: Logger
}

interface ReceiptParts extends Pick<RelayParts, 'pool' | 'metrics' | 'logger'> {
  readonly client: Pick<AuditClient, 'checkReceipts'>
  /** A minute by default. */
  readonly everyMs?: number
}

/** Publishes the outbox through `transport` until stopped. */
export function relayService(parts: RelayParts): Service {
  const { pool, transport } = parts
  return createRelay({
    listLanes: () => listOutboxLanes(pool),
    claimAndPublish: (quotas, publish) =>
      inTransaction(pool, async (transaction) => {
        const rows = await claimOutbox(transaction, quotas)
        if (rows.length === 0) return 0
        const marks = await publish(rows)
        const ids = rows.map((row) => row.handoffId)
        await markDispatched(transaction, ids, marks)
        crashPoint('relay.after_update')
        return rows.length
      }),
    publish: (jobs) => transport.publish(jobs),
    writeMarks: transport.marks === null ? null : transport.marks.write,
    waiting: (queue) => transport.waiting(queue),
    listen: (onWake) => listenToOutbox({ url: parts.databaseUrl, onWake }),
    ...(parts.queues === undefined ? {} : { queues: parts.queues }),
    waitingMax: parts.waitingMax,
    metrics: parts.metrics,
    logger: parts.logger,
  })
}

/** Compares the receipts that executions hold with the audit log, once a minute. */
export function receiptService({ pool, client, everyMs, metrics, logger }: ReceiptParts): Service {
  return createReceiptReconciler({
    listNewestReceipts: (tasks) => listNewestReceipts(pool, tasks),
    listExecutionsAfter: (handoffId, limit) => listExecutionsAfter(pool, handoffId, limit),
    readMark: () => readReceiptMark(pool),
    writeMark: (handoffId) => writeReceiptMark(pool, handoffId),
    check: (receipts) => client.checkReceipts(receipts),
    ...(everyMs === undefined ? {} : { everyMs }),
    metrics,
    logger,
  })
}

/** Re-drives what is due, lapsed or lost, and ships lifecycle events that were left behind. */
export function sweeperService(parts: RelayParts & { readonly shipper: EventShipper }): Service {
  const sweeper = createSweeper(sweepDeps(parts))
  const detector = lossDetector(parts)
  return {
    name: sweeper.name,
    start: async () => void (await Promise.all([sweeper.start(), detector?.start()])),
    stop: async () => void (await Promise.all([sweeper.stop(), detector?.stop()])),
  }
}

function lossDetector({ pool, transport, logger }: RelayParts): Service | null {
  const { marks } = transport
  if (marks === null) return null
  return createLossDetector({
    listMarks: () => listQueueMarks(pool),
    readMarks: (known) => marks.read(known),
    takeLostTails: (lost) => takeLostTails(pool, lost),
    redriveTail: (tail, limit) => redriveTail(pool, tail, limit),
    forgetOldMarks: () => forgetOldMarks(pool),
    wakeRelays: createNotifier(pool),
    logger,
  })
}

function sweepDeps(parts: RelayParts & { readonly shipper: EventShipper }): SweepDeps {
  const { pool, transport, shipper } = parts
  return {
    quietMs: parts.quietMs ?? QUIET_MS,
    sweepRetries: () => sweepRetries(pool),
    sweepLapsedLeases: () => sweepLapsedLeases(pool),
    sweepForgotten: (quietMs) => sweepForgotten(pool, quietMs),
    sweepNotices: () => sweepNotices(pool),
    listQuietHandoffs: (quietMs) => listQuietHandoffs(pool, quietMs),
    redriveHandoffs: (lost) => redriveHandoffs(pool, lost),
    missing: async (jobs) => {
      const named = jobs.map((job) => ({ queue: job.queue, jobId: jobIdOf(job) }))
      const gone = new Set(await transport.missing(named))
      return jobs.filter((job) => gone.has(jobIdOf(job)))
    },
    expire: (eventsOf) => expireWithEvents(pool, eventsOf),
    endCanceled: (eventsOf) => endCanceledWithEvents(pool, eventsOf),
    sweepRegistrations: () => sweepRegistrations(pool),
    advanceRedrives: () => advanceRedrives(pool),
    listAuditIntents: (olderThanMs) => listAuditIntents(pool, olderThanMs),
    ship: (intents) => shipper.ship(intents),
    wakeRelays: createNotifier(pool),
    outboxDepth: () => outboxDepth(pool),
    deadLetterDepth: () => deadLetterDepth(pool),
    metrics: parts.metrics,
    logger: parts.logger,
  }
}
