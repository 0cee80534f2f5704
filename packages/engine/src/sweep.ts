// The sweeper: whatever waits for time or was lost on the way is driven again from Postgres.
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import {
  addOutboxEvents,
  countAlerts,
  createSizeWatch,
  expireHandoffs,
  forgetAlerts,
  forgetRemoteExecutions,
  inTransaction,
  listOutboxEvents,
  listUndelivered,
  redriveHandoffs,
  sweepExpiredLeases,
  sweepNotifications,
  sweepRegistrations,
  sweepRetries,
  sweepStuck,
} from '@baton/store'
import type { OutboxEvent, Pool, UndeliveredHandoff, WaitingEvent } from '@baton/store'
import type { Transport } from '@baton/transport'
import { jobIdOf } from '@baton/transport/jobs'
import { endCanceled } from './cancel.ts'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { createLossDetector } from './detect-loss.ts'
import { createWaitingMeasure } from './measure-waiting.ts'
import type { EventShipper } from './record-audit.ts'
import { createLevelKeeper } from './level-keeper.ts'
import { advanceRedrives } from './redrive.ts'
import type { RelayParts } from './relay-outbox.ts'
import { wakeRelays } from './wake.ts'

interface SweeperParts extends RelayParts {
  readonly shipper: EventShipper
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly undeliveredMs?: number
}

const INTERVAL_MS = 1_000
const UNDELIVERED_MS = 5_000
const SHIPPED_MAX = 256
const UNSHIPPED_MS = 3_000

/**
 * Sweeps once a second, and looks for queues that lost their end. Any number may run: rows are taken
 * with SKIP LOCKED.
 */
export function createSweeper(parts: SweeperParts): Service {
  const { pool, shipper, metrics, logger } = parts
  const { watermarks } = parts.transport
  const detector = watermarks === null ? null : createLossDetector({ pool, watermarks, logger })

  const measure = createWaitingMeasure(pool, metrics)

  const failed = (name: string, error: unknown): void =>
    logger.warn({ event: 'sweep.failed', step: name, code: codeOf(error) })

  // What one step cannot do keeps no other from its work.
  const step = (name: string, work: () => Promise<unknown>): Promise<unknown> =>
    work().catch((error: unknown) => failed(name, error))

  // Page by page through all that waits: what the audit store refuses stays, and keeps no other from being shipped.
  let shipped: WaitingEvent | undefined
  async function shipWaiting(): Promise<void> {
    const page = await listOutboxEvents(pool, UNSHIPPED_MS, { after: shipped, max: SHIPPED_MAX })
    shipped = page.length < SHIPPED_MAX ? undefined : page.at(-1)
    await shipper.ship(page)
  }

  async function endDue(outcome: string, events: readonly OutboxEvent[]): Promise<void> {
    if (events.length === 0) return
    metrics.handoffsTotal.with({ outcome, reason: outcome }).inc(events.length)
    wakeRelays(pool)
    await shipper.ship(events)
  }

  async function sweep(): Promise<void> {
    await step('redrive', () => redrive(parts))
    await step('expire', async () => endDue('EXPIRED', await expire(pool)))
    await step('cancel', async () => endDue('CANCELED', await endCanceled(pool)))
    await step('registrations', () => sweepRegistrations(pool))
    await step('remote-executions', () => forgetRemoteExecutions(pool))
    await step('redrives', async () => {
      if ((await advanceRedrives(pool)) > 0) wakeRelays(pool)
    })
    await step('events', shipWaiting)
    await step('notifications', () => sweepNotifications(pool))
    await step('alerts', async () => {
      await countAlerts(pool)
      await forgetAlerts(pool)
    })
    await step('gauges', measure)
  }

  const beside = [
    createLevelKeeper(parts),
    createSizeWatch({ db: pool, sizes: metrics.databaseBytes, logger }),
    ...(detector === null ? [] : [detector]),
  ]
  const sweeps = every({
    name: 'sweeper',
    everyMs: INTERVAL_MS,
    firstAfterMs: INTERVAL_MS,
    run: sweep,
    failed: (error) => failed('sweep', error),
  })
  return {
    name: sweeps.name,
    start: async () => void (await Promise.all([sweeps, ...beside].map((one) => one.start()))),
    async stop() {
      await Promise.all([sweeps, ...beside].map((one) => one.stop()))
      // What was noted since the last sweep; nobody may be there to count it for a long time.
      await step('alerts', () => countAlerts(pool))
    },
  }
}

async function redrive(parts: SweeperParts): Promise<void> {
  const { pool, transport, metrics, logger, undeliveredMs = UNDELIVERED_MS } = parts
  const retries = await sweepRetries(pool)
  const expired = await sweepExpiredLeases(pool)
  metrics.leasesExpiredTotal.inc(expired.length)
  for (const handoffId of expired) logger.warn({ event: 'lease.expired', handoffId })
  const undelivered = await listUndelivered(pool, undeliveredMs)
  crashPoint('sweeper.after_select')
  const gone = undelivered.length === 0 ? [] : await missing(transport, undelivered)
  const lost = gone.length === 0 ? 0 : await redriveHandoffs(pool, gone)
  crashPoint('sweeper.after_commit')
  const stuck = await sweepStuck(pool, undeliveredMs)
  if (retries + expired.length + lost + stuck === 0) return
  wakeRelays(pool)
  logger.info({ event: 'sweep.redriven', retries, expired: expired.length, lost, stuck })
}

// What the queue no longer has.
async function missing(
  transport: Transport,
  undelivered: readonly UndeliveredHandoff[],
): Promise<readonly UndeliveredHandoff[]> {
  const jobs = undelivered.map((one) => ({ queue: one.queue, jobId: jobIdOf(one) }))
  const gone = new Set(await transport.missing(jobs))
  return undelivered.filter((one) => gone.has(jobIdOf(one)))
}

/** Ends what is past its deadline; answers the events that committed with it. */
function expire(pool: Pool): Promise<readonly OutboxEvent[]> {
  return inTransaction(pool, async (transaction) => {
    const expired = await expireHandoffs(transaction)
    const events = expired.map((one) =>
      toOutboxEvent(lifecycleEntry(one, 'HANDOFF_EXPIRED', 'EXPIRED')),
    )
    if (events.length > 0) await addOutboxEvents(transaction, events)
    return events
  })
}
