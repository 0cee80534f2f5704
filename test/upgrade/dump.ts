// An instance of an earlier version in one small file: the migrations that it had, its rights, its rows, and the keys of its processes.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { hash } from 'node:crypto'
import { applyMigrations, withAdmin } from '@baton/postgres'
import type { Admin } from '@baton/postgres'

export type Queryable = Pick<Admin, 'query'>

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const DUMPS = join(ROOT, 'test', 'upgrade', 'dumps')

/** Every database is what its migrations make, whoever runs them. */
const SCHEMAS = {
  store: {
    migrations: 'packages/store/migrations',
    role: 'baton_owner',
    creation: 'owner baton_owner',
  },
  audit: {
    migrations: 'packages/audit/migrations/audit',
    role: undefined,
    creation: 'template template0',
  },
  vault: {
    migrations: 'packages/audit/migrations/vault',
    role: undefined,
    creation: 'template template0',
  },
} as const
export type SchemaName = keyof typeof SCHEMAS
export const SCHEMA_NAMES = Object.keys(SCHEMAS) as SchemaName[]

/** What a row of a catalog is called, and the access list that it had. */
interface Rights {
  readonly catalog: 'pg_namespace' | 'pg_class' | 'pg_attribute' | 'pg_proc'
  readonly name: string
  readonly column: string | null
  readonly acl: string | null
}

interface DatabaseDump {
  /** By name, the SHA-256 of each that was applied. */
  readonly migrations: Readonly<Record<string, string>>
  readonly partitions: readonly {
    readonly table: string
    readonly of: string
    readonly bound: string
    readonly owner: string
  }[]
  readonly rights: readonly Rights[]
  /** Statements, as those below. */
  readonly policies: readonly string[]
  /** What roles may do with what is made later. */
  readonly later: readonly string[]
  readonly sequences: readonly {
    readonly name: string
    readonly value: string
    readonly called: boolean
  }[]
  /** Rows of each table as Postgres spells them in JSON. */
  readonly tables: readonly {
    readonly table: string
    readonly columns: readonly string[]
    readonly rows: string
  }[]
}

export interface Dump {
  readonly commit: string
  readonly madeAt: string
  readonly databases: Readonly<Record<SchemaName, DatabaseDump>>
  /** Keys of this instance alone, made for it and used nowhere else. */
  readonly keys: {
    readonly signingKeys: string
    /** Of the auditor: it signs batches, wraps keys of people, and finds them again. */
    readonly auditor: Readonly<
      Record<
        'BATON_AUDIT_SIGNING_KEY' | 'BATON_AUDIT_WRAPPING_KEY' | 'BATON_AUDIT_LOOKUP_KEY',
        string
      >
    >
    /** SPKI DER in base64. */
    readonly seal: string
    readonly batch: string
  }
  /** The anchor of its sealer, as it was outside the databases. */
  readonly anchor: string
  readonly tasks: {
    readonly completed: readonly string[]
    readonly deadLettered: string
    /** Sent, and taken by nobody. */
    readonly waiting: string
    /** Killed while its agent worked. */
    readonly interrupted: string
  }
}

export async function readDump(file: string): Promise<Dump> {
  return JSON.parse(gunzipSync(await readFile(file)).toString()) as Dump
}

export async function writeDump(file: string, dump: Dump): Promise<number> {
  const bytes = gzipSync(JSON.stringify(dump), { level: 9 })
  await writeFile(file, bytes)
  return bytes.length
}

