// The sweeper: whatever waits for time or was lost on the way is driven again from Postgres.
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import {
  addAuditIntents,
  deadLetterDepth,
  expireHandoffs,
  inTransaction,
  listAuditIntents,
  listQuietHandoffs,
  outboxDepth,
  redriveHandoffs,
  sweepForgotten,
  sweepLapsedLeases,
  sweepNotices,
  sweepRegistrations,
  sweepRetries,
} from '@baton/store'
import type { AuditIntent, Pool, QuietHandoff } from '@baton/store'
import type { Transport } from '@baton/transport'
import { jobIdOf } from '@baton/transport/jobs'
import { endCanceled } from './cancel.ts'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import { createLossDetector } from './detect-loss.ts'
import type { EventShipper } from './record-audit.ts'
import { advanceRedrives } from './redrive.ts'
import type { RelayParts } from './relay-outbox.ts'
import { wakeRelays } from './wake.ts'

interface SweeperParts extends RelayParts {
  readonly shipper: EventShipper
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly quietMs?: number
}

const INTERVAL_MS = 1_000
const QUIET_MS = 5_000
const UNSHIPPED_MS = 3_000

/**
 * Sweeps once a second, and looks for queues that lost their end. Any number may run: rows are taken
 * with SKIP LOCKED.
 */
export function createSweeper(parts: SweeperParts): Service {
  const { pool, shipper, metrics, logger } = parts
  const { marks } = parts.transport
  const detector = marks === null ? null : createLossDetector({ pool, marks, logger })

  const failed = (name: string, error: unknown): void =>
    logger.warn({ event: 'sweep.failed', step: name, code: codeOf(error) })

  // What one step cannot do keeps no other from its work.
  const step = (name: string, work: () => Promise<unknown>): Promise<unknown> =>
    work().catch((error: unknown) => failed(name, error))

  async function endDue(outcome: string, intents: readonly AuditIntent[]): Promise<void> {
    if (intents.length === 0) return
    metrics.handoffsTotal.with({ outcome, reason: outcome }).inc(intents.length)
    wakeRelays(pool)
    await shipper.ship(intents)
  }

  async function sweep(): Promise<void> {
    await step('redrive', () => redrive(parts))
    await step('expire', async () => endDue('EXPIRED', await expire(pool)))
    await step('cancel', async () => endDue('CANCELED', await endCanceled(pool)))
    await step('registrations', () => sweepRegistrations(pool))
    await step('redrives', async () => {
      if ((await advanceRedrives(pool)) > 0) wakeRelays(pool)
    })
    await step('events', async () => shipper.ship(await listAuditIntents(pool, UNSHIPPED_MS)))
    await step('notices', () => sweepNotices(pool))
    await step('gauges', () => measure(parts))
  }

  const sweeps = every({
    name: 'sweeper',
    everyMs: INTERVAL_MS,
    firstAfterMs: INTERVAL_MS,
    run: sweep,
    failed: (error) => failed('sweep', error),
  })
  return {
    name: sweeps.name,
    start: async () => void (await Promise.all([sweeps.start(), detector?.start()])),
    stop: async () => void (await Promise.all([sweeps.stop(), detector?.stop()])),
  }
}

async function redrive({ pool, transport, logger, quietMs = QUIET_MS }: SweeperParts) {
  const retries = await sweepRetries(pool)
  const lapsed = await sweepLapsedLeases(pool)
  const quiet = await listQuietHandoffs(pool, quietMs)
  crashPoint('sweeper.after_select')
  const gone = quiet.length === 0 ? [] : await missing(transport, quiet)
  const lost = gone.length === 0 ? 0 : await redriveHandoffs(pool, gone)
  crashPoint('sweeper.after_commit')
  const forgotten = await sweepForgotten(pool, quietMs)
  if (retries + lapsed + lost + forgotten === 0) return
  wakeRelays(pool)
  logger.info({ event: 'sweep.redriven', retries, lapsed, lost, forgotten })
}

// What the queue no longer has.
async function missing(
  transport: Transport,
  quiet: readonly QuietHandoff[],
): Promise<readonly QuietHandoff[]> {
  const jobs = quiet.map((one) => ({ queue: one.queue, jobId: jobIdOf(one) }))
  const gone = new Set(await transport.missing(jobs))
  return quiet.filter((one) => gone.has(jobIdOf(one)))
}

/** Ends what is past its deadline; answers the events that committed with it. */
function expire(pool: Pool): Promise<readonly AuditIntent[]> {
  return inTransaction(pool, async (transaction) => {
    const expired = await expireHandoffs(transaction)
    const intents = expired.map((one) =>
      toIntent(lifecycleEntry(one, 'HANDOFF_EXPIRED', 'EXPIRED')),
    )
    if (intents.length > 0) await addAuditIntents(transaction, intents)
    return intents
  })
}

async function measure({ pool, metrics }: SweeperParts): Promise<void> {
  const { depth, oldestAgeSeconds } = await outboxDepth(pool)
  metrics.outboxDepth.set(depth)
  metrics.outboxOldestAgeSeconds.set(oldestAgeSeconds)
  metrics.deadLetterDepth.set(await deadLetterDepth(pool))
}
