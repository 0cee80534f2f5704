// What each service of an instance is told: its own settings and no other service's secrets.
import { hash } from 'node:crypto'
import { moduleAt } from '../root.ts'
import type { Environment } from '../context.ts'
import { coldFolderOf } from './databases.ts'
import { tlsEnvironment, urlOf, withoutOperator } from './tls-files.ts'
import type { Databases } from './databases.ts'
import { sealFiles } from './seal-files.ts'
import { isFirstSeal, publicHalf } from './seals.ts'
import type { SealLog } from './seals.ts'
import { peopleOf } from './known-people.ts'
import { PEOPLE } from './secrets.ts'
import type { Person, Secrets } from './secrets.ts'

export interface Known {
  readonly environment: Environment
  readonly home: string
  readonly databases: Pick<Databases, 'keys' | 'urls'>
  /** Undefined where the queue stays within the receiver. */
  readonly redisUrl: string | undefined
  /** Of those that others ask for something, and where the rest and the auditor show their metrics and whether they are ready. */
  readonly ports: Readonly<
    Record<
      | 'gateway'
      | 'auditor'
      | 'auditorOps'
      | 'witness'
      | 'relay'
      | 'receiver'
      | 'receiverCalls'
      | 'sealer'
      | 'archiver',
      number
    >
  >
  readonly log: SealLog
}

/** The agents that an instance hosts. */
/** Those of the examples, some of which ask a language model. */
export const AGENTS = {
  BATON_AGENTS: moduleAt('services', 'cli', 'src', 'main-job', 'agents'),
  BATON_AGENTS_SETTINGS: 'BATON_LLM_BASE_URL,BATON_LLM_MODEL,BATON_LLM_API_KEY',
}
/** Short, because the one agent that fails on purpose should not hold up the main job. */
const RETRY_BASE_MS = '200'

/** Environments by the folder of the service under `services/`; a relay only where there is Redis. */
export function serviceSettings(known: Known): ReadonlyMap<string, Environment> {
  const passedOn = withoutSecrets(known.environment)
  const services = Object.entries(settingsTable(withOwnFiles(known))).filter(
    ([name]) => name !== 'relay' || known.redisUrl !== undefined,
  )
  return new Map(
    services.map(([name, told]) => {
      const own: Environment = { ...told, ...tlsEnvironment(known.home, name) }
      return [name, { ...withoutFilesOf(own, passedOn), ...own }]
    }),
  )
}

