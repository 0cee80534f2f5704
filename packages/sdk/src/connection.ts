// How a program joins a running Baton: what `baton env` printed into its environment, read as options.
import { AUDIT_CLIENT_SETTINGS, PLACE_SETTINGS, QUEUE_SETTINGS } from '@baton/engine'
import { SIGNING_SETTINGS, STORE_SETTINGS, TENANT_SETTINGS } from '@baton/engine'
import { parsePeople } from '@baton/ledger'
import {
  createLogger,
  PEOPLE_SETTINGS,
  permanent,
  PROCESS_SETTINGS,
  readSettings,
  readTls,
  secureDatabaseUrls,
  TLS_SETTINGS,
} from '@baton/runtime'
import type { Logger, Settings } from '@baton/runtime'
import type { SenderOptions } from './sender.ts'
import { parseSigningKeys } from './signing-keys.ts'
import type { WorkerOptions } from './worker.ts'

type Environment = Readonly<Record<string, string | undefined>>

const SENDING = {
  ...STORE_SETTINGS,
  ...PLACE_SETTINGS,
  ...TENANT_SETTINGS,
  ...TLS_SETTINGS,
  BATON_SIGNING_KEYS: SIGNING_SETTINGS.BATON_SIGNING_KEYS,
  /** A program has other things to say than every step of its worker. */
  BATON_LOG_LEVEL: { ...PROCESS_SETTINGS.BATON_LOG_LEVEL, default: 'warn' as const },
}

const WORKING = {
  ...SENDING,
  ...QUEUE_SETTINGS,
  ...AUDIT_CLIENT_SETTINGS,
  ...PEOPLE_SETTINGS,
}

type SenderConnection = Required<
  Pick<SenderOptions, 'databaseUrl' | 'keyRing' | 'jurisdiction' | 'tenant' | 'tls' | 'logger'>
>

/**
 * What `createSender` needs, from variables as `baton env` prints them; secrets may stand in files. Throws
 * BATON_CONNECTION_MISSING where none of them is there, and BATON_SETTINGS_INVALID that names all that are wrong.
 */
export function readSenderOptions(environment: Environment): SenderConnection {
  requireAny(environment)
  return sendingOf(secureDatabaseUrls(readSettings(SENDING, environment)))
}

interface WorkerConnection
  extends Omit<SenderConnection, 'tenant'>, Required<Pick<WorkerOptions, 'people' | 'audit'>> {
  /** What `openTransport` takes. */
  readonly queue: Readonly<{
    redisUrl: string | undefined
    prefix: string
    tls: SenderConnection['tls']
    logger: Logger
  }>
}

/** What `createWorker` needs besides its agents and the transport that `openTransport(queue)` opens; as `readSenderOptions`. */
export function readWorkerOptions(environment: Environment): WorkerConnection {
  requireAny(environment)
  const settings = secureDatabaseUrls(readSettings(WORKING, environment))
  const { tenant: _, ...sending } = sendingOf(settings)
  const { tls, logger } = sending
  return {
    ...sending,
    people: parsePeople(settings.BATON_PEOPLE ?? ''),
    audit: { url: settings.BATON_AUDIT_URL, token: settings.BATON_AUDIT_APPEND_TOKEN },
    queue: {
      redisUrl: settings.BATON_REDIS_URL,
      prefix: settings.BATON_QUEUE_PREFIX,
      tls,
      logger,
    },
  }
}

const sendingOf = (settings: Settings<typeof SENDING>): SenderConnection => ({
  databaseUrl: settings.BATON_DATABASE_URL,
  keyRing: parseSigningKeys(settings.BATON_SIGNING_KEYS),
  jurisdiction: settings.BATON_JURISDICTION,
  tenant: settings.BATON_TENANT,
  tls: readTls(settings),
  logger: createLogger({ service: 'program', level: settings.BATON_LOG_LEVEL }),
})

function requireAny(environment: Environment): void {
  const names = ['BATON_DATABASE_URL', 'BATON_SIGNING_KEYS']
  if (names.some((name) => environment[name] || environment[`${name}_FILE`])) return
  throw permanent('BATON_CONNECTION_MISSING', 'the environment names no Baton', {
    fix: 'Start one (`npm run up` in its folder), and in the shell of this program run: eval "$(npm --prefix FOLDER_OF_BATON run --silent baton -- env)"',
  })
}
