// The records of erasures that have left the database, each with the batch that an append service signed.
import { one } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { findErasuresOf } from '../erasure/erased-segments.ts'
import { readTaskIndex } from './archive-positions.ts'
import type { ColdRecord, ColdTier } from './cold-tier.ts'
import { bundleOf } from './objects.ts'

/** One record of the run from an erasure record to the end of its batch. */
export interface RecordInBatch {
  readonly chain: number
  readonly origin: string
  readonly erasureSeq: number
  readonly body: Uint8Array
  readonly firstSeq: number
  readonly lastSeq: number
  readonly keyId: string
  readonly signature: Buffer
}

const EVENTS: ReadonlySet<string> = new Set(['ERASURE_REQUESTED', 'ERASURE_COMPLETED'])

/** Each erasure record of these subjects that stands in the cold store alone, with those behind it in its batch. */
export async function readColdErasureRecords(
  db: Database,
  tier: ColdTier,
  subjectRefs: readonly string[],
): Promise<readonly RecordInBatch[]> {
  if (!(await tier.isUsed())) return []
  const erasures = await findErasuresOf(db, subjectRefs)
  const found: RecordInBatch[] = []
  for (const id of erasures) {
    for (const { chain, seq } of await readTaskIndex(db, id)) {
      const { hotFrom } = await tier.position(chain)
      if (seq < hotFrom) found.push(...(await runOf(db, tier, { chain, seq })))
    }
  }
  return found
}

async function runOf(
  db: Database,
  tier: ColdTier,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<readonly RecordInBatch[]> {
  const batches = await run(
    db,
    'find_batch_of_record',
    audit
      .selectFrom('audit.batch_sig')
      .select(['first_seq as firstSeq', 'last_seq as lastSeq', 'key_id as keyId', 'signature'])
      .where('chain', '=', chain)
      .where('last_seq', '>=', seq)
      .orderBy('last_seq')
      .limit(one),
  )
  const [batch] = batches
  const origin = (await tier.log(chain))?.origin
  if (batch === undefined || origin === undefined) return []
  const records: ColdRecord[] = []
  for (let index = bundleOf(seq); index <= bundleOf(batch.lastSeq); index += 1) {
    records.push(...(await tier.bundle(chain, index)))
  }
  const wanted = records.filter((one) => one.seq >= seq && one.seq <= batch.lastSeq)
  const isErasure = EVENTS.has(wanted[0]?.reading?.event ?? '')
  return isErasure
    ? wanted.map(({ body }) => ({ chain, origin, erasureSeq: seq, body, ...batch }))
    : []
}
