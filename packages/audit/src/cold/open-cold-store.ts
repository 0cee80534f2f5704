// Opens the cold store that the settings name: a folder or a bucket.
import { permanent } from '@baton/runtime'
import type { Settings } from '@baton/runtime'
import type { COLD_STORE_SETTINGS } from '../settings.ts'
import type { ColdStore } from './cold-store.ts'
import { createFileColdStore } from './file-cold-store.ts'
import { createS3ColdStore } from './s3-cold-store.ts'

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
