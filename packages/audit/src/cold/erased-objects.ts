// What the cold store holds of people who are erased: segments that stand nowhere else, and the objects they are in.
import { TILE_WIDTH, uuidBytes } from '@baton/ledger'
import { BINARY } from '@baton/postgres'
import { anyOf } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import type { SegmentAt } from '../erasure/erased-segments.ts'
import type { ErasedStore } from '../erasure/reach.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import type { ColdStore } from './cold-store.ts'
import { createColdTier } from './cold-tier.ts'
import { bundleOf, payloadName } from './objects.ts'

/** What of people is kept where the hot store is not: segments, and objects that hold them encrypted. */
export interface ColdSegments {
  readonly segments: readonly SegmentAt[]
  readonly stores: readonly ErasedStore[]
}

interface Options {
  /** Connected as audit_reader. */
  readonly db: Database
  readonly store: ColdStore
  readonly vault: Pick<SubjectVault, 'keysOf'>
}

/**
 * Reads the payload objects of these tasks again and answers what of the subjects is in them. Objects may be
 * locked, so they stay: `after` counts the segments that a key can still open.
 */
export async function readErasedObjects(
  { db, store, vault }: Options,
  subjectRefs: readonly string[],
  taskIds: readonly string[],
): Promise<ColdSegments> {
  const tier = createColdTier(db, store)
  const wanted = new Set(subjectRefs)
  const keys = await vault.keysOf(wanted)
  const segments: ColdSegments['segments'][number][] = []
  const stores: ColdSegments['stores'][number][] = []
  for (const { chain, index } of await findBundles(db, taskIds)) {
    const { tail, hotFrom } = await tier.position(chain)
    const log = await tier.log(chain)
    const width = Math.min(TILE_WIDTH, tail - index * TILE_WIDTH)
    if (log === undefined || width <= 0) continue
    const found = await log.segments(index, width)
    const rows = found.kind === 'found' ? found.content : []
    const theirs = rows.filter((row) => wanted.has(row.subjectRef))
    if (theirs.length === 0) continue
    const here = theirs.map(({ seq, segment, subjectRef }) => ({ chain, seq, segment, subjectRef }))
    segments.push(...here.filter(({ seq }) => seq < hotFrom))
    stores.push({
      name: `cold object ${payloadName(log.origin, { index, width })}`,
      before: theirs.length,
      after: theirs.filter(({ subjectRef }) => keys.has(subjectRef)).length,
      note: 'holds ciphertext without a key',
    })
  }
  return { segments, stores }
}

interface Bundle {
  readonly chain: number
  readonly index: number
}

/** The bundles in which records of these tasks stand, wherever the records are now. */
async function findBundles(db: Database, taskIds: readonly string[]): Promise<Bundle[]> {
  const rows = await run(
    db,
    'find_task_places',
    audit
      .selectFrom('audit.idem')
      .select(['chain', 'seq'])
      .where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes)))
      .orderBy('chain')
      .orderBy('seq'),
  )
  const bundles = rows.map(({ chain, seq }) => ({ chain, index: bundleOf(seq) }))
  return [...new Map(bundles.map((one) => [`${one.chain}/${one.index}`, one])).values()]
}
