// How long ago a drill passed: the record of it stands in the log, and this alone is known without reading the log.
import { run } from '../database.ts'
import type { Database } from '../database.ts'

const AGE = `select extract(epoch from now() - passed_at)::float8 as seconds from audit.last_drill`

/** By the database's clock; where none has passed yet, since one began to be due. */
export async function readDrillAge(db: Database): Promise<number> {
  const [row] = await run<{ seconds: number }>(db, 'read_drill_age', AGE)
  return Math.max(0, row?.seconds ?? 0)
}

/** As audit_writer. */
export const storePassedDrill = async (db: Database): Promise<void> => {
  await run(db, 'store_passed_drill', 'select audit.store_passed_drill()')
}
