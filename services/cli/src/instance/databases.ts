// The two databases of an instance and who connects to them as what: embedded ones, or given ones.
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { auditMigrations, migrateAudit, openColdStore, planAudit } from '@baton/audit'
import type { ColdStore, SealWatchSettings } from '@baton/audit'
import { startPostgres } from '@baton/embedded'
import type { RunningPostgres } from '@baton/embedded'
import { recordMigrations } from '@baton/engine'
import type { Administrator } from '@baton/engine'
import { BatonError, namesOfServers, permanent, readTls, secureDatabaseUrls } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createPool, migrateStore, planStore, storeMigrations } from '@baton/store'
import type { PlannedMigration, Pool } from '@baton/store'
import { openLog } from '../context.ts'
import type { CliSettings, Context } from '../context.ts'
import { openAuditReader } from './audit-reader.ts'
import { clearLeftoversOnce } from './leftovers.ts'
import type { AuditReader } from './audit-reader.ts'
import { serverTls } from './instance-tls.ts'
import { sealFiles } from './seal-files.ts'
import { publicHalf } from './seals.ts'
import { refuseWhileRestored } from './unfinished-restore.ts'
import { ensureSecrets, readGivenSecrets, readSecrets, readStored } from './secrets.ts'
import type { ReadingSecrets, Secrets } from './secrets.ts'
import { whenAnswering } from './when-answering.ts'

/** Databases as commands reach them that only read. Each URL is of the one role its user may be. */
export interface ReadableDatabases {
  /** Words for a person: which Postgres this is. */
  readonly description: string
  readonly secrets: ReadingSecrets
  readonly urls: {
    /** The operational database as commands read it: as the gateway's role, or `baton_app` where that is not there yet. */
    readonly gateway: string
    readonly auditReader: string
    readonly vault: string
  }
  /** Who seals the audit log, and where its seals can be asked for. */
  readonly seals: { readonly publicKey: string | undefined; readonly watch: SealWatchSettings }
  /** Where records stand that are not in the audit database any more. */
  readonly cold: ColdStore | undefined
  /** Embedded Postgres is started again when it dies. */
  readonly supervise?: RunningPostgres['supervise']
  /** Embedded Postgres stops when no other command uses it. */
  stop(): Promise<void>
}

/** Databases with everything that services and migrations need. */
export interface Databases extends ReadableDatabases {
  readonly secrets: Secrets['development'] & Pick<ReadingSecrets, 'BATON_GATEWAY_PASSWORD'>
  /** All secrets of the instance. */
  readonly keys: Secrets
  readonly urls: ReadableDatabases['urls'] & {
    /** Of senders, relays and receivers. */
    readonly delivery: string
    readonly auditWriter: string
    readonly auditSealer: string
    readonly auditArchiver: string
    readonly auditEraser: string
  }
  /** Of superusers. */
  readonly adminUrls: AdminUrls
}

interface AdminUrls {
  readonly operational: string
  readonly audit: string
}

/** Reaches the databases; makes secrets and starts the embedded Postgres where none are given. Does not migrate. */
export async function openDatabases(context: Context, logger: Logger): Promise<Databases> {
  const { home, settings, output } = context
  if (!isGiven(settings)) await refuseWhileRestored(home)
  const { secrets: keys, made } = await ensureSecrets(home, settings)
  if (made)
    output.step('passed', 'secrets', `made in ${join(home, 'secrets')}, for development only`)
  const { development } = keys
  const roles = rolesOf(settings, keys)
  const secrets = { ...development, BATON_GATEWAY_PASSWORD: roles.BATON_GATEWAY_PASSWORD }
  const seals = sealsOf(context, keys.seals.sealing)
  const cold = coldOf(context)
  // Last: whatever fails above leaves no Postgres running.
  const { adminUrls, ...server } = await reachServer(context, logger)
  const auditAs = (user: string, password: string): string =>
    urlFor(adminUrls.audit, { user, password, database: 'baton_audit' })
  const urls = {
    ...readingUrls(settings, adminUrls, secrets),
    delivery: urlFor(adminUrls.operational, {
      ...userOf('baton_delivery', roles.BATON_DELIVERY_PASSWORD, secrets),
      database: settings.BATON_DATABASE_NAME,
    }),
    auditWriter: auditAs('audit_writer', secrets.BATON_AUDIT_WRITER_PASSWORD),
    auditSealer: auditAs('audit_sealer', keys.seals.sealerPassword),
    auditArchiver: auditAs('audit_archiver', keys.archive.archiverPassword),
    auditEraser: auditAs('audit_eraser', keys.erasure.eraserPassword),
  }
  return { ...server, secrets, keys, seals, cold, urls, adminUrls }
}

