// Opens the cold store that the settings name: a folder or a bucket.
import { NO_TLS, permanent, refusePlainUrl } from '@baton/runtime'
import type { Settings, Tls } from '@baton/runtime'
import type { COLD_STORE_SETTINGS } from '../settings.ts'
import type { ColdStore } from './cold-store.ts'
import { createFileColdStore } from './file-cold-store.ts'
import { createS3ColdStore } from './s3-cold-store.ts'

type ColdStoreSettings = Settings<typeof COLD_STORE_SETTINGS>

/** The store that the settings name; undefined when they name none. Throws BATON_SETTINGS_INVALID and BATON_PLAINTEXT_REFUSED. */
export function openColdStore(
  settings: ColdStoreSettings,
  tls: Tls = NO_TLS,
): ColdStore | undefined {
  const { BATON_COLD_FOLDER: folder, BATON_COLD_S3_BUCKET: bucket } = settings
  if (folder !== undefined && bucket !== undefined) {
    throw permanent('BATON_SETTINGS_INVALID', 'two cold stores are named', {
      fix: 'Set BATON_COLD_FOLDER or BATON_COLD_S3_BUCKET, not both.',
    })
  }
  if (folder !== undefined) return createFileColdStore(folder)
  if (bucket === undefined) return undefined
  const { BATON_COLD_S3_LOCK_DAYS: lockDays, BATON_COLD_S3_ENDPOINT: endpoint } = settings
  // Its client is made with the first call; what is wrong is said at the start.
  if (endpoint !== undefined)
    refusePlainUrl(tls, { url: endpoint, setting: 'BATON_COLD_S3_ENDPOINT' })
  return createS3ColdStore({
    bucket,
    region: settings.BATON_COLD_S3_REGION,
    endpoint,
    tls,
    lockDays: lockDays === 0 ? undefined : lockDays,
  })
}
