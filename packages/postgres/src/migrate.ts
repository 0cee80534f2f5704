// Brings a database to its current schema: roll-forward, safe to run twice or at once.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Migration } from 'kysely/migration'
import pg from 'pg'
import { permanent } from '@baton/runtime'
import { secureConnection } from './secure-connection.ts'

/** A superuser's (or database creator's) connection. */
export type Admin = pg.Client

/** Connects for as long as `work` takes. */
export async function withAdmin(url: string, work: (admin: Admin) => Promise<void>): Promise<void> {
  const client = new pg.Client({ ...secureConnection(url), connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
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

/** Creates or alters a role. Without a password it cannot log in. */
export async function ensureRole(
  admin: Admin,
  role: string,
  password: string | undefined,
): Promise<void> {
  const known = await admin.query('select from pg_roles where rolname = $1', [role])
  const login = password === undefined ? 'nologin' : `login password ${pg.escapeLiteral(password)}`
  await admin.query(`${known.rowCount === 0 ? 'create' : 'alter'} role ${role} ${login}`)
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

interface MigrateOptions {
  readonly url: string
  /** Where its numbered `.sql` files stand. */
  readonly folder: URL
  /** As messages name it: "a migration of the … database failed". */
  readonly name: string
  /** Who owns what the migrations create; the role of the URL by default. */
  readonly role?: string
  readonly migrationTableSchema?: string
}

/** Applies every migration that is not yet applied; answers the names of those applied now. */
export async function applyMigrations(options: MigrateOptions): Promise<readonly string[]> {
  // Services never migrate, so they do not load the migrator.
  const { Kysely, PostgresDialect, sql } = await import('kysely')
  const { Migrator } = await import('kysely/migration')
  const { url, folder, name, role, migrationTableSchema } = options
  const session = role === undefined ? {} : { options: `-c role=${role}` }
  const pool = new pg.Pool({ ...secureConnection(url), max: 1, ...session })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
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
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) {
      throw permanent('BATON_MIGRATION_FAILED', `a migration of the ${name} database failed`, {
        cause: error,
        fix: 'Nothing was half-applied. Read the cause above, mend it and run `baton migrate` again.',
      })
    }
    return (results ?? []).map((result) => result.migrationName)
  } finally {
    await db.destroy()
  }
}

async function readMigrations(folder: URL): Promise<{ file: string; text: string }[]> {
  const names = (await readdir(fileURLToPath(folder))).filter((name) => name.endsWith('.sql'))
  return Promise.all(
    names.toSorted().map(async (name) => ({
      file: name.slice(0, -'.sql'.length),
      text: await readFile(new URL(name, folder), 'utf8'),
    })),
  )
}
