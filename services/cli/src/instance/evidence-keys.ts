// What an instance needs for evidence: the tokens that may ask for it and the key that signs it; for development.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readSecretFile, secretsUnreadable, storeSecretsOnce } from './secret-files.ts'

export interface EvidenceKeys {
  /** May export evidence and run drills. */
  readonly evidenceToken: string
  /** Together with the other one: may also export what was said. */
  readonly payloadToken: string
  /** Ed25519, PKCS #8 DER in base64: signs manifests. */
  readonly exporting: string
}

const token = (): string => randomBytes(24).toString('base64url')

/** Made and stored where this home has none yet. Throws BATON_SECRETS_UNREADABLE. */
export async function ensureEvidenceKeys(home: string): Promise<EvidenceKeys> {
  const path = join(home, 'secrets', 'evidence.json')
  const known = await readSecretFile<EvidenceKeys>(path)
  if (known !== null) return known
  const { privateKey } = generateKeyPairSync('ed25519')
  const exporting = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  await storeSecretsOnce(path, { evidenceToken: token(), payloadToken: token(), exporting })
  const made = await readSecretFile<EvidenceKeys>(path)
  if (made === null) throw secretsUnreadable(path)
  return made
}
