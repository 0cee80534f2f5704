// A whole Baton of its own for a test: databases, keys, and every service as a process that can be killed.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { AuditUrls } from '@baton/audit'
import { freePort } from '@baton/embedded'
import { prepareLedgerServices } from './ledger-services.ts'
import type { LedgerServices } from './ledger-services.ts'
import { createAuditDatabases, createStoreDatabase, PASSWORDS } from './migrated-databases.ts'
import { uniqueDatabaseName, uniqueName } from './names.ts'
import { PEOPLE } from './people.ts'
import { spawnService } from './service-process.ts'
import type { ServiceProcess } from './service-process.ts'

type Keeper = keyof LedgerServices['environments']
/** Sealer, witness and archiver only in a system with a `ledgerFolder`. */
export type ServiceName = 'auditor' | 'relay' | 'receiver' | 'gateway' | Keeper
type Environment = Readonly<Record<string, string>>

interface SystemOptions {
  readonly purpose: string
  /** Superuser URL of the cluster that gets the databases. */
  readonly adminUrl: string
  /** Of the one that gets the log and its vault, where that is another. */
  readonly auditAdminUrl?: string
  /** Without it the receiver relays in its own process and there is no relay. */
  readonly redisUrl?: string
  /** Module that exports `agents`, relative to the checkout. */
  readonly agents: string
  /** Brings empty servers to the schema of another version; by default the databases are those of this one. */
  readonly migrate?: (databases: DatabaseNames) => Promise<AuditUrls>
  /** Where sealer, witness and archiver write; the auditor then stops appends that nobody seals. */
  readonly ledgerFolder?: string
  /** Added to every service's environment. */
  readonly env?: Environment
  /** Added to the environment of one service. */
  readonly envOf?: Partial<Readonly<Record<ServiceName, Environment>>>
}

interface DatabaseNames {
  readonly store: string
  readonly audit: string
  readonly vault: string
}

export interface System {
  /** As `baton_gateway`. */
  readonly databaseUrl: string
  /** As `baton_delivery`: for senders, relays and receivers. */
  readonly deliveryUrl: string
  /** Superuser URLs of the databases, for looking and for tampering. */
  readonly adminUrls: { readonly store: string; readonly audit: string }
  readonly auditUrls: Pick<AuditUrls, 'writer' | 'reader' | 'vault' | 'eraser'>
  readonly auditorUrl: string
  readonly tokens: { readonly append: string; readonly read: string; readonly erase: string }
  /** Undefined without a `ledgerFolder`. */
  readonly ledger: Pick<LedgerServices, 'files' | 'keys'> | undefined
  /** What every service is given; a test's own process may use it too. */
  readonly env: Environment
  /** Everything that one service is given, for a test that starts it by itself. */
  environmentOf(name: ServiceName): Environment
  /** Starts a service and waits until it is ready; `name` may run several times, each by the code of a checkout. */
  start(name: ServiceName, env?: Environment, root?: string): Promise<ServiceProcess>
  /** Stops everything that still runs. */
  stop(): Promise<void>
}

/** What the agents of tests read of their environment. */
const READ_BY_AGENTS = 'BATON_TEST_LEDGER,BATON_TEST_WORK_MS,BATON_CHAOS_FOLDER'

/** A machine may have a whole campaign to start at once. */
const START_MAX_MS = 90_000

const token = (): string => randomBytes(24).toString('hex')