/**
 * Brings them to the current schema, and has it recorded; safe to run at every start. Databases that do not answer are waited
 * for. Answers the names of the migrations applied now. Throws BATON_MIGRATION_FAILED and BATON_MIGRATION_BLOCKED.
 */
export async function migrateDatabases(
  databases: Databases,
  context: Context,
): Promise<readonly string[]> {
  await whenAnswering(databases, context)
  const applied = await applyMigrations(databases, context.settings)
  const store = await storeMigrations()
  const migrations = [
    ...store.map((one) => ({ ...one, name: `store/${one.name}` })),
    ...(await auditMigrations()),
  ]
  const url = operationalAdminUrl(databases, context.settings)
  const admin = createPool({ url, applicationName: 'baton-cli', connectionsMax: 1 })
  try {
    await recordMigrations(admin, administratorOf(context), migrations)
  } finally {
    await admin.end()
  }
  return applied
}

/** What `migrateDatabases` would apply, and what that does to tables that are there. Changes nothing of them. */
export async function planDatabases(
  { adminUrls }: Databases,
  settings: CliSettings,
): Promise<readonly PlannedMigration[]> {
  const store = await planStore(adminUrls.operational, settings.BATON_DATABASE_NAME)
  const audit = await planAudit(adminUrls.audit)
  return [...store.map((one) => ({ ...one, name: `store/${one.name}` })), ...audit]
}

async function applyMigrations(
  { adminUrls, keys }: Databases,
  settings: CliSettings,
): Promise<readonly string[]> {
  const { development, seals, archive, erasure } = keys
  const roles = rolesOf(settings, keys)
  const isOwnServer = !isGiven(settings)
  try {
    const [store, audit] = await Promise.all([
      migrateStore({
        adminUrl: adminUrls.operational,
        database: settings.BATON_DATABASE_NAME,
        appPassword: settings.BATON_APP_LOGIN ? development.BATON_APP_PASSWORD : undefined,
        gatewayPassword: roles.BATON_GATEWAY_PASSWORD,
        deliveryPassword: roles.BATON_DELIVERY_PASSWORD,
        isOwnServer,
      }),
      migrateAudit(adminUrls.audit, {
        passwords: {
          writer: development.BATON_AUDIT_WRITER_PASSWORD,
          reader: development.BATON_AUDIT_READER_PASSWORD,
          vault: development.BATON_VAULT_PASSWORD,
          sealer: seals.sealerPassword,
          archiver: archive.archiverPassword,
          eraser: erasure.eraserPassword,
        },
        log: { environment: settings.BATON_ENVIRONMENT },
      }),
    ])
    return [...store.map((name) => `store/${name}`), ...audit.applied]
  } catch (cause) {
    if (cause instanceof BatonError) throw cause
    throw permanent('BATON_MIGRATION_FAILED', 'the databases could not be prepared', {
      cause,
      fix: 'Check BATON_DATABASE_ADMIN_URL: it must name a superuser of a Postgres that answers.',
    })
  }
}

/** The operational database as who owns it: for what no service may do. */
export const operationalAdminUrl = ({ adminUrls }: Databases, settings: CliSettings): string =>
  onDatabase(adminUrls.operational, settings.BATON_DATABASE_NAME)

function onDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

export interface OpenedDatabases {
  readonly databases: ReadableDatabases
  /** The operational database, as commands read it. */
  readonly pool: Pool
  readonly audit: AuditReader
}

/**
 * Runs `work` on the databases of an existing instance, or on given ones with secrets from the
 * environment alone, and lets go of them again. Connections are made on first use. Throws
 * BATON_INSTANCE_MISSING where there is nothing to read.
 */
export async function withDatabases<Result>(
  context: Context,
  work: (opened: OpenedDatabases) => Promise<Result>,
): Promise<Result> {
  return workOn(await reachDatabases(context), context, work)
}

