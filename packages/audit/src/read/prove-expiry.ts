// Whether the first records of a task have expired, as the database says: the record of it is under a signed head, and so was
// the last of them, in the part of its chain that expired, which was sealed long enough ago.
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { IndexedRecord } from '../cold/archive-positions.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { expiredEarly, proveRetentionAge } from '../cold/retention-age.ts'
import { readExpiryRecord, untoldExpiry } from '../cold/retention-records.ts'
import type { Snapshot } from '../database.ts'
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
  { covered, tier }: { readonly covered: CoveredSizes | undefined; readonly tier: ColdTier },
): Promise<ProvenExpiry> {
  if (last === undefined) return { findings: [], isProven: true }
  const { chain } = last
  const origin = heads.get(chain)?.origin ?? ''
  const expiry = { chain, origin, toIndex: (await tier.position(chain)).minIndex }
  const told = await readExpiryRecord(snapshot, tier, expiry)
  if (told === undefined) return { findings: [untoldExpiry(expiry)], isProven: false }
  const record = await proveRows(snapshot, [told], { covered, tier })
  const leaf = await proveLeaves(snapshot, [last], {
    covered,
    tier,
    hashOf: ({ recordHash }) => recordHash,
  })
  const newest = covered?.newestSeal
  const age = newest && (await proveRetentionAge(snapshot, newest, expiry))
  const early = age?.kind === 'young' ? [expiredEarly(expiry, age.sealedAt)] : []
  const isTold = record.proofOf(told) !== 'none' && leaf.proofOf(last) !== 'none'
  const findings = [...record.findings, ...leaf.findings, ...early]
  return { findings, isProven: isTold && age?.kind === 'old' }
}
