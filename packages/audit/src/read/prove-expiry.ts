// Whether the first records of a task have expired, as the database says: the record of it is under a signed head, and so was
// the last of them, in the part of its chain that expired, which was sealed long enough ago.
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { IndexedRecord } from '../cold/archive-positions.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { expiredEarly, proveRetentionAge } from '../cold/retention-age.ts'
import { readExpiryRecord, untoldExpiry } from '../cold/retention-records.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import type { CoveredSizes } from './assurance.ts'
import { proveLeaves, proveRows } from './prove-records.ts'

interface Expired {
  /** The last record of the task that is said to have expired; undefined where none is. */
  readonly last: IndexedRecord | undefined
  readonly heads: ReadonlyMap<number, ChainHead>
}

interface ProvenExpiry {
  readonly findings: readonly Finding[]
  /** False also where no seal covers the record of the expiry yet. */
  readonly isProven: boolean
}

/** Whoever owns the database can mark records as expired, or say of others that they stood among those. */
export async function proveExpiry(
  snapshot: Snapshot,
  { last, heads }: Expired,
  { covered, tier }: Reading,
): Promise<ProvenExpiry> {
  if (last === undefined) return { findings: [], isProven: true }
  const { chain } = last
  const origin = heads.get(chain)?.origin ?? ''
  const expiry = { chain, origin, toIndex: (await tier.position(chain)).minIndex }
  const told = await proveTold(snapshot, expiry, { covered, tier })
  if (told === undefined) return untold(expiry)
  const leaf = await proveLeaves(snapshot, [last], {
    covered,
    tier,
    hashOf: ({ recordHash }) => recordHash,
  })
  return {
    findings: [...told.findings, ...leaf.findings],
    isProven: told.isProven && leaf.proofOf(last) !== 'none',
  }
}

interface Reading {
  readonly covered: CoveredSizes | undefined
  readonly tier: ColdTier
}

interface Expiry {
  readonly chain: number
  readonly origin: string
  readonly toIndex: number
}

const untold = (expiry: Expiry): ProvenExpiry => ({
  findings: [untoldExpiry(expiry)],
  isProven: false,
})

/** Whether a record under a signed head tells that everything below `toIndex` expired, and all of that was old enough. Undefined where none does. */
async function proveTold(
  snapshot: Snapshot,
  expiry: Expiry,
  { covered, tier }: Reading,
): Promise<ProvenExpiry | undefined> {
  const told = await readExpiryRecord(snapshot, tier, expiry)
  if (told === undefined) return undefined
  const record = await proveRows(snapshot, [told], { covered, tier })
  const newest = covered?.newestSeal
  const age = newest && (await proveRetentionAge(snapshot, newest, expiry))
  const early = age?.kind === 'young' ? [expiredEarly(expiry, age.sealedAt)] : []
  return {
    findings: [...record.findings, ...early],
    isProven: record.proofOf(told) !== 'none' && age?.kind === 'old',
  }
}

/** The same for whoever is about to remove objects of what is marked as expired: anybody can write the mark who owns the database. */
export const proveMarkedExpiry = (
  pool: Pool,
  expiry: Expiry,
  { covered, cold }: { readonly covered: CoveredSizes; readonly cold: ColdStore | undefined },
): Promise<ProvenExpiry> =>
  inSnapshot(pool, async (snapshot) => {
    const tier = createColdTier(snapshot, cold)
    return (await proveTold(snapshot, expiry, { covered, tier })) ?? untold(expiry)
  })
