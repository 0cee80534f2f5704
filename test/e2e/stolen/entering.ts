// Every stolen role at the door of a database.
import type { Pool } from '@baton/store'
import { connected, databaseOf, onDatabase } from './loot.ts'
import type { Loot } from './loot.ts'
import { statement } from './outcome.ts'
import type { WayOutcome } from './outcome.ts'
import type { Scene } from './scene.ts'

/** Works in the database as each role that gets in; who does not is refused by Postgres. */
export async function entering(
  { databases }: Loot,
  database: string,
  work: (pool: Pool, url: string) => Promise<readonly WayOutcome[]>,
): Promise<readonly WayOutcome[]> {
  const outcomes: WayOutcome[] = []
  for (const url of databases.filter((one) => databaseOf(one) === database))
    outcomes.push(
      ...(await connected(url, async (pool) => {
        const entered = await statement(() => pool.query({ text: 'select 1' }))
        return entered !== undefined && 'refusedBy' in entered ? [entered] : work(pool, url)
      })),
    )
  return outcomes
}

/** What every server of Postgres has, and nothing of Baton is in. */
const BESIDE = ['postgres', 'template1']

export const enterBeside = (_: Scene, { databases }: Loot): Promise<readonly WayOutcome[]> =>
  Promise.all(
    [...new Set(databases.flatMap((url) => BESIDE.map((name) => onDatabase(url, name))))].map(
      (url) => connected(url, (pool) => statement(() => pool.query({ text: 'select 1' }))),
    ),
  )
