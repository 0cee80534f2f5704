// Appends to the audit store: decisions and events of a whole process share requests.
import type { AuditClient } from '@baton/audit/client'
import type { AuditEntry, Receipt } from '@baton/ledger'
import { createEventShipper } from './ship-events.ts'
import type { EventShipper } from './ship-events.ts'
import { createBatcher, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { deleteAuditIntents, listHandoffIntents } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { inSetOrSingly } from './in-set-or-singly.ts'
import type { Single } from './in-set-or-singly.ts'

const SET_MAX = 128
const LINGER_MS = 20
const QUEUED_MAX = 4_096

export interface Recorder {
  /** Resolves with the receipt once the entry is durable; rejects where it alone was refused. */
  record(entry: AuditEntry): Promise<Receipt>
}

/** Entries of concurrent callers travel in one request; a refused one does not refuse the others. */
export function createRecorder(client: AuditClient, metrics: Metrics): Recorder {
  const batcher = createBatcher<AuditEntry, Single<Receipt>>({
    name: 'audit append',
    maxItems: SET_MAX,
    maxQueued: QUEUED_MAX,
    flushesMax: 2,
    lingerMs: LINGER_MS,
    flush: async (entries) => {
      const startedAt = performance.now()
      const receipts = await inSetOrSingly(entries, (set) => client.append(set))
      metrics.auditAppendSeconds.observe((performance.now() - startedAt) / 1000)
      return receipts
    },
  })
  return {
    async record(entry) {
      const receipt = await batcher.add(entry)
      if (receipt instanceof Error) throw receipt
      return receipt
    },
  }
}

interface ShipperParts {
  readonly pool: Pool
  readonly client: AuditClient
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Ships lifecycle events on a queue of their own. */
export function shipperFor({ pool, client, metrics, logger }: ShipperParts): EventShipper {
  return createEventShipper({
    ...createRecorder(client, metrics),
    deleteIntents: (ids) => deleteAuditIntents(pool, ids),
    logger,
  })
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
  const waiting = await listHandoffIntents(pool, handoffId)
  if (waiting.length === 0) return
  await shipper.ship(waiting)
  const left = await listHandoffIntents(pool, handoffId)
  if (left.length === 0) return
  throw transient('BATON_DECISIONS_UNRECORDED', 'what people decided is not yet in the audit log', {
    fix: 'Nothing; the handoff is tried again by itself once the auditor answers.',
  })
}
