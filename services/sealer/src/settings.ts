// What a sealer is told: where it reads, with which key it signs, and who is shown the seals.
import { COLD_STORE_SETTINGS } from '@baton/audit'
import { integer, oneOf, optionalText, optionalUrl, secret, text, url } from '@baton/runtime'

export const SEALER_SETTINGS = {
  BATON_AUDIT_SEALER_URL: url(['postgres', 'postgresql'], {
    help: 'the audit database, as the role audit_sealer',
  }),
  BATON_SEAL_SIGNING_KEY: secret({
    help: 'the Ed25519 key that signs seals, no other process has it: PKCS #8 DER in base64',
  }),
  BATON_AUDIT_TRUSTED_KEYS: text({
    help: 'public keys that batches may be signed with: SPKI DER in base64, separated by commas',
  }),
  BATON_SEALER_STATE_FILE: text({
    help: 'what was signed last; on a disk that the database’s administrators cannot write to',
  }),
  BATON_SEAL_ANCHOR_FILE: optionalText({
    help: 'a file to which the checkpoints of the seal log are appended',
  }),
  BATON_SEAL_POLICY_FILE: optionalText({
    help: 'a C2SP tlog-policy: witnesses with their URLs, and how many are enough',
  }),
  BATON_SEAL_S3_BUCKET: optionalText({
    help: 'a bucket with Object Lock in which checkpoints of the seal log are kept',
  }),
  BATON_SEAL_S3_REGION: text({ default: 'us-east-1', help: 'the region of that bucket' }),
  BATON_SEAL_S3_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'another service than AWS that speaks S3',
  }),
  BATON_SEAL_S3_LOCK_DAYS: integer({
    min: 183,
    max: 36_500,
    default: 400,
    help: 'how long nobody can delete a checkpoint from the bucket (COMPLIANCE mode)',
  }),
  BATON_SEAL_EVERY_MS: integer({
    min: 50,
    max: 60_000,
    default: 1_000,
    help: 'how often records are sealed',
  }),
  BATON_SEAL_HEARTBEAT_MS: integer({
    min: 100,
    max: 3_600_000,
    default: 60_000,
    help: 'a seal is made at least this often, so that silence is visible',
  }),
  BATON_SEAL_ANCHOR_EVERY_MS: integer({
    min: 0,
    max: 3_600_000,
    default: 5_000,
    help: 'least time between two checkpoints that are shown to anchors',
  }),
  // Only a recovery reads it.
  ...COLD_STORE_SETTINGS,
  BATON_OPS_HOST: text({ default: '127.0.0.1', help: 'where metrics and health are served' }),
  BATON_OPS_PORT: integer({
    min: 0,
    max: 65_535,
    default: 0,
    help: 'the port of metrics and health; 0 takes any free one',
  }),
  BATON_DRAIN_MS: integer({
    min: 100,
    max: 300_000,
    default: 10_000,
    help: 'how long a stop may take',
  }),
  BATON_LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
    help: 'the least severe log line that is written',
  }),
}
