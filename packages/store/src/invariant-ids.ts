// How a rule answers: the ids of what breaks it, in one statement, at most 100.
import { run } from './database.ts'
import type { Database } from './database.ts'

const IDS_MAX = 100

/** `text` selects one column `id`. */
export async function ids(db: Database, name: string, text: string): Promise<readonly string[]> {
  const rows = await run<{ id: string }>(db, name, `${text} limit ${IDS_MAX}`)
  return rows.map((row) => row.id)
}
