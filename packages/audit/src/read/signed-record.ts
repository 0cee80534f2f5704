// Whether a stored record came through an append service: its batch is signed, and its bytes lead to what was signed.
import { fromBase64, recordHash, verifyBatch } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { Snapshot } from '../database.ts'
import { scanTiers } from '../verify/scan-chain.ts'
import { readBatchesOf } from './task-parts.ts'

interface RecordInChain {
  readonly chain: number
  readonly origin: string
  readonly seq: number
}

interface SignatureOptions {
  readonly tier: ColdTier
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
}

/** False where the batch has no key that is trusted, or where a record from here to its end is another or gone. */
export async function isSignedRecord(
  snapshot: Snapshot,
  record: RecordInChain,
  { tier, batchKeys }: SignatureOptions,
): Promise<boolean> {
  const { chain, origin, seq } = record
  const [batch] = await readBatchesOf(snapshot, [record])
  const key = batch && batchKeys.get(batch.keyId)
  const signature = batch && fromBase64(batch.signature)
  if (batch === undefined || key === undefined || signature === undefined) return false
  let next = seq
  let lastHash: string | undefined
  const range = { chain, fromSeq: seq, toSeq: batch.lastSeq + 1 }
  for await (const page of scanTiers(snapshot, tier, range)) {
    for (const { body, reading } of page) {
      const follows = lastHash === undefined || reading?.previousRecordHash === lastHash
      if (reading?.origin !== origin || reading.seq !== next || !follows) return false
      lastHash = recordHash(body).toString('hex')
      next += 1
    }
  }
  if (lastHash === undefined || next !== batch.lastSeq + 1) return false
  const { firstSeq, lastSeq } = batch
  return verifyBatch({ origin, firstSeq, lastSeq, lastHash }, signature, key)
}