async function workOn<Result>(
  databases: ReadableDatabases,
  { settings }: Context,
  work: (opened: OpenedDatabases) => Promise<Result>,
): Promise<Result> {
  const applicationName = 'baton-cli'
  const pool = createPool({ url: databases.urls.gateway, applicationName, connectionsMax: 2 })
  const audit = openAuditReader(databases, settings)
  try {
    return await work({ databases, pool, audit })
  } finally {
    await Promise.all([pool.end(), audit.close()])
    await databases.stop()
  }
}

/** A copy of the databases that stands beside them: reached as who owns it, and compared with what was copied with it. */
export interface DatabasesCopy {
  readonly servers: Servers
  readonly anchorFile: string | undefined
  readonly sealerState: string | undefined
  readonly cold: ColdStore | undefined
}

/** The same on such a copy, with the secrets of this instance. Nobody is asked who has seen what came after the copy. */
export async function withCopy<Result>(
  context: Context,
  { servers, anchorFile, sealerState, cold }: DatabasesCopy,
  work: (opened: OpenedDatabases) => Promise<Result>,
): Promise<Result> {
  const secrets = await secretsToRead(context)
  const { publicKey } = sealsOf(context, (await readStored(context.home, 'seals'))?.sealing)
  const watch = {
    ...context.settings,
    BATON_SEAL_S3_BUCKET: undefined,
    BATON_SEAL_POLICY_FILE: undefined,
    BATON_SEAL_ANCHOR_FILE: anchorFile,
    BATON_SEALER_STATE_FILE: sealerState,
  }
  const { description, operationalUrl, auditUrl, vaultUrl } = servers
  const urls = { gateway: operationalUrl, auditReader: auditUrl, vault: vaultUrl }
  const stop = async () => undefined
  const copy = { description, secrets, urls, seals: { publicKey, watch }, cold, stop }
  return workOn(copy, context, work)
}

async function reachDatabases(context: Context): Promise<ReadableDatabases> {
  const { home, settings } = context
  const secrets = await secretsToRead(context)
  await clearLeftoversOnce(context)
  const seals = sealsOf(context, (await readStored(home, 'seals'))?.sealing)
  const cold = coldOf(context)
  const { adminUrls, ...server } = await reachServer(context, openLog(home))
  return { ...server, secrets, seals, cold, urls: readingUrls(settings, adminUrls, secrets) }
}

export interface Servers {
  readonly description: string
  /** Of superusers, each on one of the databases that its server holds. */
  readonly operationalUrl: string
  readonly auditUrl: string
  readonly vaultUrl: string
}

/** Runs `work` as who owns the databases of an existing instance or of given servers; nothing else is opened. Throws BATON_INSTANCE_MISSING. */
export async function withServers<Result>(
  context: Context,
  work: (servers: Servers) => Promise<Result>,
): Promise<Result> {
  await requireInstance(context)
  const { adminUrls, description, stop } = await reachServer(context, openLog(context.home))
  try {
    return await work({
      description,
      operationalUrl: onDatabase(adminUrls.operational, context.settings.BATON_DATABASE_NAME),
      auditUrl: onDatabase(adminUrls.audit, 'baton_audit'),
      vaultUrl: onDatabase(adminUrls.audit, 'baton_vault'),
    })
  } finally {
    await stop()
  }
}

/** Throws BATON_INSTANCE_MISSING where a command would make an empty instance only to find nothing in it. */
export async function requireInstance(context: Context): Promise<void> {
  if (context.settings.BATON_DATABASE_ADMIN_URL === undefined) await secretsToRead(context)
}

/** What is named counts; where the instance has its own sealer, what is not named is that one's. */
function sealsOf({ home, settings }: Context, sealing: string | undefined) {
  const own = sealing === undefined ? undefined : sealFiles(home)
  const publicKey = settings.BATON_SEAL_PUBLIC_KEY ?? (sealing && publicHalf(sealing))
  const watch = {
    ...settings,
    BATON_SEAL_ANCHOR_FILE: settings.BATON_SEAL_ANCHOR_FILE ?? own?.anchor,
    BATON_SEAL_POLICY_FILE: settings.BATON_SEAL_POLICY_FILE ?? presentFile(own?.policy),
    BATON_SEALER_STATE_FILE: settings.BATON_SEALER_STATE_FILE ?? own?.state,
  }
  return { publicKey, watch }
}

/** The policy is written when the services are started first. */
const presentFile = (path: string | undefined): string | undefined =>
  path !== undefined && existsSync(path) ? path : undefined

