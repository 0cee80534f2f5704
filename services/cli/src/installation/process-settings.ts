// What each process of an installation is told: its own settings, and no other process's secrets.
import { join } from 'node:path'
import { isLoopback } from '@baton/runtime'
import type { Databases } from '../instance/databases.ts'
import { publicHalf } from '../instance/seals.ts'
import type { SealLog } from '../instance/seals.ts'
import { AGENTS, auditorKeys, auditorTokens } from '../instance/service-settings.ts'
import type { Secrets } from '../instance/secrets.ts'
import type { Plan, ProcessName } from './plan.ts'

export type Told = Readonly<Record<string, string | undefined>>

/** Who calls the gateway. */
export interface Caller {
  readonly operator: string
  /** As the gateway knows it: what the key opens, and its digest. */
  readonly entry: string
  /** Undefined where it was handed over, and lies here no more. */
  readonly key: string | undefined
}

export interface Known {
  readonly plan: Plan
  readonly keys: Secrets
  /** As processes reach them, each by its own role. */
  readonly urls: Pick<
    Databases['urls'],
    | 'gateway'
    | 'delivery'
    | 'auditWriter'
    | 'auditReader'
    | 'auditEraser'
    | 'auditSealer'
    | 'auditArchiver'
    | 'vault'
  >
  readonly log: SealLog
  readonly callers: readonly Caller[]
  /** BATON_PEOPLE. */
  readonly people: string
  /** The certificates of each, where everything is on TLS. */
  readonly tls: (name: string) => Told
}

/** Where each listens, counted from the first port; the witness has none for probes. */
const PORTS = { gateway: 0, auditor: 1, witness: 2, receiver: 16 }
const OPS_PORTS = { gateway: 10, relay: 11, receiver: 12, sealer: 13, archiver: 14, auditor: 15 }

/** Settings by process. */
export const processSettings = (known: Known): Readonly<Record<ProcessName, Told>> => ({
  ...deliverySettings(known),
  ...logSettings(known),
})

function deliverySettings(known: Known) {
  const { plan, keys, urls, people } = known
  const { development, erasure, calls, events } = keys
  const address = addressesOf(plan)
  const delivering = {
    BATON_DATABASE_URL: urls.delivery,
    BATON_REDIS_URL: plan.redisUrl,
    BATON_AUDIT_URL: address('auditor'),
    BATON_AUDIT_APPEND_TOKEN: development.BATON_AUDIT_APPEND_TOKEN,
  }
  return {
    gateway: {
      ...ofEvery(known, 'gateway'),
      ...delivering,
      BATON_DATABASE_URL: urls.gateway,
      BATON_SIGNING_KEYS: development.BATON_SIGNING_KEYS,
      BATON_AUDIT_READ_TOKEN: development.BATON_AUDIT_READ_TOKEN,
      BATON_AUDIT_ERASE_TOKEN: erasure.eraseToken,
      BATON_EVENT_SECRETS_KEY: events.secretsKey,
      BATON_API_KEYS: apiKeysOf(known),
      BATON_PEOPLE: people,
      BATON_SYNC_RECEIVERS: address('receiver'),
      BATON_SYNC_TOKEN: calls.syncToken,
      BATON_GATEWAY_HOST: listenOn(plan, 'gateway'),
      BATON_GATEWAY_PORT: portOf(plan, PORTS.gateway),
      BATON_TLS_CLIENTS: plan.isTls && plan.areClientsCertified ? 'certified' : undefined,
    },
    relay: { ...ofEvery(known, 'relay'), ...delivering },
    receiver: {
      ...ofEvery(known, 'receiver'),
      ...delivering,
      BATON_SIGNING_KEYS: development.BATON_SIGNING_KEYS,
      BATON_PEOPLE: people,
      BATON_RECEIVER_HOST: listenOn(plan, 'receiver'),
      BATON_RECEIVER_PORT: portOf(plan, PORTS.receiver),
      BATON_SYNC_TOKEN: calls.syncToken,
      ...(plan.agents === undefined ? AGENTS : { BATON_AGENTS: plan.agents }),
    },
  }
}

