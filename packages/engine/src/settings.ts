// The settings that several services share; each service's own stand beside its main.ts. An entry of its own, because
// every command of the command line reads some of them and few load the engine.
import { TENANT } from '@baton/ledger/tenant-names'
import type { LostFactsPolicy } from '@baton/protocol'
import {
  flag,
  integer,
  oneOf,
  optionalForeignSecret,
  optionalRedisUrl,
  optionalSecret,
  optionalText,
  optionalUrl,
  secret,
  text,
  url,
  urls,
} from '@baton/runtime'
import { FAN_OUT_BOUNDS } from './fan-out-bounds.ts'
import { LARGE_WORK } from './large-work-bounds.ts'
import { OUTBOX_BOUNDS } from './outbox-bound.ts'

export const STORE_SETTINGS = {
  BATON_DATABASE_URL: url(['postgres', 'postgresql'], {
    help: 'The operational Postgres, as role baton_gateway for a gateway and as baton_delivery for all others.',
  }),
}

export const SIGNING_SETTINGS = {
  BATON_SIGNING_KEYS: secret({
    help: 'HMAC keys as id:status:base64-secret, comma-separated; status is active, verify-only or revoked.',
  }),
  BATON_ATTEMPTS_MAX: integer({
    min: 1,
    max: 20,
    default: 3,
    help: 'How often a handoff is tried before its task rolls back.',
  }),
}

/** When a sender is told to wait. */
export const OUTBOX_SETTINGS = {
  BATON_OUTBOX_MAX: integer({
    min: 1,
    max: 50_000,
    default: OUTBOX_BOUNDS.depthMax,
    help: 'Handoffs of one tenant waiting for a relay per agent type; above it only priority 0 is taken.',
  }),
  BATON_OUTBOX_CRITICAL_MAX: integer({
    min: 0,
    max: 50_000,
    default: OUTBOX_BOUNDS.criticalMax,
    help: 'Of them of priority 0, which passes the other bounds of an agent type; 0 takes none.',
  }),
  BATON_OUTBOX_TENANT_MAX: integer({
    min: 1,
    max: 200_000,
    default: OUTBOX_BOUNDS.tenantMax,
    help: 'Handoffs of one tenant waiting for a relay in all; above it only priority 0 is taken, to twice as many, and what live receivers host.',
  }),
  BATON_OUTBOX_AGE_MAX_MS: integer({
    min: 1_000,
    max: 86_400_000,
    default: OUTBOX_BOUNDS.ageMaxMs,
    help: 'How long the oldest handoff of an agent type may wait for a relay; above it that type takes only priority 0.',
  }),
}

/** What is too large for the event loop. */
export const LARGE_WORK_SETTINGS = {
  BATON_LARGE_WORK_THREADS: integer({
    min: 1,
    max: 16,
    default: LARGE_WORK.threadsMax,
    help: 'Threads that work on messages of more than 48 KiB; of several, one tenant has at most all but one.',
  }),
  BATON_LARGE_WORK_END_MS: integer({
    min: 10,
    max: 60_000,
    default: LARGE_WORK.endMs,
    help: 'How long one message may take there; what takes longer is quarantined, or refused to its sender.',
  }),
}

/** The model of the scanner, where it is not that of the package. */
export const SAFETY_SETTINGS = {
  BATON_SAFETY_ARTEFACT_FILE: optionalText({
    help: 'File of the scanner’s artefact, as `baton safety pack` makes it, looked at every few seconds; without it the model of the package judges.',
  }),
  BATON_SAFETY_SHADOW_FILE: optionalText({
    help: 'File of an artefact that judges beside the active scanner and decides nothing; `baton safety shadow` lists where it differs.',
  }),
  BATON_SAFETY_KEYS: optionalText({
    help: 'Whose artefacts are taken: public keys, comma-separated, as `baton safety key` prints them.',
  }),
}

/** How far a task may fan out. */
export const FAN_OUT_SETTINGS = {
  BATON_FAN_OUT_DEPTH_MAX: integer({
    min: 1,
    max: 64,
    default: FAN_OUT_BOUNDS.depthMax,
    help: 'How many fan-outs may stand within one another: branches that fan out themselves.',
  }),
  BATON_BRANCHES_OPEN_MAX: integer({
    min: 1,
    max: 10_000,
    default: FAN_OUT_BOUNDS.openMax,
    help: 'How many branches of one task may go on at once.',
  }),
}

