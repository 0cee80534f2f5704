// Brings the databases of an instance to the current schema; safe to run at every start.
import { migrateAudit } from '@baton/audit'
import { BatonError, permanent } from '@baton/runtime'
import { migrateStore } from '@baton/store'
import type { CliSettings } from '../context.ts'
import type { Databases } from './databases.ts'

/** Names of the migrations applied now; empty when all were applied before. Throws BATON_MIGRATION_FAILED. */
export async function migrateDatabases(
  databases: Databases,
  settings: CliSettings,
): Promise<readonly string[]> {
  try {
    return await migrateBoth(databases, settings)
  } catch (cause) {
    if (cause instanceof BatonError) throw cause
    throw permanent('BATON_MIGRATION_FAILED', 'the databases could not be prepared', {
      cause,
      fix: 'Check BATON_DATABASE_ADMIN_URL: it must name a superuser of a Postgres that answers.',
    })
  }
}

async function migrateBoth(
  { adminUrls, secrets, sealKeys, archiveKeys, erasureKeys }: Databases,
  settings: CliSettings,
): Promise<readonly string[]> {
  const [store, audit] = await Promise.all([
    migrateStore({
      adminUrl: adminUrls.operational,
      database: settings.BATON_DATABASE_NAME,
      appPassword: secrets.BATON_APP_PASSWORD,
    }),
    migrateAudit(adminUrls.audit, {
      passwords: {
        writer: secrets.BATON_AUDIT_WRITER_PASSWORD,
        reader: secrets.BATON_AUDIT_READER_PASSWORD,
        vault: secrets.BATON_VAULT_PASSWORD,
        sealer: sealKeys.sealerPassword,
        archiver: archiveKeys.archiverPassword,
        eraser: erasureKeys.eraserPassword,
      },
      log: { environment: settings.BATON_ENVIRONMENT },
    }),
  ])
  return [...store.map((name) => `store/${name}`), ...audit.applied]
}
