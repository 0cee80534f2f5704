// When records of a chain were made, in either tier, and where in it a time begins.
import { parseInstant, readRecord } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import type { Snapshot } from '../database.ts'

export interface Tiers {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
}

/** The first record of a chain that is not older than `untilMicros`: times rise along a chain. */
export async function findEnd(
  { snapshot, tier }: Tiers,
  { chain, size }: { readonly chain: number; readonly size: number },
  untilMicros: number,
): Promise<number> {
  let [low, high] = [(await tier.position(chain)).minIndex, size]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const at = await timeAt({ snapshot, tier }, { chain, seq: middle })
    if (at !== undefined && at < untilMicros) low = middle + 1
    else high = middle
  }
  return low
}

/** When the record was made (microseconds since 1970); of the next one where it is gone from the database. */
export const timeAt = async (
  reading: Tiers,
  place: { readonly chain: number; readonly seq: number },
): Promise<number | undefined> => timeOf(await storedAt(reading, place))

export const timeOf = (record: { readonly body: Uint8Array } | undefined): number | undefined => {
  const recordedAt = record && readRecord(record.body)?.recordedAt
  return recordedAt === undefined ? undefined : parseInstant(recordedAt)
}

/** The bytes of a record; of the next one where it is gone. */
export async function storedAt(
  { snapshot: { client }, tier }: Tiers,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<{ readonly seq: number; readonly body: Uint8Array } | undefined> {
  if (seq < (await tier.position(chain)).hotFrom) {
    const records = await tier.bundle(chain, bundleOf(seq))
    return records.find((record) => record.seq >= seq)
  }
  const [found] = await copyOut(
    client,
    `select seq, body from audit.record where chain = ${chain} and seq >= ${seq} order by seq limit 1`,
    (fields) => ({ seq: fields.int8(0), body: fields.bytes(1) }),
  )
  return found
}