export const QUEUE_SETTINGS = {
  BATON_REDIS_URL: optionalRedisUrl({
    help: 'Redis for BullMQ: one server, a primary that Sentinels name, or a Cluster. Without it receivers relay for themselves in their own process.',
  }),
  BATON_QUEUE_PREFIX: text({
    default: 'baton',
    help: 'First part of every Redis key.',
    // An empty hash tag would scatter the keys of one queue over a Cluster.
    pattern: /^(?!.*\{\})/s,
    bounds: 'no {}',
  }),
}

export const RETURN_SETTINGS = {
  BATON_CORRECTION_MS: integer({
    min: 1_000,
    max: 3_600_000,
    default: 30_000,
    help: 'How long whoever takes a returned handoff has to correct it before it is tried again as it was.',
  }),
}

/** What becomes of a handoff that requires what its agent lacks (S20). */
export const BLOCKED_POLICIES = ['reroute', 'retry', 'escalate'] as const
export type BlockedPolicy = (typeof BLOCKED_POLICIES)[number]

/** What becomes of a handoff whose conversation lost what its compression had to keep (E23). */
export const LOST_FACTS_POLICIES = ['return', 'flag'] as const satisfies readonly LostFactsPolicy[]

/** What becomes of a handoff whose execution did not succeed. */
export const RETRY_SETTINGS = {
  BATON_BLOCKED_POLICY: oneOf(BLOCKED_POLICIES, {
    default: 'reroute',
    help: 'What becomes of a handoff that requires what its agent lacks: another live agent type that has it gets it, it is tried again later, or a person decides at once.',
  }),
  BATON_LOST_FACTS: oneOf(LOST_FACTS_POLICIES, {
    default: 'return',
    help: 'What becomes of a handoff whose conversation does not say every fact that its compression had to keep: it goes back to its sender with the places, or it is executed and the log names them.',
  }),
  BATON_RETRY_BASE_MS: integer({
    min: 1,
    max: 60_000,
    default: 1_000,
    help: 'Upper bound of the first retry wait; it doubles with every attempt.',
  }),
  BATON_RETRY_CAP_MS: integer({
    min: 1,
    max: 3_600_000,
    default: 60_000,
    help: 'Largest retry wait, in milliseconds.',
  }),
}

/** Where an installation is. */
export const PLACE_SETTINGS = {
  BATON_JURISDICTION: optionalText({
    help: 'Where this installation stores and processes: ISO 3166-1 alpha-2 in capitals, or EU. Without it nothing is taken that must stay somewhere.',
    pattern: /^[A-Z]{2}$/,
    bounds: 'two capital letters',
  }),
}

/** Whose work a process begins. */
export const TENANT_SETTINGS = {
  BATON_TENANT: optionalText({
    help: 'Whose tasks are begun here; the default tenant’s where it is not set. `baton tenants ls` lists them.',
    pattern: new RegExp(`^${TENANT}$`),
    bounds: 'a tenant’s name: lower-case letters, digits and dashes',
  }),
}

/** How receivers are called for those who wait for an outcome. */
export const SYNC_SETTINGS = {
  BATON_SYNC_RECEIVERS: optionalText({
    help: 'Where receivers take direct calls: http://host:port for all agent types, or type=http://host:port, comma-separated. Without it mode=sync goes by the queue.',
  }),
  BATON_SYNC_TOKEN: optionalSecret({
    help: 'Token of direct calls, the same for who calls and for receivers.',
  }),
  BATON_SYNC_WAIT_MS: integer({
    min: 100,
    max: 600_000,
    default: 15_000,
    help: 'How long a sender with mode=sync waits for the outcome before it is told to ask later.',
  }),
}

/** Who condenses conversations that do not fit; the extract where no base URL is given. */
export const SUMMARISER_SETTINGS = {
  BATON_SUMMARISER_BASE_URL: optionalUrl(['http', 'https'], {
    help: 'OpenAI-compatible endpoint that condenses long conversations. Without it, and whenever it does not help, statements are extracted word for word.',
  }),
  BATON_SUMMARISER_MODEL: text({
    default: 'gpt-4o-mini',
    help: 'Name of the model at that endpoint; a small one is enough.',
  }),
  BATON_SUMMARISER_API_KEY: optionalForeignSecret({
    help: 'Key of that endpoint; a local one may need none.',
  }),
  BATON_SUMMARISER_PROMPT_PRICE: integer({
    min: 0,
    max: 1_000_000_000,
    default: 150_000,
    help: 'Micro-USD for a million prompt tokens: 150000 is $0.15; 0 for a model of your own.',
  }),
  BATON_SUMMARISER_COMPLETION_PRICE: integer({
    min: 0,
    max: 1_000_000_000,
    default: 600_000,
    help: 'Micro-USD for a million completion tokens: 600000 is $0.60; 0 for a model of your own.',
  }),
  BATON_SUMMARISER_TIMEOUT_MS: integer({
    min: 50,
    max: 60_000,
    default: 5_000,
    help: 'How long a summary is waited for before the extract is taken.',
  }),
}

