// What a sealer is told: where it reads, with which key it signs, and who is shown the seals.
import { COLD_STORE_SETTINGS } from '@baton/audit/settings'
import {
  flag,
  integer,
  OPS_SETTINGS,
  optionalText,
  optionalUrl,
  PROCESS_SETTINGS,
  secret,
  text,
  url,
} from '@baton/runtime'

export const SEALER_SETTINGS = {
  BATON_AUDIT_SEALER_URL: url(['postgres', 'postgresql'], {
    help: 'The audit database, as the role audit_sealer.',
  }),
  BATON_SEAL_SIGNING_KEY: secret({
    help: 'The Ed25519 key that signs seals, no other process has it: PKCS #8 DER in base64. To change it name the new one first and the one in force behind it (NEW,OLD): the next seal hands over.',
  }),
  BATON_AUDIT_TRUSTED_KEYS: text({
    help: 'Public keys that batches may be signed with: SPKI DER in base64, separated by commas.',
  }),
  BATON_SEALER_STATE_FILE: text({
    help: 'What was signed last; on a disk that the database’s administrators cannot write to.',
  }),
  BATON_SEAL_ANCHOR_FILE: optionalText({
    help: 'A file to which the checkpoints of the seal log are appended.',
  }),
  BATON_SEAL_ANCHOR_FIRST_START: flag({
    default: false,
    help: 'Let anchors begin anew that had kept more before, as another file or a new witness of the same name. Take it away once the sealer has started.',
  }),
  BATON_SEAL_POLICY_FILE: optionalText({
    help: 'A C2SP tlog-policy: witnesses with their URLs, and how many are enough.',
  }),
  BATON_SEALER_STANDBY: flag({
    default: false,
    help: 'Set on every one of several sealers of a log: one seals, the others stand by. Each seal is cosigned by the first witness of BATON_SEAL_POLICY_FILE before it is published.',
  }),
  BATON_SEALER_LEASE_MS: integer({
    min: 500,
    max: 60_000,
    default: 10_000,
    help: 'How long a sealer that does not answer keeps the others waiting. The same for all of them.',
  }),
  BATON_SEAL_S3_BUCKET: optionalText({
    help: 'A bucket with Object Lock in which checkpoints of the seal log are kept.',
  }),
  BATON_SEAL_S3_REGION: text({ default: 'us-east-1', help: 'The region of that bucket.' }),
  BATON_SEAL_S3_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'Another service than AWS that speaks S3.',
  }),
  BATON_SEAL_S3_LOCK_DAYS: integer({
    min: 183,
    max: 36_500,
    default: 400,
    help: 'How long nobody can delete a checkpoint from the bucket (COMPLIANCE mode).',
  }),
  BATON_SEAL_EVERY_MS: integer({
    min: 50,
    max: 60_000,
    default: 1_000,
    help: 'How often records are sealed.',
  }),
  BATON_SEAL_HEARTBEAT_MS: integer({
    min: 100,
    max: 3_600_000,
    default: 60_000,
    help: 'A seal is made at least this often, so that silence is visible.',
  }),
  BATON_SEAL_ANCHOR_EVERY_MS: integer({
    min: 0,
    max: 3_600_000,
    default: 5_000,
    help: 'Least time between two checkpoints that are shown to anchors.',
  }),
  BATON_TASK_MAP_EVERY_MS: integer({
    min: 50,
    max: 600_000,
    default: 5_000,
    help: 'How often the map from tasks to their last records follows the seals.',
  }),
  // What left the database is read for a recovery, and when the map of tasks is made for the first time.
  ...COLD_STORE_SETTINGS,
  ...PROCESS_SETTINGS,
  ...OPS_SETTINGS,
}
