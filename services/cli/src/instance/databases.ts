// The two databases of an instance and who connects to them as what: embedded ones, or given ones.
import { join } from 'node:path'
import { openColdStore } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import { startPostgres } from '@baton/embedded'
import { permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { CliSettings, Context } from '../context.ts'
import { coldFolderOf, ensureArchiveKeys } from './archive-keys.ts'
import type { ArchiveKeys } from './archive-keys.ts'
import { ensureErasureKeys } from './erasure-keys.ts'
import type { ErasureKeys } from './erasure-keys.ts'
import { ensureSealKeys, publicHalf, readSealKeys, sealFiles } from './seal-keys.ts'
import type { SealKeys } from './seal-keys.ts'
import { ensureSecrets, readGivenSecrets, readSecrets } from './secrets.ts'
import type { ReadingSecrets, Secrets } from './secrets.ts'

/** Databases as commands reach them that only read. Each URL is of the one role its user may be. */
export interface ReadableDatabases {
  /** Words for a person: which Postgres this is. */
  readonly description: string
  readonly secrets: ReadingSecrets
  readonly urls: { readonly app: string; readonly auditReader: string; readonly vault: string }
  /** Who seals the audit log, and the file to which its seals are anchored. */
  readonly seals: { readonly publicKey: string | undefined; readonly anchorFile: string }
  /** Where records stand that are not in the audit database any more. */
  readonly cold: ColdStore | undefined
  /** Embedded Postgres stops when no other command uses it. */
  stop(): Promise<void>
}

/** Databases with everything that services and migrations need. */
export interface Databases extends ReadableDatabases {
  readonly secrets: Secrets
  readonly sealKeys: SealKeys
  readonly archiveKeys: ArchiveKeys
  readonly erasureKeys: ErasureKeys
  readonly urls: ReadableDatabases['urls'] & {
    readonly auditWriter: string
    readonly auditSealer: string
    readonly auditArchiver: string
    readonly auditEraser: string
  }
  readonly adminUrls: AdminUrls
}

interface AdminUrls {
  readonly operational: string
  readonly audit: string
}

/** Reaches the databases; makes secrets and starts the embedded Postgres where none are given. Does not migrate. */
export async function openDatabases(context: Context, logger: Logger): Promise<Databases> {
  const { home, settings, output } = context
  const { secrets, made } = await ensureSecrets(home, settings)
  if (made)
    output.step('passed', 'secrets', `made in ${join(home, 'secrets')}, for development only`)
  const sealKeys = await ensureSealKeys(home)
  const archiveKeys = await ensureArchiveKeys(home)
  const erasureKeys = await ensureErasureKeys(home)
  const [seals, cold] = [sealsOf(context, sealKeys), coldOf(context)]
  // Last: whatever fails above leaves no Postgres running.
  const { adminUrls, ...server } = await reachServer(context, logger)
  const auditAs = (user: string, password: string): string =>
    urlFor(adminUrls.audit, { user, password, database: 'baton_audit' })
  const urls = {
    ...readingUrls(settings, adminUrls, secrets),
    auditWriter: auditAs('audit_writer', secrets.BATON_AUDIT_WRITER_PASSWORD),
    auditSealer: auditAs('audit_sealer', sealKeys.sealerPassword),
    auditArchiver: auditAs('audit_archiver', archiveKeys.archiverPassword),
    auditEraser: auditAs('audit_eraser', erasureKeys.eraserPassword),
  }
  return {
    ...server,
    secrets,
    sealKeys,
    archiveKeys,
    erasureKeys,
    seals,
    cold,
    urls,
    adminUrls,
  }
}

/**
 * Reaches the databases of an existing instance, or given ones with secrets from the environment
 * alone. Throws BATON_INSTANCE_MISSING where there is neither.
 */
export async function reachDatabases(context: Context, logger: Logger): Promise<ReadableDatabases> {
  const secrets = await secretsToRead(context)
  const seals = sealsOf(context, await readSealKeys(context.home))
  const cold = coldOf(context)
  const { adminUrls, ...server } = await reachServer(context, logger)
  const urls = readingUrls(context.settings, adminUrls, secrets)
  return { ...server, secrets, seals, cold, urls }
}

/** Throws BATON_INSTANCE_MISSING where a command would make an empty instance only to find nothing in it. */
export async function requireInstance(context: Context): Promise<void> {
  if (context.settings.BATON_DATABASE_ADMIN_URL === undefined) await secretsToRead(context)
}

const sealsOf = ({ home, settings }: Context, keys: SealKeys | null) => ({
  publicKey:
    settings.BATON_SEAL_PUBLIC_KEY ?? (keys === null ? undefined : publicHalf(keys.sealing)),
  anchorFile: settings.BATON_SEAL_ANCHOR_FILE ?? sealFiles(home).anchor,
})

const coldOf = ({ home, settings }: Context): ColdStore | undefined =>
  openColdStore({ ...settings, BATON_COLD_FOLDER: coldFolderOf(settings, home) })

async function secretsToRead({ home, settings }: Context): Promise<ReadingSecrets> {
  const isGiven = settings.BATON_DATABASE_ADMIN_URL !== undefined
  const secrets =
    (await readSecrets(home, settings)) ?? (isGiven ? readGivenSecrets(settings) : null)
  if (secrets !== null) return secrets
  throw permanent('BATON_INSTANCE_MISSING', `there is no Baton instance in ${home}`, {
    fix: 'Make one with `npm run up -- --once`, or name another folder with --home.',
  })
}

async function reachServer({ home, settings, output }: Context, logger: Logger) {
  const given = settings.BATON_DATABASE_ADMIN_URL
  const adminUrlsOn = (operational: string): AdminUrls => ({
    operational,
    audit: settings.BATON_AUDIT_ADMIN_URL ?? operational,
  })
  if (given !== undefined) {
    const description = `Postgres at ${new URL(given).host}`
    return { description, adminUrls: adminUrlsOn(given), stop: async () => undefined }
  }
  const { superuserUrl, stop } = await startPostgres({
    dataDir: join(home, 'pg'),
    tell: (words) => output.words(words),
    logger,
  })
  return { description: 'embedded Postgres', adminUrls: adminUrlsOn(superuserUrl), stop }
}

function readingUrls(
  settings: CliSettings,
  { operational, audit }: AdminUrls,
  secrets: ReadingSecrets,
): ReadableDatabases['urls'] {
  const app = { user: 'baton_app', password: secrets.BATON_APP_PASSWORD }
  const reader = { user: 'audit_reader', password: secrets.BATON_AUDIT_READER_PASSWORD }
  const keeper = { user: 'vault_keeper', password: secrets.BATON_VAULT_PASSWORD }
  return {
    app: urlFor(operational, { ...app, database: settings.BATON_DATABASE_NAME }),
    auditReader: urlFor(audit, { ...reader, database: 'baton_audit' }),
    vault: urlFor(audit, { ...keeper, database: 'baton_vault' }),
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
