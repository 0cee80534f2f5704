// Brings the operational database to the current schema: roll-forward, safe to run twice or at once.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Migration } from 'kysely/migration'
import pg from 'pg'
import { permanent } from '@baton/runtime'

interface MigrateOptions {
  /** A superuser's (or database creator's) URL; its database part is ignored. */
  readonly adminUrl: string
  readonly database: string
  /** Password of the role `baton_app` that the services use. */
  readonly appPassword: string
}

const MIGRATIONS = new URL('../migrations/', import.meta.url)

/**
 * Creates the database, the owner role (no login) and the role `baton_app`, then applies every
 * migration that is not yet applied. Answers the names of those applied now.
 * `baton_app` may read and change rows; it owns nothing, truncates nothing and drops nothing.
 */
export async function migrateStore(options: MigrateOptions): Promise<readonly string[]> {
  await withClient(options.adminUrl, (admin) => createRolesAndDatabase(admin, options))
  const url = withDatabase(options.adminUrl, options.database)
  await withClient(url, grantToApp)
  return applyMigrations(url)
}

function withDatabase(url: string, database: string): string {
  const target = new URL(url)
  target.pathname = `/${database}`
  return target.href
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

// One migrator at a time for a whole cluster: roles and databases are shared by all of it.
const LOCK = 7_246_051

async function createRolesAndDatabase(admin: pg.Client, options: MigrateOptions): Promise<void> {
  const database = pg.escapeIdentifier(options.database)
  await admin.query('select pg_advisory_lock($1)', [LOCK])
  await ensureRole(admin, 'baton_owner', 'nologin')
  await ensureRole(admin, 'baton_app', `login password ${pg.escapeLiteral(options.appPassword)}`)
  const known = await admin.query('select from pg_database where datname = $1', [options.database])
  if (known.rowCount === 0) await admin.query(`create database ${database} owner baton_owner`)
  await admin.query(`revoke all on database ${database} from public`)
  await admin.query(`grant connect on database ${database} to baton_app`)
}

async function ensureRole(admin: pg.Client, role: string, attributes: string): Promise<void> {
  const known = await admin.query('select from pg_roles where rolname = $1', [role])
  await admin.query(`${known.rowCount === 0 ? 'create' : 'alter'} role ${role} ${attributes}`)
}

// Advisory locks belong to one database, so the new one is locked for itself.
async function grantToApp(admin: pg.Client): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [LOCK])
  await admin.query('revoke all on schema public from public')
  await admin.query('grant usage on schema public to baton_app')
  await admin.query(
    'alter default privileges for role baton_owner grant select, insert, update, delete on tables to baton_app',
  )
}

async function applyMigrations(url: string): Promise<readonly string[]> {
  // Services never migrate, and this library is a sixth of everything they would load.
  const { Kysely, PostgresDialect } = await import('kysely')
  const { Migrator } = await import('kysely/migration')
  const pool = new pg.Pool({ connectionString: url, max: 1, options: '-c role=baton_owner' })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) {
      throw permanent('BATON_MIGRATION_FAILED', 'a migration of the operational database failed', {
        cause: error,
        fix: 'Nothing was half-applied. Read the cause above, mend it and run `baton migrate` again.',
      })
    }
    return (results ?? []).map((result) => result.migrationName)
  } finally {
    await db.destroy()
  }
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const { sql } = await import('kysely')
  const names = (await readdir(fileURLToPath(MIGRATIONS))).filter((name) => name.endsWith('.sql'))
  const migrations: Record<string, Migration> = {}
  for (const name of names.toSorted()) {
    const text = await readFile(new URL(name, MIGRATIONS), 'utf8')
    migrations[name.slice(0, -'.sql'.length)] = {
      up: async (db) => void (await sql.raw(text).execute(db)),
    }
  }
  return migrations
}
