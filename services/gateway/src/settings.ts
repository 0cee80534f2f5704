// What a gateway process is told.
import {
  integer,
  ISSUER_SETTINGS,
  oneOf,
  OPS_SETTINGS,
  optionalSecret,
  optionalText,
  PEOPLE_SETTINGS,
  permanent,
  PROCESS_SETTINGS,
  secret,
  text,
  TLS_SETTINGS,
  tlsClients,
  urls,
} from '@baton/runtime'
import type { Settings } from '@baton/runtime'
import {
  CLASSIFIER_SETTINGS,
  COMPRESSION_SETTINGS,
  FAN_OUT_SETTINGS,
  JUDGING_SETTINGS,
  LARGE_WORK_SETTINGS,
  OUTBOX_SETTINGS,
  PLACE_SETTINGS,
  QUEUE_SETTINGS,
  RETRY_SETTINGS,
  RETURN_SETTINGS,
  SAFETY_SETTINGS,
  SIGNING_SETTINGS,
  STORE_SETTINGS,
  SUMMARISER_SETTINGS,
  SYNC_SETTINGS,
  UNSAFE_POSTGRES_SETTINGS,
  UNSAFE_REDIS_SETTINGS,
} from '@baton/engine/settings'
import { parseReceivers } from '@baton/transport/receiver-urls'
import type { A2aOptions, GatewayOptions, SyncOptions } from './gateway.ts'
import { EVENTS_DEFAULTS, parsePrivateOrigins } from './events/events-options.ts'
import type { EventsOptions } from './events/events-options.ts'
import { READER_BOUNDS } from './streams/reader-bounds.ts'
import type { Sw4rmOptions } from './sw4rm/open-sw4rm.ts'

