// Whether the log itself says that records have expired: what is merely marked so in the database was removed by somebody.
import { readRecord, recordIdBytes, sealLogOrigin } from '@baton/ledger'
import type { Finding, RecordBody } from '@baton/ledger'
import type { Database } from '../database.ts'
import { findRecordedKeys } from '../append/idempotency.ts'
import { readRecordAt } from '../read/records.ts'
import { expiryEntry } from './upkeep-records.ts'
import type { Expiry } from './upkeep-records.ts'
import { bundleOf } from './object-names.ts'
import type { ColdTier } from './cold-tier.ts'

/** Where the record of an expiry stands; undefined where it was never recorded. */
export async function findExpiryRecord(
  db: Database,
  origin: string,
  expiry: Expiry,
): Promise<{ readonly chain: number; readonly seq: number } | undefined> {
  const key = recordIdBytes(expiryEntry(sealLogOrigin(origin), expiry))
  return (await findRecordedKeys(db, [key]))[0]
}

/** A finding where a chain begins late and no record tells why. That the record is genuine, its own chain proves. */
export async function checkExpiryRecord(
  db: Database,
  tier: ColdTier,
  { origin, ...expiry }: Expiry & { readonly origin: string },
): Promise<readonly Finding[]> {
  const place = await findExpiryRecord(db, origin, expiry)
  const body = place && (await readBody(db, tier, place))
  const entry = expiryEntry(sealLogOrigin(origin), expiry)
  const { handoffId, event, reason } = entry
  if (body?.handoffId === handoffId && body.event === event && body.reason === reason) return []
  const message = `records 0 to ${expiry.toIndex - 1} are marked as expired, and no record says so`
  return [{ origin, seq: 0, rule: 'RECORD_SEQ', message }]
}

async function readBody(
  db: Database,
  tier: ColdTier,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<RecordBody | undefined> {
  if (seq >= (await tier.position(chain)).hotFrom) {
    const body = await readRecordAt(db, { chain, seq })
    return body && readRecord(body)
  }
  const records = await tier.bundle(chain, bundleOf(seq))
  return records.find((record) => record.seq === seq)?.reading
}
