// The sweeper: whatever waits for time or was lost on the way is driven again from Postgres.
import type { AuditIntent, ExpiredHandoff, QuietHandoff } from '@baton/store'
import { codeOf, crashPoint } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'

export interface SweepDeps {
  /** A published job that nobody claimed for this long is looked for in the queue. */
  readonly quietMs: number
  sweepRetries(): Promise<number>
  sweepLapsedLeases(): Promise<number>
  /** Publishes queued handoffs for which nothing would ring any more. */
  sweepForgotten(quietMs: number): Promise<number>
  /** Forgets notices that senders have dealt with, and very old ones. */
  sweepNotices(): Promise<number>
  listQuietHandoffs(quietMs: number): Promise<readonly QuietHandoff[]>
  redriveHandoffs(lost: readonly QuietHandoff[]): Promise<number>
  /** Which of these the queue no longer has. */
  missing(jobs: readonly QuietHandoff[]): Promise<readonly QuietHandoff[]>
  /** Ends expired handoffs and stores the events in the same transaction. */
  expire(
    eventsOf: (expired: readonly ExpiredHandoff[]) => readonly AuditIntent[],
  ): Promise<readonly AuditIntent[]>
  /** Ends canceled handoffs that execute no more or whose grace is over, likewise. */
  endCanceled(
    eventsOf: (canceled: readonly ExpiredHandoff[]) => readonly AuditIntent[],
  ): Promise<readonly AuditIntent[]>
  /** Removes the registrations of workers that ended without unregistering. */
  sweepRegistrations(): Promise<void>
  /** Gives due bulk re-drives their turn; answers how many handoffs went back to the queue. */
  advanceRedrives(): Promise<number>
  listAuditIntents(olderThanMs: number): Promise<readonly AuditIntent[]>
  ship(intents: readonly AuditIntent[]): Promise<void>
  wakeRelays(): void
  outboxDepth(): Promise<{ depth: number; oldestAgeSeconds: number }>
  deadLetterDepth(): Promise<number>
  readonly metrics: Metrics
  readonly logger: Logger
}

const INTERVAL_MS = 1_000
const UNSHIPPED_MS = 3_000

/** Sweeps once a second. Any number may run: rows are taken with SKIP LOCKED. */
export function createSweeper(deps: SweepDeps): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopping = false

  async function step(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      deps.logger.warn({ event: 'sweep.failed', step: name, code: codeOf(error) })
    }
  }

  async function endDue(outcome: string, end: () => Promise<readonly AuditIntent[]>) {
    const intents = await end()
    if (intents.length === 0) return
    deps.metrics.handoffsTotal.with({ outcome, reason: outcome }).inc(intents.length)
    deps.wakeRelays()
    await deps.ship(intents)
  }

  async function sweep(): Promise<void> {
    await step('redrive', () => redrive(deps))
    await step('expire', () => endDue('EXPIRED', () => deps.expire(expiryEvents)))
    await step('cancel', () => endDue('CANCELED', () => deps.endCanceled(canceledEvents)))
    await step('registrations', () => deps.sweepRegistrations())
    await step(
      'redrives',
      async () => void ((await deps.advanceRedrives()) > 0 && deps.wakeRelays()),
    )
    await step('events', async () => deps.ship(await deps.listAuditIntents(UNSHIPPED_MS)))
    await step('notices', async () => void (await deps.sweepNotices()))
    await step('gauges', () => measure(deps))
  }

  function schedule(): void {
    if (stopping) return
    timer = setTimeout(() => {
      running = sweep().finally(schedule)
    }, INTERVAL_MS)
  }

  return {
    name: 'sweeper',
    async start() {
      schedule()
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      await running
    },
  }
}

async function redrive(deps: SweepDeps): Promise<void> {
  const retries = await deps.sweepRetries()
  const lapsed = await deps.sweepLapsedLeases()
  const quiet = await deps.listQuietHandoffs(deps.quietMs)
  crashPoint('sweeper.after_select')
  const lost = quiet.length === 0 ? [] : await deps.missing(quiet)
  const redriven = lost.length === 0 ? 0 : await deps.redriveHandoffs(lost)
  crashPoint('sweeper.after_commit')
  const forgotten = await deps.sweepForgotten(deps.quietMs)
  if (retries + lapsed + redriven + forgotten === 0) return
  deps.wakeRelays()
  deps.logger.info({ event: 'sweep.redriven', retries, lapsed, lost: redriven, forgotten })
}

const expiryEvents = (expired: readonly ExpiredHandoff[]): readonly AuditIntent[] =>
  expired.map((one) => toIntent(lifecycleEntry(one, 'HANDOFF_EXPIRED', 'EXPIRED')))

/** The events of canceled handoffs that have ended now. */
export const canceledEvents = (canceled: readonly ExpiredHandoff[]): readonly AuditIntent[] =>
  canceled.map((one) => toIntent(lifecycleEntry(one, 'HANDOFF_CANCELED', 'CANCELED')))

async function measure(deps: SweepDeps): Promise<void> {
  const { depth, oldestAgeSeconds } = await deps.outboxDepth()
  deps.metrics.outboxDepth.set(depth)
  deps.metrics.outboxOldestAgeSeconds.set(oldestAgeSeconds)
  deps.metrics.deadLetterDepth.set(await deps.deadLetterDepth())
}
