// Appends to the audit store: decisions and events of a whole process share requests.
import type { AuditClient } from '@baton/audit'
import type { AuditEntry, Receipt } from '@baton/ledger'
import { createEventShipper, type EventShipper } from '@baton/pipeline'
import { createBatcher, type Batcher, type Logger } from '@baton/runtime'
import { type Pool, deleteAuditIntents } from '@baton/store'
import type { Metrics } from '@baton/telemetry'

const SET_MAX = 128
const LINGER_MS = 10
const QUEUED_MAX = 4_096

/** One append request at a time for each kind, so that a decision never waits behind old events. */
export function createRecorder(
  client: AuditClient,
  metrics: Metrics,
): Batcher<AuditEntry, Receipt> {
  return createBatcher({
    name: 'audit append',
    maxItems: SET_MAX,
    maxQueued: QUEUED_MAX,
    flushesMax: 2,
    lingerMs: LINGER_MS,
    flush: async (entries) => {
      const startedAt = performance.now()
      const receipts = await client.append(entries)
      metrics.auditAppendSeconds.observe((performance.now() - startedAt) / 1000)
      return receipts
    },
  })
}

interface ShipperParts {
  readonly pool: Pool
  readonly client: AuditClient
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Ships lifecycle events on a queue of their own. */
export function shipperFor({ pool, client, metrics, logger }: ShipperParts): EventShipper {
  const recorder = createRecorder(client, metrics)
  return createEventShipper({
    record: (entry) => recorder.add(entry),
    deleteIntents: (ids) => deleteAuditIntents(pool, ids),
    logger,
  })
}
