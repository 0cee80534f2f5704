// What each service of an instance is told: its own settings and no other service's secrets.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { ROOT } from '../context.ts'
import type { Environment } from '../context.ts'
import { coldFolderOf } from './archive-keys.ts'
import type { Databases } from './databases.ts'
import { PEOPLE, SCOPES_OF } from './people.ts'
import type { PeopleKeys } from './people.ts'
import type { SealSettings } from './prepare-seals.ts'
import type { Queue } from './queue.ts'

export interface Ports {
  readonly gateway: number
  readonly auditor: number
  readonly witness: number
}

/** The agents that an instance hosts: the contract review. */
const AGENTS = join(ROOT, 'examples', 'contract-review', 'src', 'index.ts')
/** Short, because the one agent that fails on purpose should not hold up the main job. */
const RETRY_BASE_MS = '200'

/** Environments by the folder of the service under `services/`. */
export function serviceSettings(parts: {
  readonly environment: Environment
  readonly home: string
  readonly databases: Databases
  readonly people: PeopleKeys
  readonly queue: Queue
  readonly ports: Ports
  readonly seals: SealSettings
}): ReadonlyMap<string, Environment> {
  const { environment, queue } = parts
  const own = ownSettings(parts)
  const relay = queue.kind === 'redis' ? ['relay'] : []
  const services = ['gateway', ...relay, 'receiver', 'auditor', 'sealer', 'archiver', 'witness']
  return new Map(services.map((name) => [name, { ...withoutSecrets(environment), ...own[name] }]))
}

function ownSettings(parts: Parameters<typeof serviceSettings>[0]) {
  const { databases, queue, ports } = parts
  const { secrets, urls } = databases
  const delivery = {
    BATON_DATABASE_URL: urls.app,
    BATON_REDIS_URL: queue.redisUrl ?? '',
    BATON_AUDIT_URL: `http://127.0.0.1:${ports.auditor}`,
    BATON_AUDIT_APPEND_TOKEN: secrets.BATON_AUDIT_APPEND_TOKEN,
    BATON_SIGNING_KEYS: secrets.BATON_SIGNING_KEYS,
    BATON_OPS_PORT: '0',
  }
  const settings: Readonly<Record<string, Environment>> = {
    relay: delivery,
    receiver: {
      ...languageModel(parts.environment),
      BATON_RETRY_BASE_MS: RETRY_BASE_MS,
      ...delivery,
      BATON_AGENTS: AGENTS,
    },
    gateway: gatewaySettings(parts, delivery),
    sealer: parts.seals.sealer,
    witness: parts.seals.witness,
    archiver: archiverSettings(parts, delivery),
    auditor: {
      ...parts.seals.auditor,
      ...coldStore(parts),
      BATON_AUDIT_ARCHIVE_TOKEN: databases.archiveKeys.archiveToken,
      BATON_AUDIT_HOLD_TOKEN: databases.archiveKeys.holdToken,
      BATON_AUDIT_WRITER_URL: urls.auditWriter,
      BATON_AUDIT_READER_URL: urls.auditReader,
      BATON_VAULT_URL: urls.vault,
      BATON_AUDIT_ERASER_URL: urls.auditEraser,
      BATON_AUDIT_ERASE_TOKEN: databases.erasureKeys.eraseToken,
      BATON_AUDIT_APPEND_TOKEN: secrets.BATON_AUDIT_APPEND_TOKEN,
      BATON_AUDIT_READ_TOKEN: secrets.BATON_AUDIT_READ_TOKEN,
      BATON_AUDIT_SIGNING_KEY: secrets.BATON_AUDIT_SIGNING_KEY,
      BATON_AUDIT_TRUSTED_KEYS: parts.environment['BATON_AUDIT_TRUSTED_KEYS'],
      BATON_AUDIT_WRAPPING_KEY: secrets.BATON_AUDIT_WRAPPING_KEY,
      BATON_AUDIT_LOOKUP_KEY: secrets.BATON_AUDIT_LOOKUP_KEY,
      BATON_AUDITOR_PORT: String(ports.auditor),
      BATON_OPS_PORT: '0',
    },
  }
  return settings
}

function gatewaySettings(
  { environment, databases, people, ports }: Parameters<typeof serviceSettings>[0],
  delivery: Environment,
): Environment {
  const { secrets } = databases
  return {
    ...delivery,
    BATON_AUDIT_READ_TOKEN: secrets.BATON_AUDIT_READ_TOKEN,
    BATON_AUDIT_ERASE_TOKEN: databases.erasureKeys.eraseToken,
    BATON_API_KEYS: environment['BATON_API_KEYS'] || apiKeyEntries(secrets.BATON_API_KEY, people),
    BATON_GATEWAY_PORT: String(ports.gateway),
  }
}

const archiverSettings = (
  parts: Parameters<typeof serviceSettings>[0],
  { BATON_AUDIT_URL }: Environment,
): Environment => ({
  BATON_SEAL_PUBLIC_KEY: parts.seals.auditor['BATON_SEAL_PUBLIC_KEY'],
  ...coldStore(parts),
  BATON_AUDIT_URL,
  BATON_AUDIT_ARCHIVE_TOKEN: parts.databases.archiveKeys.archiveToken,
  BATON_AUDIT_ARCHIVER_URL: parts.databases.urls.auditArchiver,
  BATON_OPS_PORT: '0',
})

/** Whatever else is said of the cold store stands in the environment. */
const coldStore = ({
  environment,
  home,
}: Pick<Parameters<typeof serviceSettings>[0], 'environment' | 'home'>): Environment => ({
  BATON_COLD_FOLDER: coldFolderOf(
    {
      BATON_COLD_FOLDER: environment['BATON_COLD_FOLDER'],
      BATON_COLD_S3_BUCKET: environment['BATON_COLD_S3_BUCKET'],
    },
    home,
  ),
})

const PROGRAM_SCOPES = 'handoffs:send+handoffs:read+handoffs:return+metrics:read'

// Programs act for the operator: what they send, the operator cannot release.
const apiKeyEntries = (programs: string, people: PeopleKeys): string =>
  [
    apiKeyEntry(programs, { operator: 'operator', scopes: PROGRAM_SCOPES }),
    ...PEOPLE.map((name) => apiKeyEntry(people[name], { operator: name, scopes: SCOPES_OF[name] })),
  ].join(',')

// The gateway keeps a digest; the key itself stays with the caller.
function apiKeyEntry(
  key: string,
  { operator, scopes }: { readonly operator: string; readonly scopes: string },
): string {
  const id = key.split('_', 2)[1] ?? ''
  return `${id}@${operator}:${scopes}:${hash('sha256', key)}`
}

/** Where the agents reach a language model, and with which key. */
const languageModel = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => /^BATON_LLM_[A-Z_]+$/.test(name)),
  )

/** Everything but Baton's own secrets and addresses is passed on: PATH, proxies, log level. */
function withoutSecrets(environment: Environment): Environment {
  const kept = Object.entries(environment).filter(
    ([name]) =>
      !/^BATON_(?:.*_(?:PASSWORD|TOKEN|KEY|KEYS|URL)|HOME)$/.test(name) ||
      name === 'BATON_OTLP_URL',
  )
  return Object.fromEntries(kept)
}
