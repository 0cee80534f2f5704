// Daily partitions exist ahead of time; without one for today nothing could be appended.
import { run } from '../database.ts'
import type { Database } from '../database.ts'

/** Makes the partitions from yesterday to seven days ahead; answers how many were missing. */
export async function extendPartitions(db: Database): Promise<number> {
  const rows = await run<{ made: number }>(
    db,
    'extend_partitions',
    'select audit.extend_partitions() as made',
  )
  return rows[0]?.made ?? 0
}
