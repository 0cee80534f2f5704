// Brings a database to its current schema: roll-forward, safe to run twice or at once.
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type * as Library from 'kysely'
import type { Migration } from 'kysely/migration'
import pg from 'pg'
import { permanent, transient } from '@baton/runtime'
import { scramVerifier } from './scram.ts'
import { connectToWritable, findWritable } from './servers.ts'

/** A superuser's (or database creator's) connection. */
export type Admin = pg.Client

/** How long a change tries to get what it needs. */
const LOCK_WAIT_MS = 30_000
/** How long each try waits: whatever comes later to the same table waits behind it, also what services ask meanwhile, whose own wait is twice as long. */
const LOCK_TRY_MS = 1_000
/** Between two tries, for those who waited behind the first. */
const LOCK_PAUSE_MS = 500

interface LockWait {
  /** 30 s by default. */
  readonly lockWaitMs?: number | undefined
}

/** Connects for as long as `work` takes. Throws BATON_MIGRATION_BLOCKED where somebody holds what it needs for too long. */
export async function withAdmin(
  url: string,
  work: (admin: Admin) => Promise<void>,
  { lockWaitMs = LOCK_WAIT_MS }: LockWait = {},
): Promise<void> {
  const bounds = { connectionTimeoutMillis: 5_000, lock_timeout: lockWaitMs }
  const client = await connectToWritable(url, bounds)
  try {
    await work(client)
  } catch (error) {
    throw isLockTimeout(error) ? blocked(await holdersOf(client), error) : error
  } finally {
    await client.end()
  }
}

const isLockTimeout = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '55P03'

interface Holder {
  readonly pid: number
  readonly role: string
}

// Any role can lock what it may read, or any number, for as long as it likes: the bounds of its sessions are its own to lift.
const HOLDERS = `
select distinct a.pid, a.usename as role, a.backend_start from pg_locks l join pg_stat_activity a using (pid)
where l.granted and l.pid <> pg_backend_pid() and l.database in (0, (select oid from pg_database where datname = current_database()))
  and (l.locktype = 'advisory' or l.relation >= 16384 or l.database = 0) and a.usename is not null
order by a.backend_start limit 5`

async function holdersOf(client: Pick<pg.Client, 'query'>): Promise<readonly Holder[]> {
  await client.query('rollback')
  return (await client.query<Holder>(HOLDERS)).rows
}

function blocked(holders: readonly Holder[], cause: unknown): Error {
  const sessions = holders.map(({ pid, role }) => `${pid} (${role})`).join(', ')
  const ending = holders.map(({ pid }) => `select pg_terminate_backend(${pid});`).join(' ')
  return transient(
    'BATON_MIGRATION_BLOCKED',
    `a change of the schema waited too long for a lock; sessions that hold some, oldest first: ${sessions || 'none any more'}`,
    {
      cause,
      fix: `No migration was half-applied. Wait if another migration runs; end a session that is nobody's work (${ending || 'none is left'}), then run \`baton migrate\` again.`,
    },
  )
}

/** The URL of another database of the same server, as another role where one is named. */
export function locateDatabase(
  url: string,
  target: {
    readonly database: string
    readonly role?: string
    readonly password?: string
  },
): string {
  const result = new URL(url)
  result.pathname = `/${target.database}`
  if (target.role !== undefined) result.username = target.role
  if (target.password !== undefined) result.password = encodeURIComponent(target.password)
  return result.href
}

/** Creates or alters a role. Without a password it cannot log in, unless one that is there `keepsLogin`. */
export async function ensureRole(
  admin: Admin,
  role: string,
  password: string | undefined,
  { keepsLogin = false }: { readonly keepsLogin?: boolean } = {},
): Promise<void> {
  const known = await admin.query('select from pg_roles where rolname = $1', [role])
  if (known.rowCount !== 0 && password === undefined && keepsLogin) return
  const login =
    password === undefined
      ? 'nologin'
      : `login password ${pg.escapeLiteral(scramVerifier(password))}`
  await admin.query(`${known.rowCount === 0 ? 'create' : 'alter'} role ${role} ${login}`)
}