export const GATEWAY_SETTINGS = {
  ...STORE_SETTINGS,
  ...PLACE_SETTINGS,
  ...COMPRESSION_SETTINGS,
  ...SUMMARISER_SETTINGS,
  ...CLASSIFIER_SETTINGS,
  ...JUDGING_SETTINGS,
  ...SIGNING_SETTINGS,
  ...FAN_OUT_SETTINGS,
  ...OUTBOX_SETTINGS,
  ...LARGE_WORK_SETTINGS,
  ...SAFETY_SETTINGS,
  ...UNSAFE_POSTGRES_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...ISSUER_SETTINGS,
  BATON_AUDIT_URL: urls(['http', 'https'], {
    default: 'http://127.0.0.1:8421',
    help: 'The auditor, whose records a trace shows. Of several, separated by commas, the first that answers is asked.',
  }),
  ...RETURN_SETTINGS,
  BATON_AUDIT_READ_TOKEN: secret({ help: 'Token that may read the audit log.' }),
  BATON_AUDIT_ERASE_TOKEN: optionalSecret({
    help: 'Token that may erase people from the audit log; without it nobody is erased here.',
  }),
  BATON_BACKUP_DAYS: integer({
    min: 0,
    max: 36_500,
    default: 0,
    help: 'How many days the oldest back-up of the databases is kept; receipts of erasures say it. 0 says that it is not stated.',
  }),
  BATON_AUDIT_APPEND_TOKEN: optionalSecret({
    help: 'Token that may append audit records; without it agents outside are given nothing.',
  }),
  ...QUEUE_SETTINGS,
  ...UNSAFE_REDIS_SETTINGS,
  ...RETRY_SETTINGS,
  BATON_PULL_LEASE_MS: integer({
    min: 1_000,
    max: 3_600_000,
    default: 60_000,
    help: 'How long what an agent outside has claimed is its own without a heartbeat.',
  }),
  BATON_API_KEYS: optionalSecret({
    help: 'API keys beside those of the database, as id@operator%tenant:scope+scope:sha256hex, optionally without %tenant and with :YYYY-MM-DD, comma-separated; executions:claim=type|type is for these agent types only; baton keys new --for-settings makes one.',
  }),
  BATON_PROFILES: optionalText({
    help: 'JSON file of the profiles of the Handoffs API, read at the start; without it every agent type with a live worker is one.',
  }),
  BATON_PEERS: optionalText({
    help: 'JSON file of the peers of the session handshake, read at the start; without it nobody may call /jsonrpc.',
  }),
  BATON_MCP_ORIGINS: optionalText({
    help: 'Host names, separated by commas, of pages in browsers that may call /mcp, and by which a gateway on the loopback interface may be called there; localhost always.',
  }),
  BATON_SESSION_WAIT_MS: integer({
    min: 0,
    max: 30_000,
    default: 2_000,
    help: 'How long an answer to a session peer waits for the outcome of its task before it says [queued].',
  }),
  BATON_SESSION_PROFILE_S: integer({
    min: 1,
    max: 86_400,
    default: 3_600,
    help: 'How long what a session peer announced of itself is believed.',
  }),
  BATON_SESSION_REPLY_RETRY_MS: integer({
    min: 10,
    max: 3_600_000,
    default: 5_000,
    help: 'The wait after the first attempt to tell a session peer an outcome; it doubles up to an hour.',
  }),
  BATON_SESSION_REPLY_END_S: integer({
    min: 1,
    max: 2_592_000,
    default: 86_400,
    help: 'How long after its task has ended a session peer is tried to be told; then the reply waits for a person.',
  }),
  BATON_FOREIGN_BUDGET_MICRO_USD: integer({
    min: 0,
    max: 1_000_000_000_000,
    default: 1_000_000,
    help: 'What a task may cost in all that begins in a protocol without budgets.',
  }),
  BATON_MESSAGE_EXPIRY_S: integer({
    min: 1,
    max: 31_536_000,
    default: 86_400,
    help: 'How long a message of the Handoffs API may wait and work before it expires.',
  }),
  BATON_SW4RM_PORT: integer({
    min: 0,
    max: 65_535,
    default: 0,
    help: 'The port of the handoff service of SW4RM (gRPC); 0 opens none.',
  }),
  BATON_SW4RM_HOST: text({
    default: '127.0.0.1',
    help: 'The address that service listens on.',
  }),
  BATON_SW4RM_CONTEXT: oneOf(['strict', 'lenient'], {
    default: 'strict',
    help: 'How contexts of SW4RM are read: by the published schema, or as its running peers read them.',
  }),
  BATON_SW4RM_LEASE_MS: integer({
    min: 1_000,
    max: 86_400_000,
    default: 900_000,
    help: 'How long a handoff is its agent’s after AcceptHandoff; later somebody else may have it.',
  }),
  BATON_A2A_AGENT: optionalText({
    help: 'The agent type that gets the messages of A2A that name none; without it such a message is refused.',
  }),
  BATON_A2A_LEGACY: oneOf(['off', 'on'], {
    default: 'off',
    help: 'Whether callers of A2A 0.3 are answered too, over JSON-RPC; off refuses them in the words of the standard.',
  }),
  BATON_A2A_WAIT_MS: integer({
    min: 0,
    max: 50_000,
    default: 30_000,
    help: 'How long an answer of A2A waits for the end of a task before it says that it is under way.',
  }),
  ...SYNC_SETTINGS,
  BATON_GATEWAY_PUBLIC_URL: optionalText({
    help: 'Where callers reach the gateway, such as https://baton.example.org, as agent cards and the metadata of access tokens say it; without it they name the host that they were asked of.',
  }),
  BATON_EVENT_SECRETS_KEY: optionalSecret({
    help: 'Encrypts the secrets of subscriptions to events in the database, the same for all gateways; behind a comma, keys of before. Without it nobody is told of events by webhooks.',
  }),
  BATON_EVENTS_PRIVATE_TARGETS: optionalText({
    help: 'Origins in the own network, comma-separated, such as https://hooks.internal:8443, that subscriptions to events may name; every other must be of the public internet.',
  }),
  BATON_EVENTS_KEPT_DAYS: integer({
    min: 1,
    max: 90,
    default: EVENTS_DEFAULTS.keptDays,
    help: 'How long events are kept for readers, replays and consumers that are away.',
  }),
  BATON_EVENTS_TRY_HOURS: integer({
    min: 1,
    max: 720,
    default: EVENTS_DEFAULTS.endMs / 3_600_000,
    help: 'How long an event that its consumer does not take is tried; then it is a dead letter of the subscription.',
  }),
  BATON_EVENTS_CALL_MS: integer({
    min: 100,
    max: 60_000,
    default: EVENTS_DEFAULTS.callMs,
    help: 'How long one try to tell a subscription of an event may take.',
  }),
  BATON_EVENTS_SUBSCRIPTIONS_MAX: integer({
    min: 0,
    max: 1_000,
    default: EVENTS_DEFAULTS.subscriptionsMax,
    help: 'Subscriptions to events that one tenant may have.',
  }),
  BATON_GATEWAY_HOST: text({ default: '127.0.0.1', help: 'The address to listen on.' }),
  BATON_GATEWAY_PORT: integer({
    min: 0,
    max: 65_535,
    default: 8420,
    help: 'The port to listen on; 0 takes any free one and logs it.',
  }),
  BATON_TLS_CERT_FILE: {
    ...TLS_SETTINGS.BATON_TLS_CERT_FILE,
    formerly: 'BATON_SW4RM_TLS_CERT',
  },
  BATON_TLS_KEY_FILE: { ...TLS_SETTINGS.BATON_TLS_KEY_FILE, formerly: 'BATON_SW4RM_TLS_KEY' },
  BATON_TLS_CLIENTS: tlsClients({
    default: 'any',
    help: 'Who may call it where it speaks TLS: anybody, as callers have API keys, or only who has a certificate by BATON_TLS_CA_FILE as well. Holds for the service of SW4RM too.',
  }),
  BATON_GATEWAY_RATE_MAX: integer({
    min: 1,
    max: 10_000_000,
    default: 60_000,
    help: 'Requests per minute and API key; more are answered with 429.',
  }),
  BATON_GATEWAY_RUNNING_MAX: integer({
    min: 1,
    max: 10_000,
    default: 256,
    help: 'Requests under way at once; more are answered with 503.',
  }),
  BATON_GATEWAY_TENANT_RATE_MAX: integer({
    min: 1,
    max: 10_000_000,
    default: 60_000,
    help: 'Requests per minute of all keys of one tenant, evenly, where keys of several tenants come in: at once a twelfth of them or a hundred; more are answered with 429.',
  }),
  BATON_GATEWAY_TENANT_RUNNING_MAX: integer({
    min: 1,
    max: 10_000,
    default: 128,
    help: 'Requests of one tenant under way at once, where keys of several tenants come in; more are answered with 503.',
  }),
  BATON_GATEWAY_TENANT_BYTES_MAX: integer({
    min: 1_024,
    max: 1_073_741_824,
    default: 4_194_304,
    help: 'Bytes of bodies per second that one tenant may send, where keys of several tenants come in; more are answered with 429.',
  }),
  BATON_GATEWAY_READERS_MAX: integer({
    min: 0,
    max: 10_000,
    default: READER_BOUNDS.max,
    help: 'Readers that follow streams of chunks at once, each on a connection of its own; one more is answered with 503.',
  }),
  BATON_GATEWAY_READERS_PER_KEY_MAX: integer({
    min: 0,
    max: 10_000,
    default: READER_BOUNDS.perKeyMax,
    help: 'Of these, how many one API key may have; one more is answered with 429.',
  }),
  BATON_GATEWAY_CONNECTIONS_MAX: integer({
    min: 1,
    max: 65_535,
    default: 512,
    help: 'Open connections; for one more, the one that is idle for longest is closed. Each may hold one body of 1 MiB.',
  }),
  BATON_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX: integer({
    min: 1,
    max: 65_535,
    default: 256,
    help: 'Of these, how many one address may have, or one /64 of IPv6. All that comes through a proxy is one address.',
  }),
}

