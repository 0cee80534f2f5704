// What the command line is told by the environment.
import { COLD_STORE_SETTINGS, KMS_SETTINGS, SEAL_WATCH_SETTINGS } from '@baton/audit/settings'
import { AUDITOR_SETTINGS } from '@baton/auditor/settings'
import { UNSAFE_POSTGRES_SETTINGS, UNSAFE_REDIS_SETTINGS } from '@baton/engine/settings'
import {
  flag,
  integer,
  oneOf,
  optionalForeignSecret,
  optionalRedisUrl,
  optionalSecret,
  optionalText,
  optionalUrl,
  optionalUrls,
  PEOPLE_SETTINGS,
  text,
  TLS_SETTINGS,
} from '@baton/runtime'

const POSTGRES = ['postgres', 'postgresql']
const {
  BATON_ALLOW_UNSEALED,
  BATON_AUDIT_TILES_TOKEN,
  BATON_AUDIT_TRUSTED_KEYS,
  BATON_ENVIRONMENT,
  BATON_SEAL_PUBLIC_KEY,
} = AUDITOR_SETTINGS

/** What an instance hands on to its services and no command reads. */
export const HANDED_ON_SETTINGS = {
  BATON_API_KEYS: optionalSecret({ help: 'API keys that the gateway of an instance takes.' }),
  BATON_AUDIT_TILES_TOKEN,
}

/** The environment overrules what an instance made for itself; see instance/secrets.ts. */
const madeSecret = (what: string) => optionalSecret({ help: `${what}; made once when absent.` })

const firstPort = (what: string, usual: number) =>
  integer({
    min: 1,
    max: 65_535,
    default: usual,
    help: `Port of an instance's ${what}; the next free one when it is taken.`,
  })

