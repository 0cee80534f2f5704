// The reading statement on audit.batch_sig: who signed which run of a chain.
import type { StoredBatch } from '@baton/ledger'
import { run } from './database.ts'
import type { Database } from './database.ts'

export interface SeqRange {
  readonly chain: number
  readonly firstSeq: number
  readonly lastSeq: number
}

/** The batches of a chain whose last record lies in the range. */
export function readBatches(db: Database, range: SeqRange): Promise<StoredBatch[]> {
  return run<StoredBatch>(
    db,
    'read_batches',
    `select first_seq as "firstSeq", last_seq as "lastSeq", last_hash as "lastHash",
       key_id as "keyId", signature
     from audit.batch_sig where chain = $1 and last_seq between $2 and $3`,
    [range.chain, range.firstSeq, range.lastSeq],
  )
}