/** The bounds of what callers may send, keep open and have under way. */
export const readLimits = (
  settings: Settings<typeof GATEWAY_SETTINGS>,
): GatewayOptions['limits'] => ({
  rateMax: settings.BATON_GATEWAY_RATE_MAX,
  runningMax: settings.BATON_GATEWAY_RUNNING_MAX,
  tenants: {
    rateMax: settings.BATON_GATEWAY_TENANT_RATE_MAX,
    runningMax: settings.BATON_GATEWAY_TENANT_RUNNING_MAX,
    bytesPerSecondMax: settings.BATON_GATEWAY_TENANT_BYTES_MAX,
  },
  connectionsMax: settings.BATON_GATEWAY_CONNECTIONS_MAX,
  connectionsPerAddressMax: settings.BATON_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX,
  outboxMax: settings.BATON_OUTBOX_MAX,
  outboxCriticalMax: settings.BATON_OUTBOX_CRITICAL_MAX,
  outboxTenantMax: settings.BATON_OUTBOX_TENANT_MAX,
  outboxAgeMaxMs: settings.BATON_OUTBOX_AGE_MAX_MS,
  readers: {
    max: settings.BATON_GATEWAY_READERS_MAX,
    perKeyMax: settings.BATON_GATEWAY_READERS_PER_KEY_MAX,
  },
})

