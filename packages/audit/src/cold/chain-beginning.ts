// Where a chain begins once its first records have expired: the tree before them is known from hash tiles alone.
import {
  compactRangeFromNodes,
  createCompactRange,
  equalBytes,
  LedgerError,
  nodesOfRange,
  TILE_WIDTH,
} from '@baton/ledger'
import type { ChainStart, CompactRange, Finding } from '@baton/ledger'
import { one } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { bundleOf } from './objects.ts'
import type { ColdTier } from './cold-tier.ts'
import { checkExpiryRecord } from './retention-records.ts'

export interface ChainBeginning {
  /** Undefined for a chain that is whole. */
  readonly start: ChainStart | undefined
  /** Where the batch begins that holds the first record. */
  readonly signedFrom: number
  /** The tree before the first record; undefined where the store cannot tell it. */
  readonly tree: CompactRange | undefined
  readonly findings: readonly Finding[]
}

const WHOLE = { start: undefined, signedFrom: 0, findings: [] }

/** The root that the next seal must have proves whatever this takes from the cold store. */
export async function beginningOf(
  db: Database,
  tier: ColdTier,
  { chain, origin }: { readonly chain: number; readonly origin: string },
): Promise<ChainBeginning> {
  const { minIndex, startHash, startMicros } = await tier.position(chain)
  if (minIndex === 0) return { ...WHOLE, tree: createCompactRange() }
  const start: ChainStart = { size: minIndex, lastHash: startHash, lastMicros: startMicros }
  const signedFrom = await findBatchStart(db, { chain, seq: minIndex })
  const untold = await checkExpiryRecord(db, tier, { chain, origin, toIndex: minIndex })
  const report = (message: string, rule: Finding['rule']) => ({
    start,
    signedFrom,
    findings: [...untold, { origin, seq: minIndex - 1, rule, message }],
  })
  const log = await tier.log(chain)
  if (log === undefined) {
    const message = 'the tree of expired records stands in a cold store, and none is named'
    return { ...report(message, 'TILE_MISSING'), tree: undefined }
  }
  try {
    const tree = compactRangeFromNodes(
      minIndex,
      await log.nodes(minIndex)(nodesOfRange(0, minIndex)),
    )
    const index = bundleOf(minIndex - 1)
    const last = (await log.hashes({ level: 0, index, width: TILE_WIDTH }))[TILE_WIDTH - 1]
    if (last !== undefined && equalBytes(last, startHash)) {
      return { start, signedFrom, tree, findings: untold }
    }
    return { ...report('the last expired record has another hash', 'TILE_HASH'), tree }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return { ...report(error.message, 'TILE_MISSING'), tree: undefined }
  }
}

async function findBatchStart(
  db: Database,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<number> {
  const rows = await run(
    db,
    'find_batch_start',
    audit
      .selectFrom('audit.batch_sig')
      .select('first_seq as first')
      .where('chain', '=', chain)
      .where('last_seq', '>=', seq)
      .orderBy('last_seq')
      .limit(one),
  )
  return Math.min(seq, rows[0]?.first ?? seq)
}
