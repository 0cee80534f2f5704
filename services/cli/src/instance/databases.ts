// The two databases of an instance and who connects to them as what: embedded ones, or given ones.
import { join } from 'node:path'
import { startPostgres } from '@baton/infra'
import { permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Context } from '../context.ts'
import { ensureSecrets, readSecrets } from './secrets.ts'
import type { Secrets } from './secrets.ts'

/** Connection URLs, each of the one role that its user may be. */
export interface DatabaseUrls {
  readonly app: string
  readonly auditWriter: string
  readonly auditReader: string
  readonly vault: string
}

export interface Databases {
  /** Words for a person: which Postgres this is. */
  readonly description: string
  readonly secrets: Secrets
  readonly urls: DatabaseUrls
  readonly adminUrls: { readonly operational: string; readonly audit: string }
  /** Embedded Postgres stops when no other command uses it. */
  stop(): Promise<void>
}

interface OpenOptions {
  readonly logger: Logger
  /** Make secrets and data when there are none; otherwise that is BATON_INSTANCE_MISSING. */
  readonly create: boolean
}

/** Reaches the databases, starting the embedded Postgres where none is given. Does not migrate. */
export async function openDatabases(context: Context, options: OpenOptions): Promise<Databases> {
  const secrets = await secretsFor(context, options.create)
  const { BATON_DATABASE_ADMIN_URL: given } = context.settings
  if (given !== undefined)
    return databasesOn(given, { context, secrets, stop: async () => undefined })
  const { superuserUrl, stop } = await startPostgres({
    dataDir: join(context.home, 'pg'),
    logger: options.logger,
  })
  return databasesOn(superuserUrl, { context, secrets, stop })
}

async function secretsFor(
  { home, environment, output }: Context,
  create: boolean,
): Promise<Secrets> {
  if (create) {
    const { secrets, made } = await ensureSecrets(home, environment)
    if (made)
      output.step('passed', 'secrets', `made in ${join(home, 'secrets')}, for development only`)
    return secrets
  }
  const secrets = await readSecrets(home, environment)
  if (secrets !== null) return secrets
  throw permanent('BATON_INSTANCE_MISSING', `there is no Baton instance in ${home}`, {
    fix: 'Make one with `npm run up -- --once`, or name another folder with --home.',
  })
}

interface Parts {
  readonly context: Context
  readonly secrets: Secrets
  stop(): Promise<void>
}

function databasesOn(operational: string, { context, secrets, stop }: Parts): Databases {
  const { settings } = context
  const audit = settings.BATON_AUDIT_ADMIN_URL ?? operational
  const embedded = settings.BATON_DATABASE_ADMIN_URL === undefined
  const reader = { user: 'audit_reader', password: secrets.BATON_AUDIT_READER_PASSWORD }
  const writer = { user: 'audit_writer', password: secrets.BATON_AUDIT_WRITER_PASSWORD }
  const keeper = { user: 'vault_keeper', password: secrets.BATON_VAULT_PASSWORD }
  const app = { user: 'baton_app', password: secrets.BATON_APP_PASSWORD }
  return {
    description: embedded ? 'embedded Postgres' : `Postgres at ${new URL(operational).host}`,
    secrets,
    urls: {
      app: urlFor(operational, { ...app, database: settings.BATON_DATABASE_NAME }),
      auditWriter: urlFor(audit, { ...writer, database: 'baton_audit' }),
      auditReader: urlFor(audit, { ...reader, database: 'baton_audit' }),
      vault: urlFor(audit, { ...keeper, database: 'baton_vault' }),
    },
    adminUrls: { operational, audit },
    stop,
  }
}

function urlFor(
  adminUrl: string,
  target: { readonly user: string; readonly password: string; readonly database: string },
): string {
  const url = new URL(adminUrl)
  url.username = target.user
  url.password = encodeURIComponent(target.password)
  url.pathname = `/${target.database}`
  return url.href
}
