// POST /v1/receipts/check: says of receipts that others hold whether the log still has their records.
import { findReceiptRecords } from '@baton/audit'
import type { CoveredSizes, Pool } from '@baton/audit'
import { recordIdBytes } from '@baton/ledger'
import { ProblemError } from '@baton/http/server'
import { COUNT, HASH, record, UUID } from './schemas.ts'

interface HeldReceipt {
  readonly handoffId: string
  readonly epoch: number
  readonly hash: string
}

/** `waiting`: recorded, and unsealed for longer than allowed. `recorded`: not sealed yet, or nobody seals. */
type ReceiptState = 'sealed' | 'recorded' | 'waiting' | 'different' | 'missing'

interface CheckDependencies {
  readonly reader: Pool
  /** What seals cover; undefined where nobody seals. */
  readonly covered: () => CoveredSizes | undefined
  readonly unsealedMaxMs: number
}

const RECEIPTS_MAX = 1_000

export interface CheckBody {
  readonly receipts: readonly HeldReceipt[]
}

export const CHECK_BODY = record({
  receipts: {
    type: 'array',
    minItems: 1,
    maxItems: RECEIPTS_MAX,
    items: record({
      handoffId: UUID,
      epoch: { ...COUNT, minimum: Number.MIN_SAFE_INTEGER },
      hash: HASH,
    }),
  },
})

/** The problem of a body that is no such list. */
export const NO_RECEIPTS = new ProblemError({
  status: 400,
  code: 'BATON_RECEIPTS_INVALID',
  detail: 'the body is not a list of receipts',
  fix: `Give {"receipts": [{"handoffId", "epoch", "hash"}, …]} with 1 to ${RECEIPTS_MAX} of them.`,
  pointer: '/receipts',
})

/** Answer i is about receipt i. */
export async function checkReceipts(
  { reader, covered, unsealedMaxMs }: CheckDependencies,
  { receipts }: CheckBody,
): Promise<readonly ReceiptState[]> {
  const keys = receipts.map((receipt) => recordIdBytes({ ...receipt, event: 'HANDOFF_ACCEPTED' }))
  const records = await findReceiptRecords(reader, keys)
  const sizes = covered()
  const overdueMicros = (Date.now() - unsealedMaxMs) * 1_000
  return receipts.map(({ hash }, at) => {
    const record = records.get((keys[at] as Buffer).toString('hex'))
    if (record === undefined) return 'missing'
    if (record.recordHash !== hash) return 'different'
    if (sizes === undefined) return 'recorded'
    if (record.seq < (sizes.sealed.get(record.chain)?.size ?? 0)) return 'sealed'
    return record.recordedAtMicros < overdueMicros ? 'waiting' : 'recorded'
  })
}