/**
 * Bounds what a role can take of the server: so large a share of its connections, and no session that somebody forgot.
 * Baton's own sessions set shorter times, or longer ones, for themselves.
 */
export async function boundRole(admin: Admin, role: string, share: number): Promise<void> {
  const { rows } = await admin.query<{ most: number }>(
    `select setting::integer as most from pg_settings where name = 'max_connections'`,
  )
  const limit = Math.max(1, Math.floor((rows[0]?.most ?? 0) * share))
  await admin.query(`alter role ${role} connection limit ${limit}`)
  for (const [name, value] of Object.entries(ROLE_TIMES)) {
    await admin.query(`alter role ${role} set ${name} = '${value}'`)
  }
}

const ROLE_TIMES = {
  statement_timeout: '10min',
  idle_in_transaction_session_timeout: '1min',
  idle_session_timeout: '30min',
}

/**
 * Takes back what a role is set to beside {@link boundRole}, on the whole server and in `database`. Every role may set its own sessions of
 * later, also to write nothing, or to believe written what no disk has: that would outlive the password by which somebody got in.
 * What only makes queries faster or slower stays, as does what only a superuser can set.
 */
export async function resetRole(admin: Admin, role: string, database: string): Promise<void> {
  const { rows } = await admin.query<{ name: string; database: string | null }>(OWN_SETTINGS, [
    role,
    database,
    Object.keys(ROLE_TIMES),
  ])
  for (const { name, database: only } of rows) {
    const within = only === null ? '' : `in database ${pg.escapeIdentifier(only)} `
    const setting = name.split('.').map((part) => pg.escapeIdentifier(part))
    await admin.query(`alter role ${role} ${within}reset ${setting.join('.')}`)
  }
}

// What Postgres does not list (the role to become, names of others) is nothing that makes queries faster. The times of a role are set
// anew for the whole server, and taken away where a database has others.
const OWN_SETTINGS = `
  select split_part(c.setting, '=', 1) as name, d.datname as database
  from pg_db_role_setting s join pg_roles r on r.oid = s.setrole cross join unnest(s.setconfig) c (setting)
    left join pg_database d on d.oid = s.setdatabase
    left join pg_settings p on lower(p.name) = lower(split_part(c.setting, '=', 1))
  where r.rolname = $1 and (s.setdatabase = 0 or d.datname = $2)
    and not (s.setdatabase = 0 and split_part(c.setting, '=', 1) = any($3::text[]))
    and (p.name is null or (p.context = 'user' and p.category !~ '^(Query Tuning|Resource Usage)'))`

/** Of a server that is Baton's alone: who is no superuser connects to Baton's databases and to no other. */
export async function closeMaintenanceDatabases(admin: Admin): Promise<void> {
  await admin.query('revoke connect, temporary on database postgres, template1 from public')
}

/** Creates a database where there is none; only `roles` can connect to it. */
export async function ensureDatabase(
  admin: Admin,
  name: string,
  { roles, creation, searchPath }: DatabaseAccess,
): Promise<void> {
  const database = pg.escapeIdentifier(name)
  const known = await admin.query('select from pg_database where datname = $1', [name])
  if (known.rowCount === 0) await admin.query(`create database ${database} ${creation}`)
  await admin.query(`revoke all on database ${database} from public`)
  await admin.query(`grant connect on database ${database} to ${roles.join(', ')}`)
  if (searchPath !== undefined) {
    await admin.query(`alter database ${database} set search_path = ${searchPath}`)
  }
}

interface DatabaseAccess {
  readonly roles: readonly string[]
  /** What `create database` is told besides the name. */
  readonly creation: string
  readonly searchPath?: string
}

interface MigrateOptions extends LockWait {
  readonly url: string
  /** Where its numbered `.sql` files stand. */
  readonly folder: URL
  /** As messages name it: "a migration of the … database failed". */
  readonly name: string
  /** Who owns what the migrations create; the role of the URL by default. */
  readonly role?: string
  readonly migrationTableSchema?: string
}

