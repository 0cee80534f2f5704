// Says what migrations would do before they do it: each is run in a new database that nobody uses, and what it locked there is read.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { locateDatabase, readMigrations } from './migrate.ts'
import { connectToWritable } from './servers.ts'

/** What a migration does to a table that was there before it. */
export interface TableChange {
  readonly table: string
  /** The strongest lock that it holds until its end, as Postgres calls it. */
  readonly lock: string
  /** Every row is written anew meanwhile. */
  readonly isRewritten: boolean
  /** Every row is read meanwhile. */
  readonly isScanned: boolean
  /** Columns that the version before may read or leave out and no longer can, or the table itself by its new name. */
  readonly withdrawn: readonly string[]
}

export interface PlannedMigration {
  readonly name: string
  readonly changes: readonly TableChange[]
}

interface PlanOptions {
  /** A superuser's, or that of who may create databases. */
  readonly adminUrl: string
  /** The database that would be migrated; it is only asked what was applied. */
  readonly database: string
  readonly folder: URL
  /** Who owns what the migrations create; the role of the URL by default. */
  readonly role?: string
  readonly searchPath?: string
  /** Roles that the migrations name. One that the server does not have yet is there, without any right, while this plans. */
  readonly roles: readonly string[]
}

/**
 * The migrations that are not yet applied, in their order. Changes nothing in the database itself: what was applied is applied to an empty one
 * beside it, which is dropped afterwards, and then what was not.
 */
export async function planMigrations(options: PlanOptions): Promise<readonly PlannedMigration[]> {
  const { adminUrl, database, folder, role } = options
  const migrations = await readMigrations(folder)
  const applied = await onDatabase({ adminUrl, database: 'postgres' }, async (admin) =>
    (await exists(admin, database)) ? await appliedIn({ adminUrl, database }) : new Set<string>(),
  )
  const pending = migrations.filter(({ file }) => !applied.has(file))
  if (pending.length === 0) return []
  const scratch = `baton_plan_${randomBytes(6).toString('hex')}`
  return await onDatabase({ adminUrl, database: 'postgres' }, async (admin) => {
    const made = await makeMissing(admin, options.roles)
    const owner = role === undefined ? '' : ` owner ${role}`
    try {
      await admin.query(`create database ${scratch}${owner} template template0`)
      return await onDatabase({ ...options, database: scratch }, async (client) => {
        await client.query(LIBRARY_TABLE)
        const planned: PlannedMigration[] = []
        for (const { file, text } of migrations) {
          const changes = await measured(client, text)
          if (!applied.has(file)) planned.push({ name: file, changes })
        }
        return planned
      })
    } finally {
      await admin.query(`drop database if exists ${scratch} with (force)`)
      for (const name of made) await admin.query(`drop role ${pg.escapeIdentifier(name)}`)
    }
  })
}

interface Where {
  readonly adminUrl: string
  readonly database: string
  readonly role?: string
  readonly searchPath?: string
}

async function onDatabase<Result>(
  { adminUrl, database, role, searchPath }: Where,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const options = [
    ...(role === undefined ? [] : [`-c role=${role}`]),
    ...(searchPath === undefined ? [] : [`-c search_path=${searchPath}`]),
  ].join(' ')
  const url = locateDatabase(adminUrl, { database })
  const client = await connectToWritable(url, {
    connectionTimeoutMillis: 5_000,
    ...(options === '' ? {} : { options }),
  })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Answers those that it made. */
async function makeMissing(admin: pg.Client, roles: readonly string[]): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    'select name from unnest($1::text[]) name where not exists (select from pg_roles where rolname = name)',
    [roles],
  )
  for (const { name } of rows) await admin.query(`create role ${pg.escapeIdentifier(name)} nologin`)
  return rows.map(({ name }) => name)
}

async function exists(admin: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [database])
  return rowCount !== 0
}

const appliedIn = (where: Where): Promise<ReadonlySet<string>> =>
  onDatabase(where, async (client) => {
    const table = await client.query(`select to_regclass('public.kysely_migration') as found`)
    if (table.rows[0]?.found === null) return new Set()
    const { rows } = await client.query<{ name: string }>(
      'select name from public.kysely_migration',
    )
    return new Set(rows.map(({ name }) => name))
  })

// Migrations of the audit databases give rights on it.
const LIBRARY_TABLE =
  'create table public.kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)'

// A table that is written anew gets another file. One that is read from its beginning to its end is counted, and where an index is built on it.
const CHANGES = `
  select before.name as table, lock.mode as lock, pg_relation_filenode(before.oid) is distinct from before.file as "isRewritten",
    pg_stat_get_xact_numscans(before.oid) > before.scans or lock.mode = 'ShareLock' as "isScanned",
    array(
      select 'is ' || coalesce((select c.oid::regclass::text from pg_class c where c.oid = before.oid), 'gone')
      where to_regclass(before.name) is distinct from before.oid
      union all
      select was.attname from planned_columns was left join pg_attribute now
        on now.attrelid = was.attrelid and now.attname = was.attname and not now.attisdropped
      where was.attrelid = before.oid and exists (select from pg_class c where c.oid = before.oid)
        and (now.attname is null or now.atttypid <> was.atttypid or now.attnotnull and not was.attnotnull and not now.atthasdef)
      union all
      select now.attname from pg_attribute now where now.attrelid = before.oid and now.attnum > 0 and not now.attisdropped
        and now.attnotnull and not now.atthasdef and now.attidentity = ''
        and not exists (select from planned_columns was where was.attrelid = now.attrelid and was.attname = now.attname)
    ) as withdrawn
  from planned_before before cross join lateral (
    select l.mode from pg_locks l where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.granted and l.relation = before.oid
      and l.database = (select oid from pg_database where datname = current_database())
    order by array_position($1::text[], l.mode) limit 1) lock
  order by array_position($1::text[], lock.mode), before.name`

const BEFORE = `
  create temporary table planned_before on commit drop as
    select c.oid, c.oid::regclass::text as name, pg_relation_filenode(c.oid) as file,
      pg_stat_get_xact_numscans(c.oid) as scans from pg_class c
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and c.relpersistence = 'p' and c.relname <> 'kysely_migration';
  create temporary table planned_columns on commit drop as
    select a.attrelid, a.attname, a.atttypid, a.attnotnull from pg_attribute a
    where a.attrelid in (select oid from planned_before) and a.attnum > 0 and not a.attisdropped`

/** Strongest first; weaker ones are those of reading and of writing rows, which hinder nobody. */
const MODES = [
  'AccessExclusiveLock',
  'ExclusiveLock',
  'ShareRowExclusiveLock',
  'ShareLock',
  'ShareUpdateExclusiveLock',
  'RowExclusiveLock',
]

async function measured(client: pg.Client, text: string): Promise<readonly TableChange[]> {
  await client.query('begin')
  await client.query(BEFORE)
  await client.query(text)
  const { rows } = await client.query<TableChange>(CHANGES, [MODES])
  await client.query('commit')
  return rows.filter(({ lock }) => MODES.includes(lock))
}
