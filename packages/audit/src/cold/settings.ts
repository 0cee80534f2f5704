// Where the cold store is: a folder or a bucket, told to every process in the same words.
import { integer, optionalText, optionalUrl, permanent, text } from '@baton/runtime'
import type { Settings } from '@baton/runtime'
import type { ColdStore } from './cold-store.ts'
import { createFileColdStore } from './file-cold-store.ts'
import { createS3ColdStore } from './s3-cold-store.ts'

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

type ColdStoreSettings = Settings<typeof COLD_STORE_SETTINGS>

/** The store that the settings name; undefined when they name none. Throws BATON_SETTINGS_INVALID. */
export function openColdStore(settings: ColdStoreSettings): ColdStore | undefined {
  const { BATON_COLD_FOLDER: folder, BATON_COLD_S3_BUCKET: bucket } = settings
  if (folder !== undefined && bucket !== undefined) {
    throw permanent('BATON_SETTINGS_INVALID', 'two cold stores are named', {
      fix: 'Set BATON_COLD_FOLDER or BATON_COLD_S3_BUCKET, not both.',
    })
  }
  if (folder !== undefined) return createFileColdStore(folder)
  if (bucket === undefined) return undefined
  const lockDays = settings.BATON_COLD_S3_LOCK_DAYS
  return createS3ColdStore({
    bucket,
    region: settings.BATON_COLD_S3_REGION,
    endpoint: settings.BATON_COLD_S3_ENDPOINT,
    lockDays: lockDays === 0 ? undefined : lockDays,
  })
}
