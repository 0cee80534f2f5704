// Brings the audit databases to the current schema: roll-forward, safe to run twice or at once.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Migration } from 'kysely/migration'
import pg from 'pg'
import { formatOrigin } from '@baton/ledger'
import { permanent } from '@baton/runtime'

/** Passwords of the roles that log in. A role without one exists and cannot log in. */
export interface AuditPasswords {
  readonly writer: string
  readonly reader: string
  readonly vault: string
  readonly sealer: string
  readonly eraser?: string
  readonly archiver?: string
}

interface MigrateOptions {
  readonly passwords: AuditPasswords
  /** Names of the two databases; `baton_audit` and `baton_vault` by default. */
  readonly databases?: { readonly audit: string; readonly vault: string }
  /** Names the chains of a new log; an existing log keeps its own. */
  readonly log?: {
    readonly base?: string
    readonly environment?: string
    /** How many chains a new log has; fixed from then on. */
    readonly shards?: number
  }
}

export interface AuditUrls {
  readonly writer: string
  readonly reader: string
  readonly sealer: string
  readonly vault: string
  /** Refused unless the role was given a password. */
  readonly archiver: string
  /** Refused unless the role was given a password. */
  readonly eraser: string
}

export interface MigratedAudit {
  /** Connection URLs of the roles, on the server of the admin URL. */
  readonly urls: AuditUrls
  /** The migrations applied now. */
  readonly applied: readonly string[]
}

const DEFAULT_DATABASES = { audit: 'baton_audit', vault: 'baton_vault' }
// One migrator at a time for a whole cluster: roles and databases are shared by all of it. A superuser's lock,
// which hinders nobody who logs in; an advisory one is there for every role that can connect.
const TAKE_TURNS = 'begin; lock table pg_catalog.pg_authid in share update exclusive mode'

// People read with this role too. The limit leaves connections to those who append, and half of those that
// Postgres has by default to others; only a superuser can raise it or how much disk a sort may take. The
// times end what somebody forgot: Baton's own readers set shorter ones or longer ones for themselves.
const READER_BOUNDS = [
  'alter role audit_reader connection limit 50',
  `alter role audit_reader set statement_timeout = '10min'`,
  `alter role audit_reader set idle_in_transaction_session_timeout = '1min'`,
  `alter role audit_reader set idle_session_timeout = '30min'`,
  `alter role audit_reader set temp_file_limit = '2GB'`,
]

/**
 * Creates the databases, their roles and their chains, then applies every migration that is not yet
 * applied (E13). `adminUrl` is a superuser's; its database part is where it connects first. Only the
 * roles made here can connect to the two databases; `audit_writer` can append and nothing else.
 */
export async function migrateAudit(
  adminUrl: string,
  options: MigrateOptions,
): Promise<MigratedAudit> {
  const databases = options.databases ?? DEFAULT_DATABASES
  await withClient(adminUrl, async (turn) => {
    await turn.query(TAKE_TURNS)
    await withClient(adminUrl, (admin) =>
      createRolesAndDatabases(admin, databases, options.passwords),
    )
  })
  const auditUrl = withTarget(adminUrl, { database: databases.audit })
  const vaultUrl = withTarget(adminUrl, { database: databases.vault })
  const applied = [
    ...(await applyMigrations(auditUrl, 'audit')),
    ...(await applyMigrations(vaultUrl, 'vault')),
  ]
  await withClient(auditUrl, (admin) => openChains(admin, options.log ?? {}))
  return { urls: roleUrls(adminUrl, databases, options.passwords), applied }
}

function roleUrls(
  adminUrl: string,
  databases: { audit: string; vault: string },
  passwords: AuditPasswords,
): AuditUrls {
  const { audit, vault } = databases
  const writer = { database: audit, role: 'audit_writer', password: passwords.writer }
  const reader = { database: audit, role: 'audit_reader', password: passwords.reader }
  const sealer = { database: audit, role: 'audit_sealer', password: passwords.sealer }
  const archiver = { database: audit, role: 'audit_archiver', password: passwords.archiver ?? '' }
  const eraser = { database: audit, role: 'audit_eraser', password: passwords.eraser ?? '' }
  const keeper = { database: vault, role: 'vault_keeper', password: passwords.vault }
  return {
    writer: withTarget(adminUrl, writer),
    reader: withTarget(adminUrl, reader),
    sealer: withTarget(adminUrl, sealer),
    vault: withTarget(adminUrl, keeper),
    archiver: withTarget(adminUrl, archiver),
    eraser: withTarget(adminUrl, eraser),
  }
}

