// Development keys and passwords: made once, readable by their owner only, overruled by the environment.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { optionalSecret, readSettings, secret } from '@baton/runtime'
import { readSecretFile, secretsUnreadable, storeSecretsOnce } from './secret-files.ts'

/** By the name of the setting that overrules each. */
export interface Secrets {
  readonly BATON_APP_PASSWORD: string
  readonly BATON_AUDIT_WRITER_PASSWORD: string
  readonly BATON_AUDIT_READER_PASSWORD: string
  readonly BATON_VAULT_PASSWORD: string
  readonly BATON_SIGNING_KEYS: string
  readonly BATON_AUDIT_APPEND_TOKEN: string
  readonly BATON_AUDIT_READ_TOKEN: string
  readonly BATON_AUDIT_SIGNING_KEY: string
  readonly BATON_AUDIT_WRAPPING_KEY: string
  readonly BATON_AUDIT_LOOKUP_KEY: string
  /** What a program that sends and reads handoffs sends as `Authorization: Bearer <key>`. */
  readonly BATON_API_KEY: string
}

/** Secrets that the environment gives; an absent or empty one is not given. */
export type GivenSecrets = Readonly<Partial<Record<keyof Secrets, string | undefined>>>

/** What commands that only read have at least. */
export interface ReadingSecrets {
  readonly BATON_APP_PASSWORD: string
  readonly BATON_AUDIT_READER_PASSWORD: string
  readonly BATON_VAULT_PASSWORD: string
  readonly BATON_AUDIT_WRAPPING_KEY: string
  readonly BATON_AUDIT_LOOKUP_KEY: string
  /** Reading needs the public key only, which BATON_AUDIT_TRUSTED_KEYS can give. */
  readonly BATON_AUDIT_SIGNING_KEY: string | undefined
  /** Only for sending. */
  readonly BATON_SIGNING_KEYS: string | undefined
}

const READING_SETTINGS = {
  BATON_APP_PASSWORD: secret({ help: 'password of role baton_app' }),
  BATON_AUDIT_READER_PASSWORD: secret({ help: 'password of role audit_reader' }),
  BATON_VAULT_PASSWORD: secret({ help: 'password of role vault_keeper' }),
  BATON_AUDIT_WRAPPING_KEY: secret({ help: 'the auditor’s wrapping key' }),
  BATON_AUDIT_LOOKUP_KEY: secret({ help: 'the auditor’s lookup key' }),
  BATON_AUDIT_SIGNING_KEY: optionalSecret({ help: 'the auditor’s signing key' }),
  BATON_SIGNING_KEYS: optionalSecret({ help: 'the keys that sign handoffs' }),
}

const token = (): string => randomBytes(24).toString('base64url')
const key = (): string => randomBytes(32).toString('base64')

export const secretsPath = (home: string): string => join(home, 'secrets', 'development.json')

/** The stored secrets, or null when this home has none yet. Throws BATON_SECRETS_UNREADABLE. */
export async function readSecrets(home: string, given: GivenSecrets): Promise<Secrets | null> {
  const stored = await readSecretFile<Secrets>(secretsPath(home))
  return stored === null ? null : overruled(stored, given)
}

/**
 * What reads without a secrets file; null when none of it is given. Throws BATON_SETTINGS_INVALID
 * that names every missing one when some of it is given.
 */
export function readGivenSecrets(given: GivenSecrets): ReadingSecrets | null {
  const names = Object.keys(READING_SETTINGS) as (keyof ReadingSecrets)[]
  if (!names.some((name) => given[name])) return null
  return readSettings(READING_SETTINGS, given)
}

/** The stored secrets; missing ones are made and stored first. `made` says that the file is new. */
export async function ensureSecrets(
  home: string,
  given: GivenSecrets,
): Promise<{ secrets: Secrets; made: boolean }> {
  const known = await readSecrets(home, given)
  if (known !== null) return { secrets: known, made: false }
  const path = secretsPath(home)
  const made = await storeSecretsOnce(path, newSecrets())
  const secrets = await readSecrets(home, given)
  if (secrets === null) throw secretsUnreadable(path)
  return { secrets, made }
}

function newSecrets(): Secrets {
  const { privateKey } = generateKeyPairSync('ed25519')
  return {
    BATON_APP_PASSWORD: token(),
    BATON_AUDIT_WRITER_PASSWORD: token(),
    BATON_AUDIT_READER_PASSWORD: token(),
    BATON_VAULT_PASSWORD: token(),
    BATON_SIGNING_KEYS: `development:active:${key()}`,
    BATON_AUDIT_APPEND_TOKEN: token(),
    BATON_AUDIT_READ_TOKEN: token(),
    BATON_AUDIT_SIGNING_KEY: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    BATON_AUDIT_WRAPPING_KEY: key(),
    BATON_AUDIT_LOOKUP_KEY: key(),
    BATON_API_KEY: `bk_development_${randomBytes(32).toString('base64url')}`,
  }
}

function overruled(stored: Secrets, given: GivenSecrets): Secrets {
  const names = Object.keys(stored) as (keyof Secrets)[]
  return Object.fromEntries(
    names.map((name) => [name, given[name] || stored[name]]),
  ) as unknown as Secrets
}
