// Whether records can be old enough to have expired: by the times of signed seals, the only ones that whoever owns the database, and the key of
// the batches too, cannot write.
import { parseInstant, readSealEntry } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ColdStore } from './cold-store.ts'
import { createColdTier } from './cold-tier.ts'
import { inSnapshot } from '../database.ts'
import type { Database, Pool, Snapshot } from '../database.ts'
import type { CoveredSizes, NewestSeal } from '../read/assurance.ts'
import { proveRows } from '../read/prove-records.ts'
import { covers, findSealOver, readProvenSeal } from '../seals/proven-seal.ts'
import { readLastSeal, readSeal } from '../seals/seals.ts'

/** The records of a chain below `toIndex`, which are said to have expired. */
interface Expired {
  readonly origin: string
  readonly toIndex: number
}

/** The least that the AI Act allows, whatever is set. */
const LEAST_DAYS = 183
const DAY_MICROS = 86_400_000_000

/**
 * `unproven`: no signed seal says since when they were there. Age is counted from the first seal over all of them to the newest one: a record
 * is sealed within seconds, and nothing is appended where it is not.
 */
type RetentionAge =
  | { readonly kind: 'old' }
  | { readonly kind: 'young'; readonly sealedAt: string }
  | { readonly kind: 'unproven' }

export async function proveRetentionAge(
  snapshot: Snapshot,
  newest: NewestSeal,
  { origin, toIndex }: Expired,
): Promise<RetentionAge> {
  const sealed = { origin, records: toIndex }
  const seq = await findSealOver(snapshot, newest.size, sealed)
  const entry = seq === undefined ? undefined : await readProvenSeal(snapshot, newest, seq)
  if (entry === undefined || !covers(entry, sealed)) return { kind: 'unproven' }
  return ageBetween(entry.at, newest.at)
}

function ageBetween(sealedAt: string, now: string): RetentionAge {
  const micros = (parseInstant(now) ?? 0) - (parseInstant(sealedAt) ?? Infinity)
  return micros >= LEAST_DAYS * DAY_MICROS ? { kind: 'old' } : { kind: 'young', sealedAt }
}

interface ExpiringBundle extends Expired {
  readonly chain: number
  /** The last bundle of them, as the cold store has it: its owner could have changed it. */
  readonly bundle: readonly Uint8Array[]
}

/** The same for whoever is about to let records go, who has to know as well that these are the records. */
export async function isRetentionOver(
  pool: Pool,
  { covered, cold }: { readonly covered: CoveredSizes; readonly cold: ColdStore | undefined },
  { chain, origin, toIndex, bundle }: ExpiringBundle,
): Promise<boolean> {
  const { newestSeal } = covered
  if (newestSeal === undefined) return false
  const first = toIndex - bundle.length
  const rows = bundle.map((body, at) => ({ chain, seq: first + at, body: Buffer.from(body) }))
  return inSnapshot(pool, async (snapshot) => {
    const age = await proveRetentionAge(snapshot, newestSeal, { origin, toIndex })
    if (age.kind !== 'old') return false
    const tier = createColdTier(snapshot, cold)
    const proven = await proveRows(snapshot, rows, { covered, tier })
    return rows.every((row) => proven.proofOf(row) !== 'none')
  })
}

/** By the stored seals, which whoever verifies proves besides: a finding where records are said to have expired too early. */
export async function checkRetentionAge(
  db: Database,
  { origin, toIndex }: Expired,
): Promise<readonly Finding[]> {
  const last = await readLastSeal(db)
  const now = last && readSealEntry(last.body)?.at
  if (last === undefined || now === undefined) return []
  const sealed = { origin, records: toIndex }
  const seq = await findSealOver(db, last.seq + 1, sealed)
  const over = seq === undefined ? undefined : await readSeal(db, seq)
  const at = over && readSealEntry(over.body)?.at
  const age = at === undefined ? undefined : ageBetween(at, now)
  return age?.kind === 'young' ? [expiredEarly({ origin, toIndex }, age.sealedAt)] : []
}

export const expiredEarly = ({ origin, toIndex }: Expired, sealedAt: string): Finding => ({
  origin,
  seq: 0,
  rule: 'RECORD_SEQ',
  message: `records 0 to ${toIndex - 1} are said to have expired, and the last of them was sealed at ${sealedAt}, less than ${LEAST_DAYS} days before the newest seal`,
})