function settingsTable({ environment, home, databases, redisUrl, ports, log }: Known) {
  const { urls, keys } = databases
  const { development, seals, archive, erasure, events } = keys
  const files = sealFiles(home)
  const BATON_AUDIT_URL = urlOf(home, ports.auditor)
  const BATON_SEAL_PUBLIC_KEY = publicHalf(seals.sealing)
  /** Whatever else is said of the cold store stands in the environment. */
  const cold = { BATON_COLD_FOLDER: coldFolderOf(environment, home) }
  const watching = whoHasSeenSeals(home)
  const people = { BATON_PEOPLE: peopleOf(environment, keys) }
  const delivery = {
    BATON_DATABASE_URL: urls.delivery,
    BATON_REDIS_URL: redisUrl ?? '',
    BATON_AUDIT_URL,
    BATON_AUDIT_APPEND_TOKEN: development.BATON_AUDIT_APPEND_TOKEN,
    BATON_OPS_PORT: '0',
  }
  const { BATON_SIGNING_KEYS } = development
  return {
    gateway: {
      ...judging(environment),
      ...delivery,
      BATON_DATABASE_URL: urls.gateway,
      ...people,
      BATON_SIGNING_KEYS,
      BATON_AUDIT_READ_TOKEN: development.BATON_AUDIT_READ_TOKEN,
      BATON_AUDIT_ERASE_TOKEN: erasure.eraseToken,
      BATON_EVENT_SECRETS_KEY: events.secretsKey,
      BATON_API_KEYS: environment['BATON_API_KEYS'] || apiKeyEntries(keys),
      BATON_GATEWAY_PORT: String(ports.gateway),
      ...directCalls(urlOf(home, ports.receiverCalls), keys).gateway,
    },
    relay: { ...delivery, BATON_OPS_PORT: String(ports.relay) },
    receiver: {
      ...languageModel(environment),
      ...judging(environment),
      BATON_RETRY_BASE_MS: RETRY_BASE_MS,
      ...delivery,
      ...people,
      BATON_SIGNING_KEYS,
      BATON_OPS_PORT: String(ports.receiver),
      ...directCalls(urlOf(home, ports.receiverCalls), keys).receiver,
      ...AGENTS,
    },
    auditor: {
      ...cold,
      BATON_AUDITOR_PORT: String(ports.auditor),
      ...people,
      ...auditorUrls(urls),
      ...auditorTokens(keys, environment),
      ...auditorKeys(keys, environment),
      BATON_SEAL_PUBLIC_KEY,
      ...watching,
      BATON_EVIDENCE_POLICY_FILE: files.policy,
      BATON_OPS_PORT: String(ports.auditorOps),
    },
    sealer: {
      ...cold,
      BATON_AUDIT_SEALER_URL: urls.auditSealer,
      BATON_SEAL_SIGNING_KEY: seals.sealing,
      BATON_AUDIT_TRUSTED_KEYS: log.batchKeys.join(','),
      ...watching,
      BATON_OPS_PORT: String(ports.sealer),
    },
    archiver: {
      ...cold,
      BATON_AUDIT_ARCHIVER_URL: urls.auditArchiver,
      BATON_AUDIT_URL,
      BATON_AUDIT_ARCHIVE_TOKEN: archive.archiveToken,
      BATON_SEAL_PUBLIC_KEY,
      BATON_SEAL_ANCHOR_FILE: watching.BATON_SEAL_ANCHOR_FILE,
      BATON_SEAL_POLICY_FILE: watching.BATON_SEAL_POLICY_FILE,
      BATON_OPS_PORT: String(ports.archiver),
    },
    witness: {
      ...witnessOf({ home, log, databases }),
      BATON_WITNESS_PORT: String(ports.witness),
    },
  } satisfies Readonly<Record<string, Environment>>
}

/** Each service shows a certificate of its own, and not the operator's. */
const withOwnFiles = ({ databases, home, ...known }: Known): Known => {
  const urls = Object.entries(databases.urls).map(([name, url]) => [
    name,
    withoutOperator(url, home),
  ])
  return {
    ...known,
    home,
    databases: { ...databases, urls: Object.fromEntries(urls) as Databases['urls'] },
  }
}

function witnessOf({ home, log, databases }: Pick<Known, 'home' | 'log' | 'databases'>) {
  return {
    BATON_WITNESS_NAME: log.witnessName,
    BATON_WITNESS_SIGNING_KEY: databases.keys.seals.witnessing,
    BATON_WITNESS_LOGS: log.verifierKey,
    BATON_WITNESS_STATE_FILE: sealFiles(home).witnessState,
    BATON_WITNESS_FIRST_START: isFirstSeal(home) ? '1' : '0',
  }
}

/** Who calls receivers for senders that wait, and where they are called. */
const directCalls = (url: string, { calls: { syncToken: BATON_SYNC_TOKEN } }: Secrets) => ({
  gateway: { BATON_SYNC_RECEIVERS: url, BATON_SYNC_TOKEN },
  receiver: { BATON_RECEIVER_PORT: new URL(url).port, BATON_SYNC_TOKEN },
})

/** The log and the vault, each by the role that may do what the auditor does there. */
const auditorUrls = (urls: Databases['urls']) => ({
  BATON_AUDIT_WRITER_URL: urls.auditWriter,
  BATON_AUDIT_READER_URL: urls.auditReader,
  BATON_AUDIT_ERASER_URL: urls.auditEraser,
  BATON_VAULT_URL: urls.vault,
})

/** Of everybody who may ask the auditor; outsiders who read tiles are only there where somebody let them in. */
export const auditorTokens = (
  { development, archive, erasure, evidence }: Secrets,
  given: Environment,
) => ({
  BATON_AUDIT_APPEND_TOKEN: development.BATON_AUDIT_APPEND_TOKEN,
  BATON_AUDIT_READ_TOKEN: development.BATON_AUDIT_READ_TOKEN,
  BATON_AUDIT_ARCHIVE_TOKEN: archive.archiveToken,
  BATON_AUDIT_HOLD_TOKEN: archive.holdToken,
  BATON_AUDIT_ERASE_TOKEN: erasure.eraseToken,
  BATON_AUDIT_EVIDENCE_TOKEN: evidence.evidenceToken,
  BATON_AUDIT_PAYLOAD_TOKEN: evidence.payloadToken,
  BATON_AUDIT_TILES_TOKEN: given['BATON_AUDIT_TILES_TOKEN'],
})