/** Creates and migrates the databases; services are started one by one with `start`. */
export async function createSystem(options: SystemOptions): Promise<System> {
  const { purpose, adminUrl, auditAdminUrl = adminUrl } = options
  const database = uniqueDatabaseName(purpose)
  const databases = { audit: `${database}_audit`, vault: `${database}_vault` }
  const { migrate = migratedCopies(adminUrl, auditAdminUrl) } = options
  const urls = await migrate({ store: database, ...databases })
  const auditorPort = await freePort()
  const tokens = { append: token(), read: token(), erase: token() }
  const urlAs = (role: 'gateway' | 'delivery') =>
    urlOf(adminUrl, { database, user: `baton_${role}`, password: PASSWORDS[role] })
  const env: Environment = {
    BATON_DATABASE_URL: urlAs('delivery'),
    BATON_AUDIT_URL: `http://127.0.0.1:${auditorPort}`,
    BATON_AUDIT_APPEND_TOKEN: tokens.append,
    BATON_AUDIT_READ_TOKEN: tokens.read,
    BATON_AUDIT_ERASE_TOKEN: tokens.erase,
    BATON_PEOPLE: PEOPLE.setting,
    BATON_SIGNING_KEYS: `k1:active:${randomBytes(32).toString('base64')}`,
    BATON_AGENTS: options.agents,
    BATON_AGENTS_SETTINGS: READ_BY_AGENTS,
    BATON_QUEUE_PREFIX: uniqueName(purpose),
    BATON_LOG_LEVEL: 'info',
    ...(options.redisUrl === undefined ? {} : { BATON_REDIS_URL: options.redisUrl }),
    ...options.env,
  }
  const batchKey = batchSigningKey()
  const ledger =
    options.ledgerFolder === undefined
      ? undefined
      : await prepareLedgerServices({
          folder: options.ledgerFolder,
          urls,
          auditorUrl: env['BATON_AUDIT_URL'] ?? '',
          batchKey,
          witnessPort: await freePort(),
        })
  const auditorEnv = { ...auditorEnvironment(urls, auditorPort, batchKey), ...ledger?.auditor }
  const commonOf = (name: ServiceName): Environment => {
    if (name === 'auditor') return { ...env, ...auditorEnv }
    if (name === 'gateway') return { ...env, BATON_DATABASE_URL: urlAs('gateway'), ...options.env }
    if (!isKeeper(name)) return env
    if (ledger === undefined) throw new Error(`a system without a ledgerFolder has no ${name}`)
    return { ...ledger.environments[name], ...options.env }
  }
  const environmentOf = (name: ServiceName): Environment => ({
    ...commonOf(name),
    ...options.envOf?.[name],
  })
  const running: ServiceProcess[] = []
  return {
    databaseUrl: urlAs('gateway'),
    deliveryUrl: urlAs('delivery'),
    adminUrls: {
      store: urlOf(adminUrl, { database }),
      audit: urlOf(auditAdminUrl, { database: databases.audit }),
    },
    auditUrls: urls,
    auditorUrl: `http://127.0.0.1:${auditorPort}`,
    tokens,
    ledger,
    env,
    environmentOf,
    async start(name, extra = {}, root?: string) {
      const service = await spawnService({
        main: `services/${name}/src/main.ts`,
        root,
        readyMaxMs: START_MAX_MS,
        env: { ...environmentOf(name), ...extra },
      })
      running.push(service)
      return service
    },
    async stop() {
      await Promise.all(running.toReversed().map((service) => service.stop()))
    },
  }
}

const migratedCopies =
  (adminUrl: string, auditAdminUrl: string) =>
  async ({ store, ...databases }: DatabaseNames): Promise<AuditUrls> => {
    const [urls] = await Promise.all([
      createAuditDatabases(auditAdminUrl, databases),
      createStoreDatabase(adminUrl, store),
    ])
    return urls
  }

const isKeeper = (name: ServiceName): name is Keeper =>
  name === 'sealer' || name === 'witness' || name === 'archiver'

const batchSigningKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

function auditorEnvironment(urls: AuditUrls, port: number, batchKey: string): Environment {
  return {
    BATON_AUDIT_WRITER_URL: urls.writer,
    BATON_AUDIT_READER_URL: urls.reader,
    BATON_VAULT_URL: urls.vault,
    BATON_AUDIT_ERASER_URL: urls.eraser,
    BATON_AUDIT_SIGNING_KEY: batchKey,
    BATON_AUDIT_WRAPPING_KEY: randomBytes(32).toString('base64'),
    BATON_AUDIT_LOOKUP_KEY: randomBytes(32).toString('base64'),
    BATON_AUDITOR_PORT: String(port),
    BATON_ALLOW_UNSEALED: '1',
  }
}

function urlOf(
  adminUrl: string,
  parts: { database: string; user?: string; password?: string },
): string {
  const url = new URL(adminUrl)
  url.pathname = `/${parts.database}`
  if (parts.user !== undefined) url.username = parts.user
  if (parts.password !== undefined) url.password = parts.password
  return url.href
}