/** Who judges texts beside the scanner; nobody where no URL is given. */
export const CLASSIFIER_SETTINGS = {
  BATON_CLASSIFIER_URL: optionalUrl(['http', 'https'], {
    help: 'Classifier that is asked about each handoff which the scanner would take, and may judge it worse; infra/safety.md shows questions and answers. Without it, and whenever it does not answer, the scanner decides alone.',
  }),
  BATON_CLASSIFIER_NAME: text({
    default: 'classifier',
    help: 'What the record of a decision calls that classifier.',
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    bounds: 'at most 64 letters, digits, dots, dashes and underscores',
  }),
  BATON_CLASSIFIER_TOKEN: optionalForeignSecret({
    help: 'Bearer token that the classifier is asked with; a local one may need none.',
  }),
  BATON_CLASSIFIER_TIMEOUT_MS: integer({
    min: 10,
    max: 30_000,
    default: 1_000,
    help: 'How long an answer is waited for before the scanner decides alone.',
  }),
  BATON_CLASSIFIER_SEES: oneOf(['ordinary', 'all'], {
    default: 'ordinary',
    help: 'ordinary: messages that have a residency, or are confidential or restricted, are not shown to the classifier. all: every message is, for a classifier of your own.',
  }),
}

/** What people took out of the scanner's decisions, and which agent types take less than it lets pass. */
export const JUDGING_SETTINGS = {
  BATON_REJECT_FLAGGED: optionalText({
    help: 'Agent types, comma-separated, or * for all, that take nothing which scanner or classifier flag: it waits for people, like what is rejected. The same for receivers and gateways.',
  }),
  BATON_EXEMPTIONS: optionalText({
    help: 'JSON file of exemptions from rules of the scanner, signed by reviewers of BATON_PEOPLE, the same for receivers and gateways; looked at every few seconds. infra/safety.md shows one.',
  }),
}

/** How much of its receiver's window a message may fill; what a request asks for goes before. */
export const COMPRESSION_SETTINGS = {
  BATON_COMPRESSION_THRESHOLD: integer({
    min: 1,
    max: 100,
    default: 80,
    help: 'The percentage of the receiver’s context window that a message may fill before older turns are condensed.',
  }),
  BATON_VERBATIM_TURNS: integer({
    min: 0,
    max: 1_000,
    default: 5,
    help: 'How many of the latest turns then stay word for word.',
  }),
}

/** Recovery times; the defaults are what the promises are measured with. */
export const RECOVERY_SETTINGS = {
  BATON_LEASE_MS: integer({
    min: 1_000,
    max: 600_000,
    default: 8_000,
    help: 'How long a claim holds without a heartbeat before somebody else may execute.',
  }),
  BATON_UNDELIVERED_MS: integer({
    min: 500,
    max: 600_000,
    default: 5_000,
    formerly: 'BATON_QUIET_MS',
    help: 'How long a published handoff may stay unclaimed before its job is looked for.',
  }),
}

/** Of processes that sweep. */
export const ALERT_SETTINGS = {
  BATON_ALERT_WEBHOOKS: optionalText({
    help: 'JSON file of webhooks that are told of alerts, the same for every process that sweeps: relays, and receivers without Redis; infra/alerts-as-webhooks.md shows one.',
  }),
}

export const AUDIT_CLIENT_SETTINGS = {
  BATON_AUDIT_URL: urls(['http', 'https'], {
    default: 'http://127.0.0.1:8421',
    help: 'The auditor; nothing executes without its receipts. Of several, separated by commas, the first that answers is asked.',
  }),
  BATON_AUDIT_APPEND_TOKEN: secret({ help: 'Token that may append audit records.' }),
}

/** How somebody says by name that a server may lose what it acknowledged. */
export const UNSAFE_POSTGRES_SETTINGS = {
  BATON_ALLOW_UNSAFE_POSTGRES: flag({
    default: false,
    help: 'Start although fsync, full_page_writes or synchronous_commit is off in Postgres.',
  }),
}

export const UNSAFE_REDIS_SETTINGS = {
  BATON_ALLOW_UNSAFE_REDIS: flag({
    default: false,
    help: 'Start although Redis has no append-only file or evicts keys.',
  }),
}