/** What the auditor signs, wraps and finds people with. */
export const auditorKeys = ({ development, evidence }: Secrets, given: Environment) => ({
  BATON_AUDIT_SIGNING_KEY: development.BATON_AUDIT_SIGNING_KEY,
  BATON_AUDIT_TRUSTED_KEYS: given['BATON_AUDIT_TRUSTED_KEYS'],
  BATON_AUDIT_WRAPPING_KEY: development.BATON_AUDIT_WRAPPING_KEY,
  BATON_AUDIT_LOOKUP_KEY: development.BATON_AUDIT_LOOKUP_KEY,
  BATON_EVIDENCE_SIGNING_KEY: evidence.exporting,
})

/** Where the sealer keeps what it signed, and who has seen it: the sealer writes there, a verification asks. */
function whoHasSeenSeals(home: string) {
  const { state, anchor, policy } = sealFiles(home)
  return {
    BATON_SEALER_STATE_FILE: state,
    BATON_SEAL_ANCHOR_FILE: anchor,
    BATON_SEAL_POLICY_FILE: policy,
  }
}

const PROGRAM =
  'handoffs:send+handoffs:read+handoffs:return+executions:claim+metrics:read+events:read+events:subscribe'
const REVIEWER =
  'handoffs:read+approvals:decide+dead-letters:review+dead-letters:redrive+tasks:resume+erasures:plan+erasures:approve'

/** What each person may do at the gateway. */
const SCOPES_OF: Readonly<Record<Person, string>> = {
  operator: `handoffs:send+handoffs:send-critical+handoffs:return+handoffs:cancel+executions:claim+metrics:read+events:read+events:subscribe+${REVIEWER}`,
  'reviewer-1': REVIEWER,
  'reviewer-2': REVIEWER,
}

// Programs act for the operator: what they send, the operator cannot release.
const apiKeyEntries = ({ development, people, monitoring }: Secrets): string =>
  [
    apiKeyEntry(development.BATON_API_KEY, { operator: 'operator', scopes: PROGRAM }),
    ...PEOPLE.map((name) => apiKeyEntry(people[name], { operator: name, scopes: SCOPES_OF[name] })),
    apiKeyEntry(monitoring.metricsKey, { operator: 'prometheus', scopes: 'metrics:read' }),
  ].join(',')

// The gateway keeps a digest; the key itself stays with the caller.
export function apiKeyEntry(
  key: string,
  { operator, scopes }: { readonly operator: string; readonly scopes: string },
): string {
  const id = key.split('_', 2)[1] ?? ''
  return `${id}@${operator}:${scopes}:${hash('sha256', key)}`
}

/** Where agents and the summariser reach a language model, and with which key. */
const languageModel = (environment: Environment): Environment =>
  named(environment, /^BATON_(?:LLM|SUMMARISER)_[A-Z_]+$/)

/** By which model the scanner judges, who judges beside it, and what is exempted, wherever handoffs are judged. */
const judging = (environment: Environment): Environment =>
  named(
    environment,
    /^BATON_(?:CLASSIFIER_[A-Z_]+|EXEMPTIONS|REJECT_FLAGGED|SAFETY_(?:ARTEFACT_FILE|SHADOW_FILE|KEYS))$/,
  )

const named = (environment: Environment, names: RegExp): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => names.test(name)))

/** What an instance says itself does not stand in a file as well. */
const withoutFilesOf = (own: Environment, environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !(name.replace(/_FILE$/, '') in own)),
  )

/** Everything but Baton's own secrets and addresses is passed on, and where they stand: PATH, proxies, log level. */
function withoutSecrets(environment: Environment): Environment {
  const kept = Object.entries(environment).filter(
    ([name]) =>
      !/^BATON_(?:.*_(?:PASSWORD|TOKEN|KEY|KEYS|URL)|HOME)(?:_FILE)?$/.test(name) ||
      /^BATON_OTLP_URL(?:_FILE)?$/.test(name),
  )
  return Object.fromEntries(kept)
}
