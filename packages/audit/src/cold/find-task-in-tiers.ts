// Which task a record belongs to, wherever the record stands, and whether that task is still whole.
import type { Database } from '../database.ts'
import { findTaskAt } from '../read/records.ts'
import { findIndexedTask, readTaskIndex } from './archive-positions.ts'
import type { ColdStore } from './cold-store.ts'
import { ColdTier } from './cold-tier.ts'
import { bundleOf } from './object-names.ts'

interface Place {
  readonly chain: number
  readonly seq: number
}

/**
 * The task of a record. One that the cold store should have and has not is looked up in the index, so
 * that the task can be named: its trace says what is missing. Undefined where the log knows no such record.
 */
export async function findTaskInTiers(
  db: Database,
  cold: ColdStore | undefined,
  place: Place,
): Promise<string | undefined> {
  const tier = new ColdTier(db, cold)
  const { hotFrom } = await tier.position(place.chain)
  if (place.seq >= hotFrom) return findTaskAt(db, place)
  const records = await tier.bundle(place.chain, bundleOf(place.seq))
  const record = records.find(({ seq }) => seq === place.seq)
  return record?.reading?.taskId ?? findIndexedTask(db, place)
}

/** Whether records of a task have expired: then its links begin in the middle. */
export async function hasExpired(db: Database, taskId: string): Promise<boolean> {
  const tier = new ColdTier(db, undefined)
  if (!(await tier.isUsed())) return false
  for (const { chain, seq } of await readTaskIndex(db, taskId)) {
    if (seq < (await tier.position(chain)).minIndex) return true
  }
  return false
}
