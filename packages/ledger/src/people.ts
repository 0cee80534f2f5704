// Whose decisions count: people, their roles and their public keys, as the checking process was told by its own settings.
import { fromBase64, toBase64 } from './bytes.ts'
import { LedgerError } from './ledger-error.ts'
import { sha256Hex } from './sha256.ts'
import { OPERATOR } from './tenant-names.ts'

/** `reviewer` decides about dead letters and approvals, `compliance` about holds and erasures. */
export const ROLES = ['reviewer', 'compliance'] as const
export type Role = (typeof ROLES)[number]

export interface PersonKey {
  readonly person: string
  readonly roles: ReadonlySet<Role>
  /** The raw 32 bytes. */
  readonly publicKey: Uint8Array
  /** Milliseconds since 1970; what is signed from then on does not count. */
  readonly untilMs: number | undefined
}

/** By the id of the key. */
export type People = ReadonlyMap<string, PersonKey>

export const NOBODY: People = new Map()

const ENTRY = new RegExp(
  String.raw`^(?<person>${OPERATOR}):(?<roles>[a-z+]{1,64}):(?<key>[A-Za-z0-9+/]{43}=)(?::(?<until>\d{4}-\d{2}-\d{2}))?$`,
)

/** The first 16 hex digits of SHA-256 over the raw key. */
export const personKeyId = (publicKey: Uint8Array): string => sha256Hex(publicKey).slice(0, 16)

/**
 * Parses `BATON_PEOPLE`: entries `person:role+role:publicKey`, the raw Ed25519 key in base64, optionally `:YYYY-MM-DD` for the
 * day (UTC) from which signatures of this key count no more; separated by commas or white space. One person may have
 * several keys. Throws BATON_PEOPLE_INVALID.
 */
export function parsePeople(setting: string): People {
  const people = new Map<string, PersonKey>()
  const entries = setting.split(/[\s,]+/).filter((entry) => entry !== '')
  for (const [index, entry] of entries.entries()) {
    const key = readPersonEntry(entry)
    if (typeof key === 'string') throw invalid(`entry ${index + 1} ${key}`)
    const keyId = personKeyId(key.publicKey)
    if (people.has(keyId)) throw invalid(`the key of entry ${index + 1} occurs twice`)
    people.set(keyId, key)
  }
  return people
}

/** One entry of it, or what is wrong with it. */
export function readPersonEntry(entry: string): PersonKey | string {
  const groups = ENTRY.exec(entry)?.groups
  const publicKey = fromBase64(groups?.['key'] ?? '')
  if (groups === undefined || publicKey === undefined)
    return 'is not person:role+role:publicKey, optionally with :YYYY-MM-DD; `baton people key NAME` prints one'
  const { person = '', roles = '', until } = groups
  const named = roles.split('+')
  const unknown = named.find((role) => !isRole(role))
  if (unknown !== undefined) return `names the role ${unknown}; there are ${ROLES.join(', ')}`
  const untilMs = until === undefined ? undefined : Date.parse(`${until}T00:00:00Z`)
  if (untilMs !== undefined && dayOf(untilMs) !== until)
    return `ends on ${until}, which is not a date`
  return { person, roles: new Set(named.filter(isRole)), publicKey, untilMs }
}

/** Undefined for no time; of a day that its month does not have, the parser makes a later one. */
const dayOf = (ms: number): string | undefined =>
  Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length)

const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text)

const invalid = (problem: string) =>
  new LedgerError('BATON_PEOPLE_INVALID', `BATON_PEOPLE: ${problem}`)

/** The entry of one person's key for `BATON_PEOPLE`. */
export const personEntry = (
  person: string,
  roles: readonly Role[],
  publicKey: Uint8Array,
): string => `${person}:${roles.join('+')}:${toBase64(publicKey)}`

/** The entry that a key was read from. */
export function entryOfKey({ person, roles, publicKey, untilMs }: PersonKey): string {
  const entry = personEntry(person, [...roles], publicKey)
  return untilMs === undefined ? entry : `${entry}:${dayOf(untilMs)}`
}
