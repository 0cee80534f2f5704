// The secrets of an embedded instance: made once, each file for those who need it, overruled by the environment.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ensureSecretFile, newSecret, readSecretFile } from '@baton/embedded/secret-files'
import { optionalSecret, permanent, readSettings, secret } from '@baton/runtime'

const symmetricKey = (): string => randomBytes(32).toString('base64')
/** Ed25519, PKCS #8 DER in base64. */
const signingKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')
/** What somebody sends as `Authorization: Bearer <key>`. */
const apiKey = (id: string) => (): string => `bk_${id}_${randomBytes(32).toString('base64url')}`

/** How each secret is made, by its file under `secrets/` and its name in there; homes that are older have other files. */
const FILES = {
  /** By the name of the setting that overrules each. */
  development: {
    BATON_APP_PASSWORD: newSecret,
    BATON_AUDIT_WRITER_PASSWORD: newSecret,
    BATON_AUDIT_READER_PASSWORD: newSecret,
    BATON_VAULT_PASSWORD: newSecret,
    BATON_SIGNING_KEYS: () => `development:active:${symmetricKey()}`,
    BATON_AUDIT_APPEND_TOKEN: newSecret,
    BATON_AUDIT_READ_TOKEN: newSecret,
    BATON_AUDIT_SIGNING_KEY: signingKey,
    BATON_AUDIT_WRAPPING_KEY: symmetricKey,
    BATON_AUDIT_LOOKUP_KEY: symmetricKey,
    /** For programs that send and read handoffs. */
    BATON_API_KEY: apiKey('development'),
  },
  /** Of the roles of services in the operational database; instances that have not this file yet run as `baton_app`. */
  roles: { BATON_GATEWAY_PASSWORD: newSecret, BATON_DELIVERY_PASSWORD: newSecret },
  seals: { sealerPassword: newSecret, sealing: signingKey, witnessing: signingKey },
  archive: { archiverPassword: newSecret, archiveToken: newSecret, holdToken: newSecret },
  erasure: { eraserPassword: newSecret, eraseToken: newSecret },
  /** The second token, together with the first, also shows what was said. */
  evidence: { evidenceToken: newSecret, payloadToken: newSecret, exporting: signingKey },
  /** For whoever collects the gateway's metrics, and nothing else. */
  monitoring: { metricsKey: apiKey('prometheus') },
  /** Of direct calls, from the gateway to the receiver. */
  calls: { syncToken: newSecret },
  /** With which secrets of subscriptions to events are encrypted. */
  events: { secretsKey: symmetricKey },
  /** `reviewer-1` and `reviewer-2` are two people: some decisions need two. */
  people: {
    operator: apiKey('operator'),
    'reviewer-1': apiKey('reviewer-1'),
    'reviewer-2': apiKey('reviewer-2'),
  },
  /** With which each of them signs what they decide. */
  signing: { operator: signingKey, 'reviewer-1': signingKey, 'reviewer-2': signingKey },
} as const satisfies Readonly<Record<string, Readonly<Record<string, () => string>>>>

type FileName = keyof typeof FILES
export type Person = keyof (typeof FILES)['people']
export const PEOPLE = Object.keys(FILES.people) as readonly Person[]

type Content<Name extends FileName> = { readonly [Key in keyof (typeof FILES)[Name]]: string }
/** Everything that services and migrations need, by file. */
export type Secrets = { readonly [Name in FileName]: Content<Name> }

/** Passwords of roles that stand in other files, by the setting that overrules each. */
type GivenPasswords =
  | 'BATON_AUDIT_SEALER_PASSWORD'
  | 'BATON_AUDIT_ARCHIVER_PASSWORD'
  | 'BATON_AUDIT_ERASER_PASSWORD'

/** Secrets that the environment gives; an absent or empty one is not given. */
export type GivenSecrets = Readonly<
  Partial<
    Record<
      keyof Content<'development'> | keyof Content<'roles'> | GivenPasswords,
      string | undefined
    >
  >
>

export const secretsPath = (home: string, name: FileName): string =>
  join(home, 'secrets', `${name}.json`)

/**
 * All secrets; files that are missing are made and stored first, `made` says that this home had none
 * at all. Throws BATON_SECRETS_UNREADABLE.
 */
export async function ensureSecrets(
  home: string,
  given: GivenSecrets,
): Promise<{ readonly secrets: Secrets; readonly made: boolean }> {
  const files = await Promise.all(
    (Object.keys(FILES) as FileName[]).map(async (name) => {
      const path = secretsPath(home, name)
      return [name, await ensureSecretFile(path, () => makeAll(FILES[name]))] as const
    }),
  )
  const stored = Object.fromEntries(
    files.map(([name, { content }]) => [name, content]),
  ) as unknown as Secrets
  const made = files.some(([name, file]) => name === 'development' && file.made)
  const { seals, archive, erasure } = stored
  const secrets = {
    ...stored,
    development: overruled(stored.development, given),
    roles: overruled(stored.roles, given),
    seals: {
      ...seals,
      sealerPassword: given.BATON_AUDIT_SEALER_PASSWORD || seals.sealerPassword,
    },
    archive: {
      ...archive,
      archiverPassword: given.BATON_AUDIT_ARCHIVER_PASSWORD || archive.archiverPassword,
    },
    erasure: {
      ...erasure,
      eraserPassword: given.BATON_AUDIT_ERASER_PASSWORD || erasure.eraserPassword,
    },
  }
  return { secrets, made }
}