function withTarget(
  url: string,
  target: { database: string; role?: string; password?: string },
): string {
  const result = new URL(url)
  result.pathname = `/${target.database}`
  if (target.role !== undefined) result.username = target.role
  if (target.password !== undefined) result.password = encodeURIComponent(target.password)
  return result.href
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

async function createRolesAndDatabases(
  admin: pg.Client,
  databases: { audit: string; vault: string },
  passwords: AuditPasswords,
): Promise<void> {
  await ensureRole(admin, 'audit_owner', undefined)
  await ensureRole(admin, 'audit_writer', passwords.writer)
  await ensureRole(admin, 'audit_reader', passwords.reader)
  await ensureRole(admin, 'audit_sealer', passwords.sealer)
  await ensureRole(admin, 'audit_eraser', passwords.eraser)
  await ensureRole(admin, 'audit_archiver', passwords.archiver)
  await ensureRole(admin, 'vault_keeper', passwords.vault)
  for (const bound of READER_BOUNDS) await admin.query(bound)
  const auditRoles = ['writer', 'reader', 'sealer', 'eraser', 'archiver'].map((to) => `audit_${to}`)
  await ensureDatabase(admin, databases.audit, auditRoles)
  await ensureDatabase(admin, databases.vault, ['vault_keeper'])
  const audit = pg.escapeIdentifier(databases.audit)
  await admin.query(`alter database ${audit} set search_path = audit`)
}

async function ensureRole(
  admin: pg.Client,
  role: string,
  password: string | undefined,
): Promise<void> {
  const known = await admin.query('select from pg_roles where rolname = $1', [role])
  const login = password === undefined ? 'nologin' : `login password ${pg.escapeLiteral(password)}`
  await admin.query(`${known.rowCount === 0 ? 'create' : 'alter'} role ${role} ${login}`)
}

async function ensureDatabase(
  admin: pg.Client,
  name: string,
  roles: readonly string[],
): Promise<void> {
  const database = pg.escapeIdentifier(name)
  const known = await admin.query('select from pg_database where datname = $1', [name])
  if (known.rowCount === 0) await admin.query(`create database ${database} template template0`)
  await admin.query(`revoke all on database ${database} from public`)
  await admin.query(`grant connect on database ${database} to ${roles.join(', ')}`)
}

async function openChains(
  admin: pg.Client,
  log: NonNullable<MigrateOptions['log']>,
): Promise<void> {
  const { base = 'baton', environment = 'development', shards = 4 } = log
  const numbers = Array.from({ length: shards }, (_, shard) => shard)
  const origins = numbers.map((shard) => formatOrigin({ base, environment, epoch: 1, shard }))
  await admin.query(
    `insert into audit.head (chain, origin, epoch, shard, shards)
     select shard, origin, 1, shard, $3 from unnest($1::smallint[], $2::text[]) as c (shard, origin)
     where not exists (select from audit.head)
     on conflict do nothing`,
    [numbers, origins, shards],
  )
}

async function applyMigrations(url: string, folder: 'audit' | 'vault'): Promise<readonly string[]> {
  // Services never migrate, and this library is a sixth of everything they would load.
  const { Kysely, PostgresDialect } = await import('kysely')
  const { Migrator } = await import('kysely/migration')
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const provider = { getMigrations: () => readMigrations(folder) }
    const migrator = new Migrator({ db, provider, migrationTableSchema: 'public' })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) {
      const message = `a migration of the ${folder} database failed`
      throw permanent('BATON_MIGRATION_FAILED', message, {
        cause: error,
        fix: 'Nothing was half-applied. Read the cause, mend it and run `baton migrate` again.',
      })
    }
    return (results ?? []).map((result) => `${folder}/${result.migrationName}`)
  } finally {
    await db.destroy()
  }
}

async function readMigrations(folder: string): Promise<Record<string, Migration>> {
  const place = new URL(`../migrations/${folder}/`, import.meta.url)
  const { sql } = await import('kysely')
  const names = (await readdir(fileURLToPath(place))).filter((name) => name.endsWith('.sql'))
  const migrations: Record<string, Migration> = {}
  for (const name of names.toSorted()) {
    const text = await readFile(new URL(name, place), 'utf8')
    migrations[name.slice(0, -'.sql'.length)] = {
      up: async (db) => void (await sql.raw(text).execute(db)),
    }
  }
  return migrations
}
