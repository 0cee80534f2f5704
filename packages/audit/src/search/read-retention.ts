// What is kept where and until when, chain by chain.
import { formatInstant } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { readHeldFrom } from '../cold/archive-positions.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import { timeAt } from './record-times.ts'
import type { Tiers } from './record-times.ts'

interface RetentionOptions {
  readonly hotDays: number
  readonly retentionDays: number
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

const DAY_MICROS = 86_400_000_000

/** Every chain of the log. */
export function readRetention(
  pool: Pool,
  options: RetentionOptions,
): Promise<readonly KeptChain[]> {
  return inSnapshot(pool, async (snapshot) => {
    const tier = createColdTier(snapshot, options.cold)
    const heads = await readHeads(snapshot)
    const kept: KeptChain[] = []
    for (const head of heads) kept.push(await describeChain({ snapshot, tier }, head, options))
    return kept
  })
}

async function describeChain(
  { snapshot, tier }: Tiers,
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
