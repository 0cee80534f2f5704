// Makes events of what the log and the alerts say, off the way of every handoff: one process at a time follows, each record is told once
// and under one id, and none is passed over, however late it comes. Where nobody asks for events, nothing is read or written.
import { randomUUID } from 'node:crypto'
import { DEFAULT_TENANT, formatInstant } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  addAlertEvents,
  addFollowed,
  findEventFacts,
  followFor,
  forgetEventDeliveries,
  forgetEvents,
  leaveFollowing,
  listLogPositions,
  measureEventDeliveries,
} from '@baton/store'
import type { FedTenant, LogPosition, NewEvent, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { eventOfAlert, eventOfRecord } from './decide/lifecycle-event.ts'

export interface FollowRequest {
  readonly positions: readonly LogPosition[]
  /** Where a chain without a position begins. */
  readonly since: string
  readonly limit: number
}

export interface FollowedLog {
  readonly records: readonly RecordBody[]
  readonly positions: readonly LogPosition[]
  readonly isMore: boolean
  readonly restored: readonly number[]
}

export interface EventFollowing extends Service {
  /** Looks now: somebody waits. */
  wake(): void
}

interface FollowParts {
  readonly pool: Pool
  /** Asks the auditor what its log has since. */
  readonly follow: (request: FollowRequest) => Promise<FollowedLog>
  readonly keptDays: number
  readonly metrics: Pick<Metrics, 'eventsTotal' | 'eventsBehindSeconds' | 'eventDeliveriesWaiting'>
  readonly logger: Logger
}

const LOOK_MS = 500
/** Of a process that follows no more, another one takes over after so long. */
const LEASE_MS = 30_000
const KEEP_MS = 60_000
const RECORDS_MAX = 500
const CHANGES_MAX = 200
const FORGOTTEN_MAX = 1_000
/** The clocks of databases and auditors may differ by so much: who asks for events has those of so long before, too. */
const BEFORE_MS = 10_000

export function createEventFollowing(parts: FollowParts): EventFollowing {
  const { pool, keptDays, metrics, logger } = parts
  const follower = randomUUID()
  const failed = (error: unknown) =>
    logger.warn({ event: 'events.unfollowed', code: codeOf(error) })
  const follows = every({
    name: 'events',
    everyMs: LOOK_MS,
    async run(signal) {
      const tenants = await followFor(pool, { follower, leaseMs: LEASE_MS })
      if (tenants.length === 0) return LOOK_MS
      const more = await followRound(parts, follower, tenants)
      return more && !signal.aborted ? 0 : LOOK_MS
    },
    failed,
  })
  const keeps = every({
    name: 'kept events',
    everyMs: KEEP_MS,
    async run() {
      const waiting = await measureEventDeliveries(pool)
      for (const state of ['waiting', 'dead'] as const)
        metrics.eventDeliveriesWaiting[state].set(waiting[state])
      await forgetEventDeliveries(pool)
      const gone = await forgetEvents(pool, { keptDays, limit: FORGOTTEN_MAX })
      return gone === FORGOTTEN_MAX ? 0 : KEEP_MS
    },
    failed,
  })
  return {
    name: follows.name,
    wake: follows.wake,
    async start() {
      await follows.start()
      await keeps.start()
    },
    async stop() {
      await Promise.all([follows.stop(), keeps.stop()])
      await leaveFollowing(pool, follower).catch(failed)
    },
  }
}

async function followRound(
  { pool, follow, metrics, logger }: FollowParts,
  follower: string,
  tenants: readonly FedTenant[],
): Promise<boolean> {
  const [first] = tenants.toSorted((left, right) => left.since.getTime() - right.since.getTime())
  const since = formatInstant(((first?.since.getTime() ?? Date.now()) - BEFORE_MS) * 1_000)
  const positions = await listLogPositions(pool)
  const log = await follow({ positions, since, limit: RECORDS_MAX })
  if (log.restored.length > 0)
    logger.warn({ event: 'events.log_restored', chains: log.restored.length })
  const names = tenants.map(({ tenant }) => tenant)
  const events = await eventsOf(pool, log.records, new Set(names))
  const moved = log.positions.filter((one) => differs(one, positions))
  const isNoted = await addFollowed(pool, { follower, tenants: names, events, positions: moved })
  if (!isNoted) return true
  metrics.eventsTotal.inc(events.length)
  metrics.eventsBehindSeconds.set(log.isMore ? secondsSince(log.records) : 0)
  const changes = await tellAlerts(pool, tenants)
  return log.isMore || changes === CHANGES_MAX
}

const secondsSince = (records: readonly RecordBody[]): number =>
  Math.max(0, Date.now() - Math.min(...records.map(({ recordedAt }) => Date.parse(recordedAt)))) /
  1_000

const differs = ({ chain, size }: LogPosition, before: readonly LogPosition[]): boolean =>
  before.find((one) => one.chain === chain)?.size !== size

async function tellAlerts(pool: Pool, tenants: readonly FedTenant[]): Promise<number> {
  const own = tenants.find(({ tenant }) => tenant === DEFAULT_TENANT)
  if (own === undefined) return 0
  return addAlertEvents(pool, { since: own.since, limit: CHANGES_MAX, eventOf: eventOfAlert })
}

async function eventsOf(
  pool: Pool,
  records: readonly RecordBody[],
  tenants: ReadonlySet<string>,
): Promise<readonly NewEvent[]> {
  const own = records.filter(({ tenant = DEFAULT_TENANT }) => tenants.has(tenant))
  if (own.length === 0) return []
  const facts = await findEventFacts(pool, [...new Set(own.map(({ handoffId }) => handoffId))])
  return own.flatMap((record) => eventOfRecord(record, facts.get(record.handoffId)) ?? [])
}