export const coldOf = ({ home, settings }: Context): ColdStore | undefined =>
  openColdStore({ ...settings, BATON_COLD_FOLDER: coldFolderOf(settings, home) }, readTls(settings))

/** The folder of the cold store, where it is one: the one that is named, else one of the instance. */
export function coldFolderOf(
  settings: Readonly<Record<'BATON_COLD_FOLDER' | 'BATON_COLD_S3_BUCKET', string | undefined>>,
  home: string,
): string | undefined {
  const { BATON_COLD_FOLDER: folder, BATON_COLD_S3_BUCKET: bucket } = settings
  return folder || (bucket ? undefined : join(home, 'cold'))
}

async function secretsToRead({ home, settings }: Context): Promise<ReadingSecrets> {
  const isGiven = settings.BATON_DATABASE_ADMIN_URL !== undefined
  if (!isGiven) await refuseWhileRestored(home)
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
    const description = `Postgres at ${namesOfServers(given)}`
    return { description, adminUrls: adminUrlsOn(given), stop: async () => undefined }
  }
  const { superuserUrl, stop, supervise } = await startPostgres({
    dataDir: join(home, 'pg'),
    mayBeNew: !hasServed(home),
    tls: await serverTls(home, 'postgres'),
    tell: (words) => output.words(words),
    logger,
  })
  const { url } = secureDatabaseUrls({ ...settings, url: superuserUrl })
  return { description: 'embedded Postgres', adminUrls: adminUrlsOn(url), stop, supervise }
}

/** What only an instance with a database has made. Keys alone are there before the first database is. */
const hasServed = (home: string): boolean => {
  const { state, anchor } = sealFiles(home)
  return [state, anchor, join(home, 'cold')].some((path) => existsSync(path))
}

function readingUrls(
  settings: CliSettings,
  { operational, audit }: AdminUrls,
  secrets: ReadingSecrets,
): ReadableDatabases['urls'] {
  const own = isGiven(settings) ? settings.BATON_GATEWAY_PASSWORD : secrets.BATON_GATEWAY_PASSWORD
  const gateway = userOf('baton_gateway', own, secrets)
  const reader = { user: 'audit_reader', password: secrets.BATON_AUDIT_READER_PASSWORD }
  const keeper = { user: 'vault_keeper', password: secrets.BATON_VAULT_PASSWORD }
  return {
    gateway: urlFor(operational, { ...gateway, database: settings.BATON_DATABASE_NAME }),
    auditReader: urlFor(audit, { ...reader, database: 'baton_audit' }),
    vault: urlFor(audit, { ...keeper, database: 'baton_vault' }),
  }
}

const isGiven = ({ BATON_DATABASE_ADMIN_URL: url }: CliSettings): boolean => url !== undefined

/** An instance of one's own has made them; on a given server, roles are parted where both passwords are given. */
function rolesOf(
  settings: CliSettings,
  { roles }: Pick<Secrets, 'roles'>,
): Partial<Secrets['roles']> {
  const { BATON_GATEWAY_PASSWORD: gateway, BATON_DELIVERY_PASSWORD: delivery } = settings
  return isGiven(settings) && (gateway === undefined || delivery === undefined) ? {} : roles
}

/** A role with its password; where that is not there, the one that may do what all of them may. */
const userOf = (
  role: string,
  password: string | undefined,
  { BATON_APP_PASSWORD }: Pick<ReadingSecrets, 'BATON_APP_PASSWORD'>,
) =>
  password === undefined
    ? { user: 'baton_app', password: BATON_APP_PASSWORD ?? '' }
    : { user: role, password }

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

/** Who acts by a command: who was named, else whom this machine calls its user. */
export const administratorOf = ({ actAs = userName() }: Context): Administrator => ({
  actor: actAs,
})

/** In a container the user is often a number that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** As who owns the operational database: no service may do what these commands do. */
export async function asOwner<Result>(
  context: Context,
  work: (admin: Pool) => Promise<Result>,
): Promise<Result> {
  const databases = await openDatabases(context, openLog(context.home))
  const url = operationalAdminUrl(databases, context.settings)
  const admin = createPool({ url, applicationName: 'baton-cli', connectionsMax: 1 })
  try {
    return await work(admin)
  } finally {
    await admin.end()
    await databases.stop()
  }
}
