// Which settings and migrations the audit log has been told of: each is told once.
import { columns, text } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'

const SETTINGS = `
insert into recorded_settings as r (process, sha256) values ($1, $2)
on conflict (process) do update set sha256 = excluded.sha256, recorded_at = clock_timestamp()
where r.sha256 <> excluded.sha256 returning process`

/** Answers whether these are others than those that the processes of this kind were told of last. */
export async function changeSettings(
  db: Database,
  { process, sha256 }: { readonly process: string; readonly sha256: Buffer },
): Promise<boolean> {
  return (await run(db, 'change_settings', SETTINGS, [process, sha256])).length > 0
}

const NAMES = columns({ name: text })

/** Those of `names` that were not told of before; only the role that migrates may. */
export async function addRecordedMigrations(
  db: Database,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const written = `insert into recorded_migration (name) select * from ${NAMES.unnest('i')}
    on conflict do nothing returning name`
  const values = NAMES.values(names.map((name) => ({ name })))
  const rows = await run<{ name: string }>(db, 'add_recorded_migrations', written, values)
  return new Set(rows.map(({ name }) => name))
}