/**
 * Applies every migration that is not yet applied, each in a transaction of its own, so that none keeps what the one before it locked;
 * answers the names of those applied now. Throws BATON_MIGRATION_FAILED and BATON_MIGRATION_BLOCKED.
 */
export async function applyMigrations(options: MigrateOptions): Promise<readonly string[]> {
  // Services never migrate, so they do not load the migrator.
  const kysely = await import('kysely')
  const { sql } = kysely
  const { Migrator } = await import('kysely/migration')
  const { url, folder, name, role, migrationTableSchema, lockWaitMs = LOCK_WAIT_MS } = options
  const session = role === undefined ? {} : { options: `-c role=${role}` }
  const bounds = { max: 1, lock_timeout: Math.min(LOCK_TRY_MS, lockWaitMs) }
  const pool = new pg.Pool({ ...(await findWritable(url)), ...bounds, ...session })
  const db = new kysely.Kysely<unknown>({ dialect: dialectOf(kysely, pool) })
  try {
    const getMigrations = async (): Promise<Record<string, Migration>> =>
      Object.fromEntries(
        (await readMigrations(folder)).map(({ file, text }) => [
          file,
          { up: async (target) => void (await sql.raw(text).execute(target)) },
        ]),
      )
    const schema = migrationTableSchema === undefined ? {} : { migrationTableSchema }
    const migrator = new Migrator({ db, provider: { getMigrations }, ...schema })
    const applied: string[] = []
    const deadline = performance.now() + lockWaitMs
    for (;;) {
      const { error, results = [] } = await migrator.migrateUp()
      if (error === undefined && results.length === 0) return applied
      if (error === undefined) applied.push(...results.map((result) => result.migrationName))
      else if (!isLockTimeout(error)) throw failed(name, error)
      else if (performance.now() < deadline) await delay(LOCK_PAUSE_MS)
      else {
        const client = await pool.connect()
        throw blocked(await holdersOf(client).finally(() => client.release()), error)
      }
    }
  } finally {
    await db.destroy()
  }
}

const failed = (name: string, cause: unknown) =>
  permanent('BATON_MIGRATION_FAILED', `a migration of the ${name} database failed`, {
    cause,
    fix: 'Nothing of it was half-applied. Read the cause above, mend it and run `baton migrate` again.',
  })

/** What the library locks, in versions of before too. */
const LIBRARY_LOCK = 3_853_314_791_062_309_107n

/** The library would wait for its lock for an hour, whatever the session is bound to. A session ends with what it locked. */
function dialectOf(
  { PostgresAdapter, PostgresDialect, sql }: typeof Library,
  pool: pg.Pool,
): Library.Dialect {
  class BoundedAdapter extends PostgresAdapter {
    override async acquireMigrationLock(session: Library.Kysely<unknown>): Promise<void> {
      await sql`select pg_advisory_lock(${LIBRARY_LOCK})`.execute(session)
    }
  }
  class BoundedDialect extends PostgresDialect {
    override createAdapter() {
      return new BoundedAdapter()
    }
  }
  return new BoundedDialect({ pool })
}

/** Every migration of a folder by its name, with the digest of its text. */
export async function listMigrations(folder: URL): Promise<readonly NamedMigration[]> {
  const migrations = await readMigrations(folder)
  return migrations.map(({ file, text }) => ({ name: file, sha256: hash('sha256', text) }))
}

export interface NamedMigration {
  readonly name: string
  /** Lower-case hex. */
  readonly sha256: string
}

/** In the order in which they are applied. */
export async function readMigrations(
  folder: URL,
): Promise<readonly { readonly file: string; readonly text: string }[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql'))
  return Promise.all(
    names.toSorted().map(async (name) => ({
      file: name.slice(0, -'.sql'.length),
      text: await readFile(new URL(name, folder), 'utf8'),
    })),
  )
}
