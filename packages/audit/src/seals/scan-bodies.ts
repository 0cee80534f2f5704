// The bodies of a chain's records alone, out of both tiers: for whoever hashes them and compares with what was signed.
import { copyOut } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { Snapshot } from '../database.ts'

interface BodyRange {
  readonly chain: number
  readonly from: number
  readonly to: number
}

const PAGE_RECORDS = 2_000

/** The bodies of a range in order of seq, out of both tiers. One that is missing ends it: the tree will say so. */
export async function* scanBodies(
  snapshot: Snapshot,
  tier: ColdTier,
  { chain, from, to }: BodyRange,
): AsyncGenerator<readonly Uint8Array[]> {
  const { hotFrom } = await tier.position(chain)
  for await (const records of tier.scan({ chain, fromSeq: from, toSeq: to })) {
    yield records.map(({ body }) => body)
  }
  for (let next = Math.max(from, hotFrom); next < to;) {
    const page = await copyOut(
      snapshot.client,
      `select body from audit.record where chain = ${chain} and seq >= ${next} and seq < ${to}
       order by seq, recorded_at limit ${PAGE_RECORDS}`,
      (fields) => fields.bytes(0),
    )
    if (page.length === 0) return
    yield page
    next += page.length
  }
}