/** Everything of one database, as a superuser who has it to itself. */
export async function dumpDatabase(database: Queryable, schema: SchemaName): Promise<DatabaseDump> {
  const all = async <Row extends object>(text: string): Promise<Row[]> =>
    (await database.query<Row>(text)).rows
  await database.query('set search_path to pg_catalog')
  const tables = []
  for (const { table, columns } of await all<{ table: string; columns: string[] }>(TABLES)) {
    const list = columns.map((column) => quoted(column)).join(', ')
    const [{ rows } = { rows: null }] = await all<{ rows: string | null }>(
      `select json_agg(t order by t::text)::text as rows from (select ${list} from ${table}) t`,
    )
    if (rows !== null) tables.push({ table, columns, rows })
  }
  const sequences = []
  for (const { name } of await all<{ name: string }>(SEQUENCES))
    sequences.push(
      ...(await all<{ name: string; value: string; called: boolean }>(
        `select '${name}' as name, last_value::text as value, is_called as called from ${name}`,
      )),
    )
  const applied = await all<{ name: string }>(
    'select name from public.kysely_migration order by name',
  )
  const migrations: Record<string, string> = {}
  for (const { name } of applied)
    migrations[name] = hash('sha256', await migrationText(schema, name))
  return {
    migrations,
    partitions: await all(PARTITIONS),
    rights: await all(RIGHTS),
    policies: (await all<{ statement: string }>(POLICIES)).map(({ statement }) => statement),
    later: (await all<{ statement: string }>(LATER)).map(({ statement }) => statement),
    sequences,
    tables,
  }
}

/** Makes the database anew, as it was; `admin` is a superuser's URL, and the roles are there. */
export async function restoreDatabase(
  adminUrl: string,
  {
    schema,
    database,
    dump,
  }: { readonly schema: SchemaName; readonly database: string; readonly dump: DatabaseDump },
): Promise<void> {
  const { role, creation } = SCHEMAS[schema]
  await withAdmin(
    adminUrl,
    async (admin) => void (await admin.query(`create database "${database}" ${creation}`)),
  )
  const url = urlOf(adminUrl, database)
  const folder = await mkdtemp(join(tmpdir(), 'baton-earlier-'))
  try {
    for (const [name, digest] of Object.entries(dump.migrations)) {
      const text = await migrationText(schema, name)
      if (hash('sha256', text) !== digest)
        throw new Error(
          `${SCHEMAS[schema].migrations}/${name}.sql is not what the installation of then applied`,
        )
      await writeFile(join(folder, `${name}.sql`), text)
    }
    await applyMigrations({
      url,
      folder: pathToFileURL(`${folder}/`),
      name: schema,
      ...(role === undefined ? { migrationTableSchema: 'public' } : { role }),
    })
  } finally {
    await rm(folder, { recursive: true })
  }
  await withAdmin(url, (admin) => fill(admin, dump))
}

async function fill(admin: Admin, dump: DatabaseDump): Promise<void> {
  await admin.query(
    'begin; set local session_replication_role = replica; set local search_path to pg_catalog',
  )
  for (const { table, of, bound, owner } of dump.partitions)
    await admin.query(
      `create table if not exists ${table} partition of ${of} ${bound}; alter table ${table} owner to ${owner}`,
    )
  const guards = (await admin.query<{ off: string; on: string }>(GUARDS)).rows
  for (const { off } of guards) await admin.query(off)
  for (const { table } of (await admin.query<{ table: string }>(TABLES)).rows)
    await admin.query(`delete from ${table}`)
  for (const { table, columns, rows } of dump.tables) {
    const list = columns.map((column) => quoted(column)).join(', ')
    await admin.query(
      `insert into ${table} (${list}) overriding system value select ${list} from json_populate_recordset(null::${table}, $1)`,
      [rows],
    )
  }
  for (const { on } of guards) await admin.query(on)
  for (const { name, value, called } of dump.sequences)
    await admin.query('select setval($1::regclass, $2, $3)', [name, value, called])
  // Embedded servers call their superuser so; others have another.
  const own = (acl: string) => acl.replaceAll(/\bpostgres\b/g, admin.user ?? 'postgres')
  await admin.query(RESTORE_RIGHTS, [
    JSON.stringify(dump.rights.map((one) => ({ ...one, acl: one.acl && own(one.acl) }))),
  ])
  for (const statement of [...dump.policies, ...dump.later]) await admin.query(statement)
  await admin.query('commit')
}

