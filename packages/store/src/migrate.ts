// Brings the operational database to the current schema: roll-forward, safe to run twice or at once.
import {
  applyMigrations,
  boundRole,
  closeMaintenanceDatabases,
  ensureDatabase,
  ensureRole,
  listMigrations,
  locateDatabase,
  planMigrations,
  resetRole,
  withAdmin,
} from '@baton/postgres'
import type { Admin, NamedMigration, PlannedMigration } from '@baton/postgres'
import { CONNECTION_SHARES, rightsStatements, SPLIT_ROLES } from './roles.ts'

interface MigrateOptions {
  /** A superuser's (or database creator's) URL; its database part is ignored. */
  readonly adminUrl: string
  readonly database: string
  /** Password of the role `baton_app`, which may do what the two below may; without it nobody logs in as that role. */
  readonly appPassword: string | undefined
  /** Of `baton_gateway`; without it whether somebody logs in as that role stays as it is. */
  readonly gatewayPassword?: string | undefined
  /** Of `baton_delivery`, the role of senders, relays and receivers; likewise. */
  readonly deliveryPassword?: string | undefined
  /** The whole server is Baton's own: nobody but its superusers connects to its other databases. */
  readonly isOwnServer?: boolean
  /** How long it waits for who holds what it needs; 30 s by default. */
  readonly lockWaitMs?: number
}

/** The role of sessions that act for one tenant: row-level security shows it that tenant's rows. */
export const TENANT_ROLE = 'baton_tenant'

const FOLDER = new URL('../migrations/', import.meta.url)

/** All that this version has. */
export const storeMigrations = (): Promise<readonly NamedMigration[]> => listMigrations(FOLDER)

/** What is not applied yet, and what it does to tables that are there; changes nothing. */
export const planStore = (
  adminUrl: string,
  database: string,
): Promise<readonly PlannedMigration[]> =>
  planMigrations({
    adminUrl,
    database,
    folder: FOLDER,
    role: 'baton_owner',
    roles: ['baton_owner', 'baton_app', TENANT_ROLE, ...SPLIT_ROLES],
  })

// One migrator at a time for a whole cluster: roles and databases are shared by all of it.
const LOCK = 7_246_051

/**
 * Creates the database, the owner role (no login) and the roles of services, then applies every
 * migration that is not yet applied and gives each role its rights. Answers the names of those applied now.
 * No role of a service owns, truncates or drops anything. Throws BATON_MIGRATION_FAILED and BATON_MIGRATION_BLOCKED.
 */
export async function migrateStore(options: MigrateOptions): Promise<readonly string[]> {
  const { adminUrl, database, appPassword, gatewayPassword, deliveryPassword } = options
  const { lockWaitMs } = options
  const prepare = async (admin: Admin): Promise<void> => {
    await admin.query('select pg_advisory_lock($1)', [LOCK])
    await ensureRole(admin, 'baton_owner', undefined)
    await ensureRole(admin, 'baton_app', appPassword)
    await ensureRole(admin, 'baton_gateway', gatewayPassword, { keepsLogin: true })
    await ensureRole(admin, 'baton_delivery', deliveryPassword, { keepsLogin: true })
    await ensureRole(admin, TENANT_ROLE, undefined)
    for (const [role, share] of Object.entries(CONNECTION_SHARES)) {
      await boundRole(admin, role, share)
      await resetRole(admin, role, database)
    }
    // They become that role where they say so, and have none of its rights or policies until then.
    await admin.query(
      `grant ${TENANT_ROLE} to baton_app, baton_gateway with inherit false, set true`,
    )
    const roles = ['baton_app', ...SPLIT_ROLES]
    await ensureDatabase(admin, database, { roles, creation: 'owner baton_owner' })
    if (options.isOwnServer === true) await closeMaintenanceDatabases(admin)
  }
  await withAdmin(adminUrl, prepare, { lockWaitMs })
  const url = locateDatabase(adminUrl, { database })
  const applied: string[] = []
  // Advisory locks belong to one database, so the new one is locked for itself. Postgres fails the second of two who change
  // what a role may do at once.
  const migrate = async (admin: Admin): Promise<void> => {
    await admin.query('select pg_advisory_lock($1)', [LOCK])
    await grantToApp(admin)
    const migrating = { url, folder: FOLDER, name: 'operational', role: 'baton_owner', lockWaitMs }
    applied.push(...(await applyMigrations(migrating)))
    // What was applied is nobody's to change but the migrator's.
    await admin.query('revoke all on kysely_migration, kysely_migration_lock from baton_app')
    await admin.query(['begin', ...rightsStatements(), 'commit'].join(';\n'))
  }
  await withAdmin(url, migrate, { lockWaitMs })
  return applied
}

// Postgres lets everybody make large objects, write to the WAL, and end other sessions of the same role. Only a superuser takes it back.
const TAKE_BACK = `
do $$
declare
  everyones regprocedure;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then return; end if;
  for everyones in select p.oid from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.proname in (
    'lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message', 'pg_cancel_backend', 'pg_terminate_backend')
  loop
    execute format('revoke execute on function %s from public', everyones);
  end loop;
end $$`

async function grantToApp(admin: Admin): Promise<void> {
  await admin.query(TAKE_BACK)
  await admin.query('revoke all on schema public from public')
  await admin.query('grant usage on schema public to baton_app')
  await admin.query(
    'alter default privileges for role baton_owner grant select, insert, update, delete on tables to baton_app',
  )
}
