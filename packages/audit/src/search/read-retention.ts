// What is kept where and until when, and what is held by whom: holds as their records say, not as a table does.
import { formatInstant } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { readHeldFrom, readLegalHolds } from '../cold/archive-positions.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import type { Reading } from './open-walks.ts'
import { searchLog } from './search-log.ts'
import type { SearchHit } from './search-log.ts'
import { timeAt } from './walk-chain.ts'

interface RetentionOptions {
  readonly hotDays: number
  readonly retentionDays: number
  readonly covered?: CoveredSizes | undefined
  readonly cold?: ColdStore | undefined
}

/** One chain. Times are like 2026-11-20T10:00:00.123004Z, null where there is no such record. */
export interface KeptChain {
  readonly origin: string
  readonly kept: number
  /** When the oldest record was made that is kept at all. */
  readonly keptSince: string | null
  /** The same in the database; older ones stand in the cold store alone. */
  readonly inDatabaseSince: string | null
  /** When its oldest day may leave the database. */
  readonly leavesDatabaseFrom: string | null
  /** When its oldest records may expire. */
  readonly expiresFrom: string | null
  /** The first record that a hold keeps, and with it all later ones; null where none does. */
  readonly heldFrom: number | null
}

export interface Held {
  readonly taskId: string
  /** The record that holds it; undefined where only the table says so. */
  readonly hold: SearchHit | undefined
  /** False where the table of holds does not have it any more. */
  readonly isListed: boolean
}

export interface Retention {
  readonly chains: readonly KeptChain[]
  /** Oldest hold first. */
  readonly holds: readonly Held[]
}

const DAY_MICROS = 86_400_000_000
const HOLDS_MAX = 500

export async function readRetention(pool: Pool, options: RetentionOptions): Promise<Retention> {
  const chains = await inSnapshot(pool, async (snapshot) => {
    const tier = createColdTier(snapshot, options.cold)
    const heads = await readHeads(snapshot)
    const reading = { snapshot, tier, heads }
    const kept: KeptChain[] = []
    for (const head of heads) kept.push(await describeChain(reading, head, options))
    return kept
  })
  return { chains, holds: await findHolds(pool, options) }
}

async function describeChain(
  { snapshot, tier }: Reading,
  { chain, origin, size }: ChainHead,
  { hotDays, retentionDays }: RetentionOptions,
): Promise<KeptChain> {
  const { minIndex, hotFrom } = await tier.position(chain)
  const oldest = await timeAt({ snapshot, tier }, { chain, seq: minIndex })
  const hot = await timeAt({ snapshot, tier }, { chain, seq: hotFrom })
  return {
    origin,
    kept: size - minIndex,
    keptSince: instantOf(oldest),
    inDatabaseSince: instantOf(hot),
    leavesDatabaseFrom: instantOf(hot === undefined ? undefined : dayAfter(hot, hotDays)),
    expiresFrom: instantOf(oldest === undefined ? undefined : oldest + retentionDays * DAY_MICROS),
    heldFrom: await readHeldFrom(snapshot, { chain, fromSeq: minIndex }),
  }
}

const instantOf = (micros: number | undefined): string | null =>
  micros === undefined ? null : formatInstant(micros)

/** A day leaves as a whole, once so many days have passed after it. */
const dayAfter = (micros: number, days: number): number =>
  (Math.floor(micros / DAY_MICROS) + days + 1) * DAY_MICROS

/** The newest act decides. What the table lists and no record says is shown as well. */
async function findHolds(
  pool: Pool,
  { covered, cold }: RetentionOptions,
): Promise<readonly Held[]> {
  const asked = { limit: HOLDS_MAX, covered, cold }
  const listed = (await readLegalHolds(pool)).map(({ taskId }) => taskId)
  const { hits } = await searchLog(pool, { ...asked, criteria: { events: ACTS } })
  const newest = new Map<string, SearchHit>()
  for (const hit of hits.toReversed()) newest.set(hit.body.taskId, hit)
  for (const taskId of listed) {
    if (newest.has(taskId)) continue
    const [own] = (
      await searchLog(pool, { ...asked, limit: 1, criteria: { taskId, events: ACTS } })
    ).hits
    if (own !== undefined) newest.set(taskId, own)
  }
  return [...new Set([...newest.keys(), ...listed])]
    .map((taskId) => ({ taskId, hold: newest.get(taskId), isListed: listed.includes(taskId) }))
    .filter(({ hold, isListed }) => isListed || hold?.body.event === 'LEGAL_HOLD_SET')
    .toSorted((left, right) => (sinceOf(left) < sinceOf(right) ? -1 : 1))
}

const ACTS = ['LEGAL_HOLD_SET', 'LEGAL_HOLD_LIFTED'] as const
const sinceOf = ({ hold }: Held): string => hold?.body.recordedAt ?? ''
