// POST /v1/receipts/check: says of receipts that others hold whether the log still has their records.
import { findReceiptRecords } from '@baton/audit'
import type { CoveredSizes, Pool } from '@baton/audit'
import { recordIdBytes } from '@baton/ledger'
import { ProblemError } from './problem.ts'

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
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const HASH = /^[0-9a-f]{64}$/

/** Answer i is about receipt i. Throws a 400 problem for anything but 1 to 1,000 receipts. */
export async function checkReceipts(
  { reader, covered, unsealedMaxMs }: CheckDependencies,
  body: unknown,
): Promise<readonly ReceiptState[]> {
  const receipts = readReceipts(body)
  const keys = receipts.map((receipt) => recordIdBytes({ ...receipt, event: 'HANDOFF_ACCEPTED' }))
  const records = await findReceiptRecords(reader, keys)
  const sizes = covered()
  const overdueMicros = (Date.now() - unsealedMaxMs) * 1_000
  return receipts.map(({ hash }, at) => {
    const record = records.get((keys[at] as Buffer).toString('hex'))
    if (record === undefined) return 'missing'
    if (record.recordHash !== hash) return 'different'
    if (sizes === undefined) return 'recorded'
    if (record.seq < (sizes.sealed.get(record.chain) ?? 0)) return 'sealed'
    return record.recordedAtMicros < overdueMicros ? 'waiting' : 'recorded'
  })
}

function readReceipts(body: unknown): readonly HeldReceipt[] {
  const receipts: unknown = (body as { receipts?: unknown } | null)?.receipts
  const isList = Array.isArray(receipts) && receipts.length > 0 && receipts.length <= RECEIPTS_MAX
  if (isList && receipts.every(isReceipt)) return receipts
  throw new ProblemError({
    status: 400,
    code: 'BATON_RECEIPTS_INVALID',
    detail: 'the body is not a list of receipts',
    fix: `Give {"receipts": [{"handoffId", "epoch", "hash"}, …]} with 1 to ${RECEIPTS_MAX} of them.`,
    pointer: '/receipts',
  })
}

function isReceipt(value: unknown): value is HeldReceipt {
  const { handoffId, epoch, hash } = (value ?? {}) as Record<string, unknown>
  const isNamed = typeof handoffId === 'string' && UUID.test(handoffId)
  return isNamed && Number.isSafeInteger(epoch) && typeof hash === 'string' && HASH.test(hash)
}
