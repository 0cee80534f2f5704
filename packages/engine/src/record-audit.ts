// What the audit store is told: decisions before anything executes, lifecycle events once they have committed.
import type { AuditClient } from '@baton/audit/client'
import type { AuditEntry, Receipt } from '@baton/ledger'
import { codeOf, createBatcher, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { deleteOutboxEvents, listHandoffEvents } from '@baton/store'
import type { OutboxEvent, Pool } from '@baton/store'
import { exemplarOf } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { inSetOrSingly } from './in-set-or-singly.ts'
import type { Single } from './in-set-or-singly.ts'

const SET_MAX = 128
const BATCHING_DELAY_MS = 20
const QUEUED_MAX = 4_096

/** Resolves with the receipt once the entry is durable; rejects where it alone was refused. */
export type Recorder = (entry: AuditEntry) => Promise<Receipt>

/** Entries of concurrent callers travel in one request; a refused one does not refuse the others. */
export function createRecorder(client: AuditClient, metrics: Metrics): Recorder {
  const batcher = createBatcher<AuditEntry, Single<Receipt>>({
    name: 'audit append',
    maxItems: SET_MAX,
    maxQueued: QUEUED_MAX,
    flushesMax: 2,
    batchingDelayMs: BATCHING_DELAY_MS,
    flush: async (entries) => {
      const startedAt = performance.now()
      const receipts = await inSetOrSingly(entries, (set) => client.append(set))
      const seconds = (performance.now() - startedAt) / 1000
      metrics.auditAppendSeconds.observe(seconds, exemplarOf(entries[0]?.traceparent ?? ''))
      return receipts
    },
  })
  return async (entry) => {
    const receipt = await batcher.add(entry)
    if (receipt instanceof Error) throw receipt
    return receipt
  }
}

interface ShipperParts {
  readonly pool: Pool
  readonly client: AuditClient
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface EventShipper {
  /** Ships events that have committed; a failure leaves them for the sweeper. */
  ship(events: readonly OutboxEvent[]): Promise<void>
  drain(): Promise<void>
}

/**
 * Lifecycle events reach the audit store at least once, on a queue of their own, and are recorded
 * once; then they are forgotten in Postgres.
 */
export function createEventShipper({ pool, client, metrics, logger }: ShipperParts): EventShipper {
  const record = createRecorder(client, metrics)
  showBreaker(client, metrics)
  const deletions = createBatcher<string, void>({
    name: 'forget events',
    maxItems: 256,
    maxQueued: 20_000,
    batchingDelayMs: 50,
    flush: async (ids) => {
      await deleteOutboxEvents(pool, ids)
      return ids.map(() => undefined)
    },
  })
  const underWay = new Set<Promise<void>>()

  async function shipOne({ id, handoffId, entry }: OutboxEvent): Promise<void> {
    try {
      await record(JSON.parse(entry) as AuditEntry)
      await deletions.add(id)
    } catch (error) {
      logger.warn({ event: 'event.unshipped', code: codeOf(error), handoffId })
    }
  }

  return {
    async ship(events) {
      const shipping = Promise.all(events.map(shipOne)).then(() => undefined)
      underWay.add(shipping)
      await shipping.finally(() => underWay.delete(shipping))
    },
    async drain() {
      await Promise.all(underWay)
    },
  }
}

// By its changes: a breaker that waits to let one call through is not open, and still nothing has answered.
function showBreaker(client: Pick<AuditClient, 'onBlocked'>, metrics: Metrics): void {
  const gauge = metrics.breakerOpen.with({ target: 'auditor' })
  gauge.set(0)
  client.onBlocked((blocked) => gauge.set(blocked ? 1 : 0))
}

/**
 * Brings what waits to be recorded about a handoff into the log, whoever decided it. Throws a transient
 * BATON_DECISIONS_UNRECORDED where some of it still waits.
 */
export async function shipDecisions(
  pool: Pool,
  shipper: EventShipper,
  handoffId: string,
): Promise<void> {
  const waiting = await listHandoffEvents(pool, handoffId)
  if (waiting.length === 0) return
  await shipper.ship(waiting)
  const left = await listHandoffEvents(pool, handoffId)
  if (left.length === 0) return
  throw transient('BATON_DECISIONS_UNRECORDED', 'what people decided is not yet in the audit log', {
    fix: 'Nothing; the handoff is tried again by itself once the auditor answers.',
  })
}
