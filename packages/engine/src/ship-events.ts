// Lifecycle events reach the audit store at least once and are recorded once; then they are forgotten here.
import type { AuditEntry, Receipt } from '@baton/ledger'
import type { AuditIntent } from '@baton/store'
import { codeOf, createBatcher } from '@baton/runtime'
import type { Logger } from '@baton/runtime'

interface ShipDeps {
  record(entry: AuditEntry): Promise<Receipt>
  deleteIntents(ids: readonly string[]): Promise<void>
  readonly logger: Logger
}

export interface EventShipper {
  /** Ships events that have committed; a failure leaves them for the sweeper. */
  ship(intents: readonly AuditIntent[]): Promise<void>
  drain(): Promise<void>
}

export function createEventShipper(deps: ShipDeps): EventShipper {
  const deletions = createBatcher<string, void>({
    name: 'forget events',
    maxItems: 256,
    maxQueued: 20_000,
    lingerMs: 50,
    flush: async (ids) => {
      await deps.deleteIntents(ids)
      return ids.map(() => undefined)
    },
  })
  const underWay = new Set<Promise<void>>()

  async function shipOne(intent: AuditIntent): Promise<void> {
    try {
      await deps.record(JSON.parse(intent.entry) as AuditEntry)
      await deletions.add(intent.id)
    } catch (error) {
      deps.logger.warn({
        event: 'event.unshipped',
        code: codeOf(error),
        handoffId: intent.handoffId,
      })
    }
  }

  return {
    async ship(intents) {
      const shipping = Promise.all(intents.map(shipOne)).then(() => undefined)
      underWay.add(shipping)
      await shipping.finally(() => underWay.delete(shipping))
    },
    async drain() {
      await Promise.all(underWay)
    },
  }
}