function logSettings(known: Known) {
  const { plan, keys, urls, log, people } = known
  const { seals, archive } = keys
  const cold = coldOf(plan)
  const watching = watchingOf(plan)
  return {
    auditor: {
      ...ofEvery(known, 'auditor'),
      ...cold,
      ...watching,
      BATON_AUDIT_WRITER_URL: urls.auditWriter,
      BATON_AUDIT_READER_URL: urls.auditReader,
      BATON_AUDIT_ERASER_URL: urls.auditEraser,
      BATON_VAULT_URL: urls.vault,
      ...auditorTokens(keys, {}),
      ...auditorKeys(keys, {}),
      BATON_ENVIRONMENT: plan.environment,
      BATON_SEAL_PUBLIC_KEY: publicHalf(seals.sealing),
      BATON_EVIDENCE_POLICY_FILE: policyFile(plan, 'auditor'),
      BATON_SEAL_POLICY_FILE: policyFile(plan, 'auditor'),
      BATON_PEOPLE: people,
      BATON_AUDITOR_HOST: listenOn(plan, 'auditor'),
      BATON_AUDITOR_PORT: portOf(plan, PORTS.auditor),
    },
    sealer: {
      ...ofEvery(known, 'sealer'),
      ...cold,
      ...watching,
      BATON_AUDIT_SEALER_URL: urls.auditSealer,
      BATON_SEAL_SIGNING_KEY: seals.sealing,
      BATON_AUDIT_TRUSTED_KEYS: log.batchKeys.join(','),
      BATON_SEALER_STATE_FILE: plan.files.sealerState,
      BATON_SEAL_POLICY_FILE: policyFile(plan, 'sealer'),
    },
    archiver: {
      ...ofEvery(known, 'archiver'),
      ...cold,
      ...watching,
      BATON_AUDIT_ARCHIVER_URL: urls.auditArchiver,
      BATON_AUDIT_URL: addressesOf(plan)('auditor'),
      BATON_AUDIT_ARCHIVE_TOKEN: archive.archiveToken,
      BATON_SEAL_PUBLIC_KEY: publicHalf(seals.sealing),
      BATON_SEAL_POLICY_FILE: policyFile(plan, 'archiver'),
    },
    witness: {
      ...ofEvery(known, 'witness'),
      BATON_WITNESS_NAME: log.witnessName,
      BATON_WITNESS_SIGNING_KEY: seals.witnessing,
      BATON_WITNESS_LOGS: log.verifierKey,
      BATON_WITNESS_STATE_FILE: plan.files.witnessState,
      BATON_WITNESS_HOST: listenOn(plan, 'witness'),
      BATON_WITNESS_PORT: portOf(plan, PORTS.witness),
    },
  }
}

const apiKeysOf = ({ callers }: Known): string => callers.map(({ entry }) => entry).join(',')

const ofEvery = ({ plan, tls }: Known, name: ProcessName): Told => ({
  ...tls(name),
  ...opsOf(plan, name),
  BATON_ALLOW_PLAINTEXT: plan.isPlaintextAllowed ? '1' : undefined,
})

/** What the command line is told that reads, proves and decides, but owns nothing. */
export function operatorSettings(known: Known): Told {
  const { plan, keys, log } = known
  const { development, evidence, archive, seals } = keys
  const address = addressesOf(plan)
  return {
    ...known.tls('operator'),
    ...coldOf(plan),
    ...watchingOf(plan),
    BATON_ALLOW_PLAINTEXT: plan.isPlaintextAllowed ? '1' : undefined,
    BATON_DATABASE_ADMIN_URL: withoutUser(plan.databaseUrl),
    BATON_AUDIT_ADMIN_URL: withoutUser(plan.auditDatabaseUrl),
    BATON_REDIS_URL: plan.redisUrl,
    BATON_GATEWAY_URL: address('gateway'),
    BATON_AUDIT_URL: address('auditor'),
    BATON_ENVIRONMENT: plan.environment,
    BATON_API_KEY: known.callers.find(({ operator }) => operator === 'operator')?.key,
    BATON_PEOPLE: known.people,
    BATON_APP_LOGIN: '0',
    BATON_GATEWAY_PASSWORD: keys.roles.BATON_GATEWAY_PASSWORD,
    BATON_AUDIT_READER_PASSWORD: development.BATON_AUDIT_READER_PASSWORD,
    BATON_VAULT_PASSWORD: development.BATON_VAULT_PASSWORD,
    BATON_AUDIT_WRAPPING_KEY: development.BATON_AUDIT_WRAPPING_KEY,
    BATON_AUDIT_LOOKUP_KEY: development.BATON_AUDIT_LOOKUP_KEY,
    BATON_AUDIT_TRUSTED_KEYS: log.batchKeys.join(','),
    BATON_AUDIT_READ_TOKEN: development.BATON_AUDIT_READ_TOKEN,
    BATON_AUDIT_EVIDENCE_TOKEN: evidence.evidenceToken,
    BATON_AUDIT_HOLD_TOKEN: archive.holdToken,
    BATON_SEAL_PUBLIC_KEY: publicHalf(seals.sealing),
    BATON_SEAL_POLICY_FILE: policyFile(plan, 'operator'),
    BATON_SEALER_STATE_FILE: plan.files.sealerState,
  }
}