/** What is said of the handoff service of SW4RM; undefined where it is not to be opened. */
export const readSw4rm = (settings: Settings<typeof GATEWAY_SETTINGS>): Sw4rmOptions | undefined =>
  settings.BATON_SW4RM_PORT === 0
    ? undefined
    : {
        host: settings.BATON_SW4RM_HOST,
        port: settings.BATON_SW4RM_PORT,
        contextMode: settings.BATON_SW4RM_CONTEXT,
        leaseMs: settings.BATON_SW4RM_LEASE_MS,
      }

/** Where receivers are called directly; undefined where nobody is to be. Throws BATON_SYNC_RECEIVERS_INVALID. */
export function readSync(settings: Settings<typeof SYNC_SETTINGS>): SyncOptions | undefined {
  const { BATON_SYNC_RECEIVERS: receivers, BATON_SYNC_TOKEN: token } = settings
  if (receivers === undefined) return undefined
  if (token === undefined) throw TOKEN_MISSING
  return { receivers: parseReceivers(receivers), token, waitMs: settings.BATON_SYNC_WAIT_MS }
}

const TOKEN_MISSING = permanent(
  'BATON_SYNC_TOKEN_MISSING',
  'BATON_SYNC_RECEIVERS names receivers, and nobody may call them',
  { fix: 'Give the gateway the same BATON_SYNC_TOKEN as the receivers.' },
)

/** Whose pages may call /mcp. */
export const readMcp = ({
  BATON_MCP_ORIGINS: origins = '',
}: Settings<typeof GATEWAY_SETTINGS>) => ({
  origins: origins
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== ''),
})

/** Where the log is, and what may be asked of it. */
export const readAudit = (
  settings: Settings<typeof GATEWAY_SETTINGS>,
): GatewayOptions['audit'] => ({
  url: settings.BATON_AUDIT_URL,
  readToken: settings.BATON_AUDIT_READ_TOKEN,
  eraseToken: settings.BATON_AUDIT_ERASE_TOKEN,
  backupDays: settings.BATON_BACKUP_DAYS,
})

/** How events leave. Throws BATON_EVENTS_TARGETS_INVALID. */
export const readEvents = (settings: Settings<typeof GATEWAY_SETTINGS>): EventsOptions => ({
  secretsKey: settings.BATON_EVENT_SECRETS_KEY,
  privateOrigins: parsePrivateOrigins(settings.BATON_EVENTS_PRIVATE_TARGETS),
  keptDays: settings.BATON_EVENTS_KEPT_DAYS,
  endMs: settings.BATON_EVENTS_TRY_HOURS * 3_600_000,
  callMs: settings.BATON_EVENTS_CALL_MS,
  subscriptionsMax: settings.BATON_EVENTS_SUBSCRIPTIONS_MAX,
})

/** How peers of the session handshake are answered. */
export const readSession = (settings: Settings<typeof GATEWAY_SETTINGS>) => ({
  peersPath: settings.BATON_PEERS,
  waitMs: settings.BATON_SESSION_WAIT_MS,
  profileMs: settings.BATON_SESSION_PROFILE_S * 1000,
  replyTimes: {
    baseMs: settings.BATON_SESSION_REPLY_RETRY_MS,
    capMs: 3_600_000,
    endMs: settings.BATON_SESSION_REPLY_END_S * 1000,
  },
})

/** How agents of others are answered by A2A. Throws BATON_PUBLIC_URL_INVALID. */
export const readA2a = (settings: Settings<typeof GATEWAY_SETTINGS>): A2aOptions => ({
  publicUrl: readPublicUrl(settings.BATON_GATEWAY_PUBLIC_URL),
  agentType: settings.BATON_A2A_AGENT,
  legacy: settings.BATON_A2A_LEGACY === 'on',
  waitMs: settings.BATON_A2A_WAIT_MS,
})

function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBare =
    url !== undefined && `${url.search}${url.hash}${url.username}${url.password}` === ''
  if (url === undefined || !isBare || !/^https?:$/.test(url.protocol)) throw PUBLIC_URL_INVALID
  return url.href.replace(/\/+$/, '')
}

const PUBLIC_URL_INVALID = permanent(
  'BATON_PUBLIC_URL_INVALID',
  'BATON_GATEWAY_PUBLIC_URL is no address of a gateway',
  { fix: 'Give one such as https://baton.example.org, without a query.' },
)

/** What came in by a protocol without budgets and times of its own. */
export const readForeign = (settings: Settings<typeof GATEWAY_SETTINGS>) => ({
  budgetMicroUSD: settings.BATON_FOREIGN_BUDGET_MICRO_USD,
  messageExpiryMs: settings.BATON_MESSAGE_EXPIRY_S * 1000,
  profilesPath: settings.BATON_PROFILES,
})
