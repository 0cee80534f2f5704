// What an instance's archiver alone is told: made once, apart from every other secret.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readSecretFile, secretsUnreadable, storeSecretsOnce } from './secret-files.ts'

export interface ArchiveKeys {
  /** Password of role audit_archiver. */
  readonly archiverPassword: string
  /** Token with which the archiver records what left a store. */
  readonly archiveToken: string
  /** Token of those who may hold tasks and lift holds. */
  readonly holdToken: string
}

const archiveKeysPath = (home: string): string => join(home, 'secrets', 'archive.json')

/** The folder of the cold store, where it is one: the one that is named, else one of the instance. */
export function coldFolderOf(
  settings: Readonly<Record<'BATON_COLD_FOLDER' | 'BATON_COLD_S3_BUCKET', string | undefined>>,
  home: string,
): string | undefined {
  const { BATON_COLD_FOLDER: folder, BATON_COLD_S3_BUCKET: bucket } = settings
  return folder || (bucket ? undefined : join(home, 'cold'))
}

const token = (): string => randomBytes(24).toString('base64url')

/** Made and stored where this home has none yet. */
export async function ensureArchiveKeys(home: string): Promise<ArchiveKeys> {
  const path = archiveKeysPath(home)
  const known = await readSecretFile<ArchiveKeys>(path)
  if (known !== null) return known
  await storeSecretsOnce(path, {
    archiverPassword: token(),
    archiveToken: token(),
    holdToken: token(),
  })
  const made = await readSecretFile<ArchiveKeys>(path)
  if (made === null) throw secretsUnreadable(path)
  return made
}