/** What owns the databases: it migrates them, and makes keys and tenants. No process is told it. It knows whom there was, for the next `init`. */
export function adminSettings(known: Known): Told {
  const { plan, keys } = known
  const { development, roles, seals, archive, erasure } = keys
  return {
    BATON_DATABASE_ADMIN_URL: plan.databaseUrl,
    BATON_AUDIT_ADMIN_URL: plan.auditDatabaseUrl,
    BATON_ENVIRONMENT: plan.environment,
    BATON_APP_LOGIN: '0',
    BATON_TLS_CA_FILE: known.tls('operator')['BATON_TLS_CA_FILE'],
    BATON_ALLOW_PLAINTEXT: plan.isPlaintextAllowed ? '1' : undefined,
    BATON_API_KEYS: apiKeysOf(known),
    BATON_PEOPLE: known.people,
    ...roles,
    BATON_AUDIT_WRITER_PASSWORD: development.BATON_AUDIT_WRITER_PASSWORD,
    BATON_AUDIT_READER_PASSWORD: development.BATON_AUDIT_READER_PASSWORD,
    BATON_VAULT_PASSWORD: development.BATON_VAULT_PASSWORD,
    BATON_AUDIT_SEALER_PASSWORD: seals.sealerPassword,
    BATON_AUDIT_ARCHIVER_PASSWORD: archive.archiverPassword,
    BATON_AUDIT_ERASER_PASSWORD: erasure.eraserPassword,
  }
}

/** What somebody outside needs to call the gateway: a program that sends, or a person who decides. */
export const callerSettings = ({ plan, tls }: Pick<Known, 'plan' | 'tls'>, key: string): Told => ({
  BATON_GATEWAY_URL: addressesOf(plan)('gateway'),
  BATON_API_KEY: key,
  BATON_TLS_CA_FILE: tls('operator')['BATON_TLS_CA_FILE'],
  BATON_ALLOW_PLAINTEXT: plan.isPlaintextAllowed ? '1' : undefined,
})

/** Where each is called. */
export const addressesOf =
  (plan: Plan) =>
  (name: keyof typeof PORTS): string =>
    urlOf(plan, name, PORTS[name])

/** Where each says whether it is ready; the witness says nothing but by answering. */
export const readyUrls = (plan: Plan): ReadonlyMap<ProcessName, string> =>
  new Map(
    plan.processes.flatMap((name) =>
      name === 'witness' ? [] : [[name, urlOf(plan, name, OPS_PORTS[name])] as const],
    ),
  )

const urlOf = (plan: Plan, name: ProcessName, offset: number): string =>
  `${plan.isTls ? 'https' : 'http'}://${bracketed(plan.hosts[name])}:${portOf(plan, offset)}`

const portOf = ({ firstPort }: Plan, offset: number): string => String(firstPort + offset)

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Who is reached from elsewhere listens at every address of its machine. */
const listenOn = ({ hosts }: Plan, name: ProcessName): string =>
  isLoopback(hosts[name]) ? '127.0.0.1' : '0.0.0.0'

const opsOf = (plan: Plan, name: ProcessName): Told =>
  name === 'witness'
    ? {}
    : { BATON_OPS_HOST: listenOn(plan, name), BATON_OPS_PORT: portOf(plan, OPS_PORTS[name]) }

const coldOf = ({ cold }: Plan): Told =>
  'folder' in cold ? { BATON_COLD_FOLDER: cold.folder } : { BATON_COLD_S3_BUCKET: cold.bucket }

const watchingOf = ({ files }: Plan): Told => ({ BATON_SEAL_ANCHOR_FILE: files.anchor })

export const POLICY = 'policy'
const policyFile = ({ folder }: Plan, name: string): string => join(folder, name, POLICY)

/** The server alone: who it is that connects, each role says itself. */
function withoutUser(adminUrl: string): string {
  const url = new URL(adminUrl)
  url.username = ''
  url.password = ''
  return url.href
}
