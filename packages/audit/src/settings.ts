// The settings that several readers and writers of the log share. An entry of its own, because every command of the
// command line reads them and few load the log.
import { integer, optionalText, optionalUrl, text } from '@baton/runtime'
import type { Settings } from '@baton/runtime'

/** Healthy clocks differ by milliseconds; the chains follow the largest time they were ever given. */
export const CLOCK_AHEAD_MAX_MS = 2_000

/** Where the cold store is: a folder or a bucket, told to every process in the same words. */
export const COLD_STORE_SETTINGS = {
  BATON_COLD_FOLDER: optionalText({
    help: 'The cold store as a folder, on other disks than the audit database.',
  }),
  BATON_COLD_S3_BUCKET: optionalText({
    help: 'The cold store as an S3 bucket; credentials come from the AWS SDK’s own chain.',
  }),
  BATON_COLD_S3_REGION: text({ default: 'us-east-1', help: 'The region of the bucket.' }),
  BATON_COLD_S3_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'Another S3 service than AWS.',
  }),
  BATON_COLD_S3_LOCK_DAYS: integer({
    min: 0,
    max: 36_500,
    default: 0,
    help: 'Object Lock in COMPLIANCE mode for each object, at most the retention; 0 for none.',
  }),
}

/** Where a wrapping key that is the ARN of a key of KMS is asked for. */
export const KMS_SETTINGS = {
  BATON_KMS_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'Another service than AWS that speaks KMS, for a wrapping key that is an ARN.',
  }),
}

/** How long records stay where: the archiver acts by it, and the auditor reports it. */
export const RETENTION_SETTINGS = {
  BATON_AUDIT_HOT_DAYS: integer({
    min: 1,
    max: 3_650,
    default: 30,
    help: 'How many days of records stay in the audit database.',
  }),
  BATON_AUDIT_RETENTION_DAYS: integer({
    min: 183,
    max: 36_500,
    default: 400,
    help: 'How long records are kept at all; 183 days are the least that the AI Act allows.',
  }),
  BATON_AUDIT_SEAL_AGE_MAX_MS: integer({
    min: 100,
    max: 7_200_000,
    default: 90_000,
    help: 'How old the newest seal may be to prove that nobody holds a task: more than BATON_SEAL_HEARTBEAT_MS.',
  }),
}

/** Who is asked, by whoever acts on it that a seal was seen outside; the same names as the sealer's own settings. */
export const SEEN_OUTSIDE_SETTINGS = {
  BATON_SEAL_ANCHOR_FILE: optionalText({
    help: 'The file to which the sealer’s checkpoints are appended, or a copy as new as the newest of them.',
  }),
  BATON_SEAL_POLICY_FILE: optionalText({
    help: 'The C2SP tlog-policy that names the sealer’s witnesses with their URLs: a verification asks each of them.',
  }),
}

export type SeenOutsideSettings = Settings<typeof SEEN_OUTSIDE_SETTINGS>

/** What whoever verifies is told of the sealer's anchors; the same names as the sealer's own settings. */
export const SEAL_WATCH_SETTINGS = {
  ...SEEN_OUTSIDE_SETTINGS,
  BATON_SEAL_S3_BUCKET: optionalText({
    help: 'The bucket in which the sealer keeps checkpoints; credentials come from the AWS SDK’s own chain.',
  }),
  BATON_SEAL_S3_REGION: text({ default: 'us-east-1', help: 'The region of that bucket.' }),
  BATON_SEAL_S3_ENDPOINT: optionalUrl(['http', 'https'], {
    help: 'Another service than AWS that speaks S3.',
  }),
  BATON_SEALER_STATE_FILE: optionalText({
    help: 'The sealer’s own state, where this process may read it: it knows of seals before anybody else.',
  }),
}

export type SealWatchSettings = Settings<typeof SEAL_WATCH_SETTINGS>
