// What the auditor needs to know; every limit has a name, a unit and a bound.
import {
  CLOCK_AHEAD_MAX_MS,
  COLD_STORE_SETTINGS,
  KMS_SETTINGS,
  RETENTION_SETTINGS,
  SEAL_WATCH_SETTINGS,
} from '@baton/audit/settings'
import {
  flag,
  integer,
  ISSUER_SETTINGS,
  OPS_SETTINGS,
  optionalSecret,
  optionalText,
  optionalUrl,
  PEOPLE_SETTINGS,
  PROCESS_SETTINGS,
  secret,
  text,
  tlsClients,
  url,
} from '@baton/runtime'

const POSTGRES = ['postgres', 'postgresql']

export const AUDITOR_SETTINGS = {
  BATON_AUDIT_WRITER_URL: url(POSTGRES, { help: 'The audit database, as the role audit_writer.' }),
  BATON_AUDIT_READER_URL: url(POSTGRES, { help: 'The audit database, as the role audit_reader.' }),
  BATON_VAULT_URL: url(POSTGRES, { help: 'The vault database, as the role vault_keeper.' }),
  BATON_AUDIT_APPEND_TOKEN: secret({ help: 'The bearer token of those who may append.' }),
  BATON_AUDIT_READ_TOKEN: secret({ help: 'The bearer token of those who may read and verify.' }),
  BATON_AUDIT_TILES_TOKEN: optionalSecret({
    help: 'The bearer token of outsiders who read checkpoints and tiles alone, which hold the records but no texts; nobody may without it.',
  }),
  BATON_AUDIT_EVIDENCE_TOKEN: optionalSecret({
    help: 'The bearer token of those who may export evidence and run drills; nobody may without it.',
  }),
  BATON_AUDIT_PAYLOAD_TOKEN: optionalSecret({
    help: 'A second token for evidence that also shows what was said; nobody sees it without it.',
  }),
  BATON_EVIDENCE_SIGNING_KEY: optionalSecret({
    help: 'The Ed25519 key that signs the manifests of evidence: PKCS #8 DER in base64.',
  }),
  BATON_EVIDENCE_POLICY_FILE: optionalText({
    help: 'The C2SP policy file that goes into evidence for convenience; one of the own keys by default. It holds public lines alone: whoever gets a bundle gets it too.',
  }),
  BATON_EVIDENCE_WAIT_MS: integer({
    min: 0,
    max: 20_000,
    default: 3_000,
    help: 'How long evidence of a young task waits for its seal and witnesses before it is incomplete.',
  }),
  BATON_AUDIT_DRILL_EVERY_S: integer({
    min: 0,
    max: 604_800,
    default: 86_400,
    help: 'How often a random past task is rebuilt and verified as if a regulator had asked, where there is a token for evidence; 0 is never.',
  }),
  BATON_AUDIT_ERASER_URL: optionalUrl(POSTGRES, {
    help: 'The audit database, as the role audit_eraser; without it nobody can be erased.',
  }),
  BATON_AUDIT_ERASE_TOKEN: optionalSecret({
    help: 'The bearer token of the gateway for erasures; without it there are no routes for them.',
  }),
  BATON_AUDIT_SIGNING_KEY: secret({
    help: 'The Ed25519 key that signs batches: PKCS #8 DER in base64.',
  }),
  BATON_AUDIT_TRUSTED_KEYS: optionalText({
    help: 'Public keys of earlier signing keys: SPKI DER in base64, separated by commas.',
  }),
  BATON_SEAL_PUBLIC_KEY: optionalText({
    help: 'The sealer’s public key: SPKI DER in base64. Records that stay unsealed stop appends.',
  }),
  BATON_ALLOW_UNSEALED: flag({
    default: false,
    help: 'Start without BATON_SEAL_PUBLIC_KEY: then nobody notices when the end of the log is cut off, or an older database restored.',
  }),
  ...SEAL_WATCH_SETTINGS,
  BATON_AUDIT_SCRUB_PER_SECOND: integer({
    min: 1,
    max: 100_000,
    default: 500,
    help: 'Records that are read again each second; more where a pass would take longer than a day.',
  }),
  BATON_AUDIT_CLOCK_AHEAD_MAX_MS: integer({
    min: 100,
    max: 60_000,
    default: CLOCK_AHEAD_MAX_MS,
    help: 'How far this machine’s clock may be ahead of the database’s before appends are answered with 503.',
  }),
  BATON_AUDIT_UNSEALED_MAX_MS: integer({
    min: 1_000,
    max: 3_600_000,
    default: 60_000,
    help: 'How old the oldest unsealed record may be before appends are answered with 503.',
  }),
  BATON_AUDIT_WRAPPING_KEY: secret({
    help: 'What wraps the keys of data subjects: 32 bytes in base64, or the ARN of a key of AWS KMS, with credentials from the AWS SDK’s own chain; earlier ones behind it, separated by commas.',
  }),
  BATON_AUDIT_LOOKUP_KEY: secret({
    help: 'What finds a data subject without storing who it is: 32 bytes in base64; earlier keys behind it, separated by commas.',
  }),
  ...KMS_SETTINGS,
  ...COLD_STORE_SETTINGS,
  ...RETENTION_SETTINGS,
  BATON_AUDIT_ARCHIVE_TOKEN: optionalSecret({
    help: 'The bearer token of the archiver; without it nobody can record what left a store.',
  }),
  BATON_AUDIT_HOLD_TOKEN: optionalSecret({
    help: 'The bearer token of those who may hold tasks and lift holds; without it nobody may.',
  }),
  BATON_ALLOW_UNSAFE_POSTGRES: flag({
    default: false,
    help: 'Start although fsync, full_page_writes or synchronous_commit is off in Postgres, or the schema of the log was altered.',
  }),
  BATON_ENVIRONMENT: text({
    default: 'development',
    pattern: /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
    bounds: 'lower-case letters, digits and inner hyphens, at most 32',
    help: 'Separates two systems: their data subjects, and the names of the chains of a new log.',
  }),
  BATON_AUDITOR_HOST: text({ default: '127.0.0.1', help: 'The address to listen on.' }),
  BATON_AUDITOR_PORT: integer({
    min: 0,
    max: 65_535,
    default: 8421,
    help: 'The port to listen on; 0 takes any free one.',
  }),
  BATON_AUDITOR_CONNECTIONS_MAX: integer({
    min: 1,
    max: 65_535,
    default: 512,
    help: 'Open connections; for one more, the one that is idle for longest is closed.',
  }),
  BATON_AUDITOR_CONNECTIONS_PER_ADDRESS_MAX: integer({
    min: 1,
    max: 65_535,
    default: 256,
    help: 'Of these, how many one address may have, or one /64 of IPv6; all that comes through a proxy is one address.',
  }),
  BATON_TLS_CLIENTS: tlsClients({
    default: 'certified',
    help: 'Who may call it where it speaks TLS: who has a certificate by BATON_TLS_CA_FILE and a token, or anybody with a token.',
  }),
  BATON_AUDIT_QUEUED_MAX: integer({
    min: 256,
    max: 65_536,
    default: 4_096,
    help: 'Entries that may wait for their commit; more are answered with 503.',
  }),
  BATON_AUDIT_BODY_BYTES_MAX: integer({
    min: 65_536,
    max: 268_435_456,
    default: 16_777_216,
    help: 'The largest request body.',
  }),
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...ISSUER_SETTINGS,
}
