// How the service stands, read from the database: for `baton slo`, `baton top` and GET /v2/slo.
import { shareReading } from '@baton/runtime'
import { findKeptMetrics, outboxDepth, readWaiting, sumByAgeAndLabel } from '@baton/store'
import type { Pool, Waiting } from '@baton/store'
import { LATENCY_METRIC, PERIOD_DAYS, TRAFFIC_MIN } from '@baton/telemetry'
import {
  HOUR_AGES_SECONDS,
  judgeServiceLevels,
  LEVEL_AGES_SECONDS,
  RECENT_SECONDS,
} from './decide/service-levels.ts'
import type { PairLevel, ServiceLevels } from './decide/service-levels.ts'
import type { Pair } from './decide/slow-pairs.ts'

export interface LevelReport extends ServiceLevels {
  readonly at: Date
  /** Since when handoffs are counted; null before the first. */
  readonly since: Date | null
  readonly periodDays: number
  /** Of fewer handoffs nothing is judged. */
  readonly trafficMin: number
  /** Pairs beyond the hundred that are listed. */
  readonly pairsLeftOut: number
  readonly waiting: Omit<Waiting, 'queues'>
  readonly outbox: { readonly depth: number; readonly oldestAgeSeconds: number }
  readonly queues: Waiting['queues']
}

/** What is asked for; everything by default. */
export type LevelFilter = { readonly [Key in keyof Pair]?: string | undefined }

export interface LevelReporter {
  report(filter: LevelFilter): Promise<LevelReport>
}

const PAIRS_MAX = 100
/** Processes write every ten seconds: within that time whoever asks gets the same levels. */
const FRESH_MS = 10_000
/** What waits is asked of every open handoff. */
const WAITING_FRESH_MS = 1_000

type Levels = ServiceLevels & Pick<LevelReport, 'at' | 'since'>

export function createLevelReporter(pool: Pool): LevelReporter {
  const sharedLevels = shareReading(() => readLevels(pool), FRESH_MS)
  const sharedWaiting = shareReading(() => readWaiting(pool), WAITING_FRESH_MS)
  const sharedOutbox = shareReading(() => outboxDepth(pool), WAITING_FRESH_MS)
  return {
    async report(filter) {
      const [levels, { queues, ...waiting }, outbox] = await Promise.all([
        sharedLevels(),
        sharedWaiting(),
        sharedOutbox(),
      ])
      const pairs = levels.pairs.filter((pair) => fits(pair, filter))
      return {
        ...levels,
        periodDays: PERIOD_DAYS,
        trafficMin: TRAFFIC_MIN,
        objectives: levels.objectives.filter(
          ({ transport }) => transport === (filter.transport ?? transport),
        ),
        pairs: pairs.slice(0, PAIRS_MAX),
        pairsLeftOut: Math.max(0, pairs.length - PAIRS_MAX),
        waiting,
        outbox,
        queues,
      }
    },
  }
}

const fits = (pair: PairLevel, { transport, fromAgent, toAgent }: LevelFilter): boolean =>
  pair.transport === (transport ?? pair.transport) &&
  pair.fromAgent === (fromAgent ?? pair.fromAgent) &&
  pair.toAgent === (toAgent ?? pair.toAgent)

async function readLevels(pool: Pool): Promise<Levels> {
  const [kept, { rows, byLabel: hours }] = await Promise.all([
    findKeptMetrics(pool),
    sumByAgeAndLabel(pool, LEVEL_AGES_SECONDS, {
      metric: LATENCY_METRIC,
      label: 'transport',
      agesSeconds: HOUR_AGES_SECONDS,
    }),
  ])
  const { now, since } = kept
  // The youngest age takes in the minute under way and whole minutes before it.
  const recentSeconds = RECENT_SECONDS - 60 + (now.getTime() % 60_000) / 1_000
  return { at: now, since, ...judgeServiceLevels({ rows, hours, recentSeconds }) }
}