export const CLI_SETTINGS = {
  BATON_HOME: optionalText({
    help: 'Folder of the embedded instance: data, secrets, logs. `.baton` in the checkout by default.',
  }),
  BATON_PRINTED_BY_ENV: flag({
    default: false,
    help: '1 where `baton env` was evaluated in this shell: what it printed is for programs, and commands pass it over.',
  }),
  BATON_DATABASE_ADMIN_URL: optionalUrl(POSTGRES, {
    help: 'A superuser of your Postgres. Without it an embedded Postgres is started.',
  }),
  BATON_AUDIT_ADMIN_URL: optionalUrl(POSTGRES, {
    help: 'A superuser of another Postgres for the audit and vault databases; the same server by default.',
  }),
  BATON_BACKUP_FOLDER: optionalText({
    help: 'Where backups go, best on another disk; `backups` in the folder of the instance by default.',
  }),
  BATON_BACKUP_S3_REGION: text({
    default: 'us-east-1',
    help: 'The region of the bucket that `--to s3://…` and `--from s3://…` of backups name; credentials come from the AWS SDK’s own chain.',
  }),
  BATON_BACKUP_S3_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'Another service than AWS for that bucket.',
  }),
  BATON_BACKUP_S3_LOCK_DAYS: integer({
    min: 0,
    max: 36_500,
    default: 0,
    help: 'Object Lock in COMPLIANCE mode for each object of a backup there; 0 for none.',
  }),
  BATON_BACKUP_PASSPHRASE: optionalForeignSecret({
    help: 'Seals the secrets that `backup --secrets-to` keeps, and opens them for `restore --secrets`.',
  }),
  BATON_WITNESS_STATE_FILE: optionalText({
    help: 'The state of a witness that runs on this machine, for backups.',
  }),
  BATON_DATABASE_NAME: text({ default: 'baton', help: 'Name of the operational database.' }),
  BATON_REDIS_URL: optionalRedisUrl({
    help: 'Redis for the queue. Without it one is looked for, or the queue stays within the receiver.',
  }),
  ...KMS_SETTINGS,
  ...COLD_STORE_SETTINGS,
  ...UNSAFE_POSTGRES_SETTINGS,
  ...UNSAFE_REDIS_SETTINGS,
  BATON_GATEWAY_PORT: firstPort('gateway', 8_420),
  BATON_AUDITOR_PORT: firstPort('auditor', 8_421),
  BATON_ENVIRONMENT,
  BATON_AUDIT_TRUSTED_KEYS,
  BATON_SEAL_PUBLIC_KEY,
  BATON_ALLOW_UNSEALED,
  ...SEAL_WATCH_SETTINGS,
  BATON_APP_PASSWORD: madeSecret('Password of role baton_app'),
  BATON_APP_LOGIN: flag({
    default: true,
    help: '0: `migrate` lets nobody log in as baton_app, when every process has a role of its own.',
  }),
  BATON_GATEWAY_PASSWORD: madeSecret('Password of role baton_gateway'),
  BATON_DELIVERY_PASSWORD: madeSecret('Password of role baton_delivery'),
  BATON_AUDIT_WRITER_PASSWORD: madeSecret('Password of role audit_writer'),
  BATON_AUDIT_READER_PASSWORD: madeSecret('Password of role audit_reader'),
  BATON_VAULT_PASSWORD: madeSecret('Password of role vault_keeper'),
  BATON_AUDIT_SEALER_PASSWORD: madeSecret('Password of role audit_sealer'),
  BATON_AUDIT_ARCHIVER_PASSWORD: madeSecret('Password of role audit_archiver'),
  BATON_AUDIT_ERASER_PASSWORD: madeSecret('Password of role audit_eraser'),
  BATON_SIGNING_KEYS: madeSecret('Keys that sign handoffs, as the gateway takes them'),
  BATON_AUDIT_APPEND_TOKEN: madeSecret('Token that may append to the audit log'),
  BATON_AUDIT_READ_TOKEN: madeSecret('Token that may read the audit log'),
  BATON_AUDIT_SIGNING_KEY: madeSecret('Ed25519 key that signs batches, as the auditor takes it'),
  BATON_AUDIT_WRAPPING_KEY: madeSecret('Key that wraps the keys of data subjects'),
  BATON_AUDIT_LOOKUP_KEY: madeSecret('Key that finds a data subject'),
  BATON_API_KEY: madeSecret('API key or access token with which commands call the gateway'),
  BATON_PERSON_KEY: optionalSecret({
    help: 'With which you sign what you decide: Ed25519, PKCS #8 DER in base64, as `baton people key` makes it. On an instance of your own its people have keys already.',
  }),
  BATON_SAFETY_SIGNING_KEY: optionalSecret({
    help: 'With which `baton safety pack` signs: the name of the key, a plus sign, and Ed25519, PKCS #8 DER in base64, as `baton safety key` makes it.',
  }),
  ...PEOPLE_SETTINGS,
  BATON_GATEWAY_URL: optionalUrl(['http', 'https'], {
    help: 'The gateway that commands read and act through. Without it the instance is used, and started where it does not run.',
  }),
  BATON_AUDIT_URL: optionalUrls(['http', 'https'], {
    help: 'The auditor that commands ask; of several, separated by commas, the first that answers. Without it the one of the instance is used.',
  }),
  BATON_AUDIT_EVIDENCE_TOKEN: optionalSecret({
    help: 'Token for evidence and drills, for the auditor at BATON_AUDIT_URL.',
  }),
  BATON_AUDIT_HOLD_TOKEN: optionalSecret({
    help: 'Token that may hold tasks and lift holds, for the auditor at BATON_AUDIT_URL.',
  }),
  ...TLS_SETTINGS,
  HANDOFF_DIR: text({
    default: '.handoffs',
    help: 'Folder of the handoffs that `offer`, `list` and `accept` work on, by protocol v0.1.',
  }),
  HANDOFF_DATABASE_URL: optionalUrl(POSTGRES, {
    help: 'Operational database, as role baton_gateway: the same handoffs are then kept in its table `offer` instead of a folder.',
  }),
  HANDOFF_WEBHOOK_SECRET: optionalSecret({
    help: 'Signs what `list --watch --webhook` tells: whsec_ and 24 to 64 bytes in base64, as Standard Webhooks has it.',
  }),
  HANDOFF_VALIDATION: oneOf(['strict', 'lenient'], {
    default: 'strict',
    help: 'Whether a file must satisfy the schema of protocol v0.1, or only have an id and a status.',
  }),
  BATON_AUDIT_PAYLOAD_TOKEN: optionalSecret({
    help: 'Second token for evidence that shows what was said, for the auditor at BATON_AUDIT_URL.',
  }),
}