/** No column has a quote in its name. */
const quoted = (name: string): string => `"${name}"`

export function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

const migrationText = (schema: SchemaName, name: string): Promise<string> =>
  readFile(join(ROOT, SCHEMAS[schema].migrations, `${name}.sql`), 'utf8')

const OURS = `n.nspname !~ '^(pg_|information_schema)' and c.relname !~ '^kysely_'`

const TABLES = `
select c.oid::regclass::text as table, array_agg(a.attname::text order by a.attnum) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
where ${OURS} and c.relkind in ('r', 'p') and not c.relispartition group by c.oid order by 1`

const SEQUENCES = `
select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where ${OURS} and c.relkind = 'S' order by 1`

// What refuses changes of the log also where other triggers are silent.
const GUARDS = `
select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as off,
  format('alter table %s enable always trigger %I', tgrelid::regclass, tgname) as on
from pg_trigger where not tgisinternal and tgenabled = 'A' and tgparentid = 0`

const PARTITIONS = `
select c.oid::regclass::text as table, i.inhparent::regclass::text as of, pg_get_expr(c.relpartbound, c.oid) as bound,
  pg_get_userbyid(c.relowner)::text as owner
from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_inherits i on i.inhrelid = c.oid
where ${OURS} and c.relkind in ('r', 'p') and c.relispartition order by 1`

const RIGHTS = `
select 'pg_namespace' as catalog, nspname::text as name, null as column, nspacl::text as acl
  from pg_namespace where nspname !~ '^(pg_|information_schema)'
union all
select 'pg_class', c.oid::regclass::text, null, c.relacl::text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and c.relkind in ('r', 'p', 'v', 'm', 'S')
union all
select 'pg_attribute', c.oid::regclass::text, a.attname::text, a.attacl::text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where ${OURS} and a.attacl is not null
union all
select 'pg_proc', p.oid::regprocedure::text, null, p.proacl::text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname !~ '^(pg_|information_schema)'
order by 1, 2, 3`

const RESTORE_RIGHTS = `
with told as (
  select * from json_to_recordset($1::json) as t (catalog text, name text, "column" text, acl text)
), spaces as (
  update pg_namespace n set nspacl = t.acl::aclitem[] from told t where t.catalog = 'pg_namespace' and n.nspname = t.name
), relations as (
  update pg_class c set relacl = t.acl::aclitem[] from told t
  where t.catalog = 'pg_class' and c.oid = to_regclass(t.name)
), attributes as (
  update pg_attribute a set attacl = t.acl::aclitem[] from told t
  where t.catalog = 'pg_attribute' and a.attrelid = to_regclass(t.name) and a.attname = t."column"
)
update pg_proc p set proacl = t.acl::aclitem[] from told t where t.catalog = 'pg_proc' and p.oid = to_regprocedure(t.name)`

// Some are made beside the migrations, with the rights of the roles.
const POLICIES = `
select format('drop policy if exists %1$I on %2$s; create policy %1$I on %2$s as %3$s for %4$s to %5$s%6$s%7$s', p.polname, p.polrelid::regclass,
  case when p.polpermissive then 'permissive' else 'restrictive' end,
  case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
  (select string_agg(case when r = 0 then 'public' else quote_ident(pg_get_userbyid(r)) end, ', ' order by r) from unnest(p.polroles) r),
  ' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')') as statement
from pg_policy p order by 1`

const LATER = `
select format('alter default privileges for role %I grant %s on %s to %I', pg_get_userbyid(d.defaclrole),
  string_agg(a.privilege_type, ', '), case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' else 'types' end,
  pg_get_userbyid(a.grantee)) as statement
from pg_default_acl d cross join aclexplode(d.defaclacl) a where a.grantee <> d.defaclrole and a.grantee <> 0
group by d.defaclrole, d.defaclobjtype, a.grantee order by 1`
