// What the database server says about itself: version, durability, and who may connect where.
import { refuseUnfinishedRestore, UNFINISHED_RESTORE } from '@baton/postgres'
import { permanent } from '@baton/runtime'
import { run } from './database.ts'
import type { Database } from './database.ts'

export interface ServerFacts {
  /** For example `18.4`. */
  readonly version: string
  /** Those of fsync, full_page_writes and synchronous_commit that are off. */
  readonly unsafeSettings: readonly string[]
}

export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const text = `select name, setting from pg_settings
    where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit')`
  const rows = await run<{ name: string; setting: string }>(db, 'read_server_facts', text)
  const version = rows.find((row) => row.name === 'server_version')?.setting ?? 'unknown'
  const unsafe = rows.filter((row) => row.name !== 'server_version' && row.setting === 'off')
  return {
    version: version.split(' ', 1)[0] ?? version,
    unsafeSettings: unsafe.map((row) => row.name),
  }
}

/** What time it is by the clock of the database, which all processes share. */
export async function readClock(db: Database): Promise<Date> {
  const rows = await run<{ now: Date }>(db, 'read_clock', 'select clock_timestamp() as now')
  const [row] = rows
  if (row === undefined) throw new TypeError('a select without a table answers one row')
  return row.now
}

/**
 * Throws BATON_POSTGRES_UNSAFE (permanent) where the server may lose what it acknowledged, unless
 * `allowUnsafe`, and BATON_RESTORE_UNFINISHED on one that was restored and is not ready for anybody. Answers the settings that are off.
 */
export async function requireSafePostgres(
  db: Database,
  { allowUnsafe }: { readonly allowUnsafe: boolean },
): Promise<readonly string[]> {
  const [restored] = await run<{ backup: string | null }>(
    db,
    'find_unfinished_restore',
    UNFINISHED_RESTORE,
  )
  refuseUnfinishedRestore(restored?.backup)
  const { unsafeSettings } = await readServerFacts(db)
  if (unsafeSettings.length === 0 || allowUnsafe) return unsafeSettings
  const names = unsafeSettings.join(', ')
  const message = `the operational database runs with ${names} off: a crash loses what it acknowledged`
  throw permanent('BATON_POSTGRES_UNSAFE', message, {
    fix: `Set ${names} to on in Postgres. To start all the same, set BATON_ALLOW_UNSAFE_POSTGRES=1.`,
  })
}

/** Those of `databases` on this server that the role of this connection may connect to. */
export async function findReachableDatabases(
  db: Database,
  databases: readonly string[],
): Promise<readonly string[]> {
  const text = `select datname as name from pg_database
    where datname = any($1::text[]) and has_database_privilege(current_user, oid, 'connect')`
  const rows = await run<{ name: string }>(db, 'find_reachable_databases', text, [databases])
  return rows.map((row) => row.name)
}

/** Tables that the role of this connection may truncate or owns; an operational role has none. */
export async function findOwnedTables(db: Database): Promise<readonly string[]> {
  const text = `select c.relname as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where c.relkind in ('r', 'p') and (has_table_privilege(c.oid, 'truncate')
      or pg_has_role(current_user, c.relowner, 'member'))`
  const rows = await run<{ name: string }>(db, 'find_owned_tables', text)
  return rows.map((row) => row.name)
}
