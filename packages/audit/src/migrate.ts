// Brings the audit databases to the current schema: roll-forward, safe to run twice or at once.
import { formatOrigin } from '@baton/ledger'
import {
  applyMigrations,
  boundRole,
  closeMaintenanceDatabases,
  ensureDatabase,
  ensureRole,
  listMigrations,
  locateDatabase,
  planMigrations,
  withAdmin,
} from '@baton/postgres'
import type { Admin, NamedMigration, PlannedMigration } from '@baton/postgres'
import type { ROLES } from './roles.ts'

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
  /** The whole server is Baton's own: nobody but its superusers connects to its other databases. */
  readonly isOwnServer?: boolean
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

/** How many of the server's connections a role may have at once, so that no one can take all of them. */
const CONNECTION_SHARES = {
  audit_writer: 0.3,
  audit_sealer: 0.15,
  audit_archiver: 0.15,
  audit_eraser: 0.15,
  vault_keeper: 0.3,
} as const satisfies Readonly<Partial<Record<(typeof ROLES)[keyof typeof ROLES][number], number>>>

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
  await withAdmin(adminUrl, async (turn) => {
    await turn.query(TAKE_TURNS)
    await withAdmin(adminUrl, (admin) =>
      createRolesAndDatabases(admin, databases, options.passwords),
    )
    if (options.isOwnServer === true) await withAdmin(adminUrl, closeMaintenanceDatabases)
  })
  const auditUrl = locateDatabase(adminUrl, { database: databases.audit })
  const vaultUrl = locateDatabase(adminUrl, { database: databases.vault })
  const applied = [...(await migrate(auditUrl, 'audit')), ...(await migrate(vaultUrl, 'vault'))]
  await withAdmin(auditUrl, (admin) => openChains(admin, options.log ?? {}))
  return { urls: roleUrls(adminUrl, databases, options.passwords), applied }
}

const folderOf = (name: 'audit' | 'vault'): URL =>
  new URL(`../migrations/${name}/`, import.meta.url)

/** All that this version has, named as those that are applied. */
export async function auditMigrations(): Promise<readonly NamedMigration[]> {
  const folders = (['audit', 'vault'] as const).map(async (name) =>
    (await listMigrations(folderOf(name))).map((one) => ({ ...one, name: `${name}/${one.name}` })),
  )
  return (await Promise.all(folders)).flat()
}

/** What is not applied yet, and what it does to tables that are there; changes nothing. */
export async function planAudit(
  adminUrl: string,
  databases = DEFAULT_DATABASES,
): Promise<readonly PlannedMigration[]> {
  const plan = async (name: 'audit' | 'vault', searchPath: object) => {
    const folder = folderOf(name)
    const planned = await planMigrations({
      adminUrl,
      database: databases[name],
      folder,
      roles: ROLE_NAMES,
      ...searchPath,
    })
    return planned.map((one) => ({ ...one, name: `${name}/${one.name}` }))
  }
  return [...(await plan('audit', { searchPath: 'audit' })), ...(await plan('vault', {}))]
}

async function migrate(url: string, name: 'audit' | 'vault'): Promise<readonly string[]> {
  const folder = folderOf(name)
  const applied = await applyMigrations({ url, folder, name, migrationTableSchema: 'public' })
  return applied.map((migration) => `${name}/${migration}`)
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
    writer: locateDatabase(adminUrl, writer),
    reader: locateDatabase(adminUrl, reader),
    sealer: locateDatabase(adminUrl, sealer),
    vault: locateDatabase(adminUrl, keeper),
    archiver: locateDatabase(adminUrl, archiver),
    eraser: locateDatabase(adminUrl, eraser),
  }
}

const ROLE_NAMES = [
  'audit_owner',
  'audit_writer',
  'audit_reader',
  'audit_sealer',
  'audit_eraser',
  'audit_archiver',
  'vault_keeper',
]

async function createRolesAndDatabases(
  admin: Admin,
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
  for (const [role, share] of Object.entries(CONNECTION_SHARES)) await boundRole(admin, role, share)
  for (const bound of READER_BOUNDS) await admin.query(bound)
  const auditRoles = ['writer', 'reader', 'sealer', 'eraser', 'archiver'].map((to) => `audit_${to}`)
  const creation = 'template template0'
  const audit = { roles: auditRoles, creation, searchPath: 'audit' }
  await ensureDatabase(admin, databases.audit, audit)
  await ensureDatabase(admin, databases.vault, { roles: ['vault_keeper'], creation })
}

async function openChains(admin: Admin, log: NonNullable<MigrateOptions['log']>): Promise<void> {
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
