// What an instance's auditor and gateway alone are told so that people can be erased: made once, apart from every other secret.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readSecretFile, secretsUnreadable, storeSecretsOnce } from './secret-files.ts'

export interface ErasureKeys {
  /** Password of role audit_eraser. */
  readonly eraserPassword: string
  /** Token with which the gateway reaches the auditor's erasure routes. */
  readonly eraseToken: string
}

const erasureKeysPath = (home: string): string => join(home, 'secrets', 'erasure.json')

const token = (): string => randomBytes(24).toString('base64url')

/** Made and stored where this home has none yet. */
export async function ensureErasureKeys(home: string): Promise<ErasureKeys> {
  const path = erasureKeysPath(home)
  const known = await readSecretFile<ErasureKeys>(path)
  if (known !== null) return known
  await storeSecretsOnce(path, { eraserPassword: token(), eraseToken: token() })
  const made = await readSecretFile<ErasureKeys>(path)
  if (made === null) throw secretsUnreadable(path)
  return made
}
