// The keys of an instance's sealer and witness, apart from every other secret: made once, for development.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readSecretFile, secretsUnreadable, storeSecretsOnce } from './secret-files.ts'

export interface SealKeys {
  /** Password of role audit_sealer. */
  readonly sealerPassword: string
  /** Ed25519, PKCS #8 DER in base64: signs seals. */
  readonly sealing: string
  /** Ed25519, PKCS #8 DER in base64: cosigns as the instance's own witness. */
  readonly witnessing: string
}

const sealKeysPath = (home: string): string => join(home, 'secrets', 'seals.json')

/** Where an instance keeps what its sealer signed, its anchor and its witness. */
export const sealFiles = (home: string) => {
  const folder = join(home, 'seals')
  return {
    folder,
    state: join(folder, 'sealer.json'),
    anchor: join(folder, 'anchor.jsonl'),
    policy: join(folder, 'policy'),
    witnessState: join(folder, 'witness.json'),
  }
}

const privateKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

/** Null where this home has none yet. */
export const readSealKeys = (home: string): Promise<SealKeys | null> =>
  readSecretFile<SealKeys>(sealKeysPath(home))

/** Made and stored where this home has none yet. */
export async function ensureSealKeys(home: string): Promise<SealKeys> {
  const path = sealKeysPath(home)
  const known = await readSealKeys(home)
  if (known !== null) return known
  await storeSecretsOnce(path, {
    sealerPassword: randomBytes(24).toString('base64url'),
    sealing: privateKey(),
    witnessing: privateKey(),
  })
  const made = await readSealKeys(home)
  if (made === null) throw secretsUnreadable(path)
  return made
}

/** SPKI DER in base64: what everybody may know. */
export function publicHalf(pkcs8: string): string {
  const key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
}