/** The people of an installation on servers of one's own keep their keys themselves: none are made for them here. */
export async function withoutPeople(home: string): Promise<void> {
  await ensureSecretFile(secretsPath(home, 'people'), () => ({}))
  await ensureSecretFile(secretsPath(home, 'signing'), () => ({}))
}

const makeAll = (makers: Readonly<Record<string, () => string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, make()]))

/** One stored file, or null where this home has it not yet. Throws BATON_SECRETS_UNREADABLE. */
export const readStored = <Name extends FileName>(
  home: string,
  name: Name,
): Promise<Content<Name> | null> => readSecretFile(secretsPath(home, name))

function overruled<Stored extends Content<'development'> | Content<'roles'>>(
  stored: Stored,
  given: GivenSecrets,
): Stored {
  const names = Object.keys(stored) as (keyof Stored & keyof GivenSecrets)[]
  return Object.fromEntries(
    names.map((name) => [name, given[name] || stored[name]]),
  ) as unknown as Stored
}

const READING_SETTINGS = {
  BATON_APP_PASSWORD: optionalSecret({ help: 'Password of role baton_app.' }),
  /** What reads is the gateway's role, where there is one already; it needs nothing of `baton_app`. */
  BATON_GATEWAY_PASSWORD: optionalSecret({ help: 'Password of role baton_gateway.' }),
  BATON_AUDIT_READER_PASSWORD: secret({ help: 'Password of role audit_reader.' }),
  BATON_VAULT_PASSWORD: secret({ help: 'Password of role vault_keeper.' }),
  BATON_AUDIT_WRAPPING_KEY: secret({ help: 'The auditor’s wrapping key.' }),
  BATON_AUDIT_LOOKUP_KEY: secret({ help: 'The auditor’s lookup key.' }),
  /** Reading needs the public key only, which BATON_AUDIT_TRUSTED_KEYS can give. */
  BATON_AUDIT_SIGNING_KEY: optionalSecret({ help: 'The auditor’s signing key.' }),
  /** Only for sending. */
  BATON_SIGNING_KEYS: optionalSecret({ help: 'The keys that sign handoffs.' }),
}

/** Before the roles of services were parted, what reads was the role that may do what all of them may. */
const READING_SETTINGS_BEFORE_ROLES = {
  ...READING_SETTINGS,
  BATON_APP_PASSWORD: secret({ help: 'Password of role baton_app.' }),
}

/** What commands that only read have at least. */
export type ReadingSecrets = ReturnType<typeof readSettings<typeof READING_SETTINGS>>

/** The stored secrets as the environment overrules them, or null where this home has none yet. */
export async function readSecrets(
  home: string,
  given: GivenSecrets,
): Promise<ReadingSecrets | null> {
  const stored = await readStored(home, 'development')
  if (stored === null) return null
  const roles = await readStored(home, 'roles')
  const { BATON_GATEWAY_PASSWORD } = overruled(roles ?? NO_ROLES, given)
  return {
    ...overruled(stored, given),
    BATON_GATEWAY_PASSWORD: BATON_GATEWAY_PASSWORD || undefined,
  }
}

/** An instance of before the roles of services were parted. */
const NO_ROLES: Content<'roles'> = { BATON_GATEWAY_PASSWORD: '', BATON_DELIVERY_PASSWORD: '' }

/**
 * What reads without a secrets file; null when none of it is given. Throws BATON_SETTINGS_INVALID
 * that names every missing one when some of it is given.
 */
export function readGivenSecrets(given: GivenSecrets): ReadingSecrets | null {
  const names = Object.keys(READING_SETTINGS) as (keyof ReadingSecrets)[]
  if (!names.some((name) => given[name])) return null
  return given.BATON_GATEWAY_PASSWORD
    ? readSettings(READING_SETTINGS, given)
    : readSettings(READING_SETTINGS_BEFORE_ROLES, given)
}

/** Throws BATON_USAGE for a name that an instance does not know. */
export function readPerson(name: string): Person {
  const known = PEOPLE.find((person) => person === name)
  if (known !== undefined) return known
  throw permanent('BATON_USAGE', `an instance has nobody called ${JSON.stringify(name)}`, {
    fix: `Give --as one of ${PEOPLE.join(', ')}, or a key of your own as BATON_API_KEY.`,
  })
}
