// Brings the operational database to the current schema: roll-forward, safe to run twice or at once.
import {
  applyMigrations,
  ensureDatabase,
  ensureRole,
  locateDatabase,
  withAdmin,
} from '@baton/postgres'
import type { Admin } from '@baton/postgres'

interface MigrateOptions {
  /** A superuser's (or database creator's) URL; its database part is ignored. */
  readonly adminUrl: string
  readonly database: string
  /** Password of the role `baton_app` that the services use. */
  readonly appPassword: string
}

/** The role of sessions that act for one tenant: row-level security shows it that tenant's rows. */
export const TENANT_ROLE = 'baton_tenant'

// One migrator at a time for a whole cluster: roles and databases are shared by all of it.
const LOCK = 7_246_051

/**
 * Creates the database, the owner role (no login) and the role `baton_app`, then applies every
 * migration that is not yet applied. Answers the names of those applied now.
 * `baton_app` may read and change rows; it owns nothing, truncates nothing and drops nothing.
 */
export async function migrateStore(options: MigrateOptions): Promise<readonly string[]> {
  const { adminUrl, database, appPassword } = options
  await withAdmin(adminUrl, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [LOCK])
    await ensureRole(admin, 'baton_owner', undefined)
    await ensureRole(admin, 'baton_app', appPassword)
    await ensureRole(admin, TENANT_ROLE, undefined)
    // It becomes that role where it says so, and has none of its rights or policies until then.
    await admin.query(`grant ${TENANT_ROLE} to baton_app with inherit false, set true`)
    await ensureDatabase(admin, database, { roles: ['baton_app'], creation: 'owner baton_owner' })
  })
  const url = locateDatabase(adminUrl, { database })
  await withAdmin(url, grantToApp)
  const folder = new URL('../migrations/', import.meta.url)
  const applied = await applyMigrations({ url, folder, name: 'operational', role: 'baton_owner' })
  // What was applied is nobody's to change but the migrator's. One at a time: Postgres fails the second of two such changes.
  await withAdmin(url, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [LOCK])
    await admin.query('revoke all on kysely_migration, kysely_migration_lock from baton_app')
  })
  return applied
}

// Advisory locks belong to one database, so the new one is locked for itself.
async function grantToApp(admin: Admin): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [LOCK])
  await admin.query('revoke all on schema public from public')
  await admin.query('grant usage on schema public to baton_app')
  await admin.query(
    'alter default privileges for role baton_owner grant select, insert, update, delete on tables to baton_app',
  )
}
