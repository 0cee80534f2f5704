// What the services of the log vouch for themselves: signatures of batches, and receipts.
import { batchStatementBytes } from '../../batch-statement.ts'
import { fromBase64 } from '../../bytes.ts'
import { verifyEd25519 } from '../../ed25519.ts'
import type { Check } from '../checks.ts'
import { FILES } from '../format.ts'
import type { BundleBatch } from '../format.ts'
import type { ListedLeaves } from '../leaves.ts'
import type { CheckLog } from '../report.ts'
import { placeOf } from './records.ts'

export const checkBatchSignature: Check = ({ evidence, log }) => {
  const { batches, policy } = evidence
  if (batches === undefined) {
    log.fail({ file: FILES.batches }, 'it is missing or cannot be read')
    return {}
  }
  if (policy.batchKeys.size === 0) {
    log.skip('your policy names no append service')
    return {}
  }
  const trees = new Map(
    (evidence.chains ?? []).map(({ origin, size }) => {
      return [origin, { size, listed: evidence.leaves.get(origin) }] as const
    }),
  )
  const byOrigin = new Map<string, BundleBatch[]>()
  for (const batch of batches) {
    checkBatch(batch, { tree: trees.get(batch.origin), keys: policy.batchKeys, log })
    const others = byOrigin.get(batch.origin)
    if (others === undefined) byOrigin.set(batch.origin, [batch])
    else others.push(batch)
  }
  const cursors = new Map<string, number>()
  return {
    record(record) {
      if (record.body === undefined) return
      const { origin, seq, keyIds } = record.body
      const all = byOrigin.get(origin) ?? []
      const start = record.file === FILES.records ? (cursors.get(origin) ?? 0) : 0
      let at = start
      while (at < all.length && (all[at] as BundleBatch).lastSeq < seq) at += 1
      if (at !== start) cursors.set(origin, at)
      const batch = all[at]
      if (batch === undefined || batch.firstSeq > seq) {
        log.fail(placeOf(record), 'the record is in no signed batch')
      } else if (keyIds.batch !== batch.keyId) {
        log.fail(placeOf(record), 'the record names another key than its batch')
      }
    },
  }
}

interface BatchContext {
  readonly tree: { readonly size: number; readonly listed: ListedLeaves | undefined } | undefined
  readonly keys: ReadonlyMap<string, Uint8Array>
  readonly log: CheckLog
}

function checkBatch(batch: BundleBatch, { tree, keys, log }: BatchContext): void {
  const { origin, lastSeq, lastHash, keyId } = batch
  const place = { file: FILES.batches, origin, seq: lastSeq }
  const listed = tree?.listed?.hashOf(lastSeq)
  if (tree !== undefined && lastSeq >= tree.size) {
    log.lack(place, 'the batch ends after the seal, so its end is not proven')
  } else if (tree !== undefined && listed !== lastHash) {
    log.fail(place, 'the batch does not end in the record that the tree has there')
  }
  const key = keys.get(keyId)
  const signature = fromBase64(batch.signature) ?? new Uint8Array(0)
  if (key === undefined) log.fail(place, 'no append service of your policy has this key')
  else if (!verifyEd25519(key, batchStatementBytes(batch), signature)) {
    log.fail(place, 'the signature of the batch is wrong')
  }
}

export const checkReceipt: Check = ({ evidence: { receipts }, log }) => {
  if (receipts === undefined) {
    log.fail({ file: FILES.receipts }, 'it is missing or cannot be read')
    return {}
  }
  const open = new Map(receipts.map((receipt) => [`${receipt.origin} ${receipt.seq}`, receipt]))
  const isDouble = open.size !== receipts.length
  if (isDouble) log.fail({ file: FILES.receipts }, 'a record has two receipts')
  if (receipts.length === 0) {
    log.skip('the bundle holds no receipt')
    return {}
  }
  return {
    record(record) {
      if (record.body === undefined) return
      const { origin, seq, recordedAt } = record.body
      const receipt = open.get(`${origin} ${seq}`)
      open.delete(`${origin} ${seq}`)
      if (receipt === undefined) return
      if (receipt.recordHash === record.hashHex && receipt.recordedAt === recordedAt) return
      log.fail(placeOf(record), 'the receipt is for another record')
    },
    end() {
      for (const { origin, seq } of open.values()) {
        log.fail({ file: FILES.receipts, origin, seq }, 'the record of a receipt is missing')
      }
    },
  }
}
