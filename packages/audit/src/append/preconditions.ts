// What must be so before anything is acknowledged: a database that loses nothing, and partitions to append to.
import { refuseUnfinishedRestore, UNFINISHED_RESTORE } from '@baton/postgres'
import { permanent } from '@baton/runtime'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { WRITING_ROLES } from '../roles.ts'

const UNSAFE = `
select name || ' is off' as what from pg_settings
where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
union all
select 'synchronous_commit is ' || split_part(c.setting, '=', 2) || ' for ' || coalesce(r.rolname, 'every role')
from pg_db_role_setting s cross join unnest(s.setconfig) c (setting)
  left join pg_roles r on r.oid = s.setrole left join pg_database d on d.oid = s.setdatabase
where c.setting ~* '^synchronous_commit=(off|false|no|0)$'
  and (s.setdatabase = 0 or d.datname = current_database()) and (s.setrole = 0 or r.rolname = any($1::text[]))
union all
select n.nspname || '.' || c.relname || ' is not logged' from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('audit', 'vault') and c.relkind in ('r', 'p') and c.relpersistence <> 'p'
order by what limit 20`

/**
 * Throws BATON_AUDIT_NOT_DURABLE when fsync, full_page_writes or synchronous_commit is off, for any role that
 * writes, or a table is emptied by the next crash because it is unlogged: an acknowledged record could then be
 * lost, so nothing may be acknowledged (E12). With `allowUnsafe` it only answers what is unsafe.
 */
export async function requireDurability(
  db: Database,
  { allowUnsafe = false }: { readonly allowUnsafe?: boolean } = {},
): Promise<readonly string[]> {
  const unsafe = (await run<{ what: string }>(db, 'find_unsafe', UNSAFE, [WRITING_ROLES])).map(
    ({ what }) => what,
  )
  if (unsafe.length === 0 || allowUnsafe) return unsafe
  const message = `the audit database could lose what it acknowledged: ${unsafe.join(', ')}`
  throw permanent('BATON_AUDIT_NOT_DURABLE', message, {
    fix: 'Set the settings to on, and `alter table … set logged`. To start all the same, set BATON_ALLOW_UNSAFE_POSTGRES=1.',
  })
}

/** Makes the partitions from yesterday to seven days ahead; answers how many were missing. */
export async function extendPartitions(db: Database): Promise<number> {
  const rows = await run<{ made: number }>(
    db,
    'extend_partitions',
    'select audit.extend_partitions() as made',
  )
  return rows[0]?.made ?? 0
}

/** Throws BATON_RESTORE_UNFINISHED where the log was put back from a backup and nobody may append yet. */
export async function requireFinishedRestore(db: Database): Promise<void> {
  const [restored] = await run<{ backup: string | null }>(
    db,
    'find_unfinished_restore',
    UNFINISHED_RESTORE,
  )
  refuseUnfinishedRestore(restored?.backup)
}
