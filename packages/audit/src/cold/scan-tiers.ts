// One chain out of both tiers: what was dropped from the cold store, the rest from the database, in one order.
import { completeRecords, scanChain } from '../verify/scan-chain.ts'
import type { ScannedRecord, ScanRange } from '../verify/scan-chain.ts'
import type { Snapshot } from '../database.ts'
import type { ColdTier } from './cold-tier.ts'

/** As `scanChain`. What the cold store lacks is left out and told by `tier.takeFindings`. */
export async function* scanTiers(
  snapshot: Snapshot,
  tier: ColdTier,
  range: ScanRange,
): AsyncGenerator<readonly ScannedRecord[]> {
  const { chain, fromSeq, toSeq = Number.MAX_SAFE_INTEGER } = range
  const { hotFrom } = await tier.position(chain)
  for await (const records of tier.scan({ chain, fromSeq, toSeq })) {
    yield await completeRecords(snapshot, chain, records)
  }
  if (toSeq <= hotFrom) return
  yield* scanChain(snapshot, { ...range, fromSeq: Math.max(fromSeq, hotFrom) })
}
