// Who may call: API keys with scopes. Only digests are kept, and they are compared in constant time.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { DEFAULT_TENANT, facts, OPERATOR_NAME, TENANT } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import { decides, isRole, ROLES } from '@baton/http/access-tokens'
import type { Withheld } from '@baton/http/access-tokens'
import type { ProblemError } from '@baton/http/server'
import { permanent } from '@baton/runtime'
import type { StoredApiKey } from '@baton/store'

/** What a key may be for. */
export const SCOPES = [
  'handoffs:send',
  /** Send with priority 0, which has a bound of its own; beside `handoffs:send`. */
  'handoffs:send-critical',
  'handoffs:read',
  /** Take returns and rollbacks of one's agents, send revisions. */
  'handoffs:return',
  'handoffs:cancel',
  /** Claim handoffs for agents outside, and settle what was claimed. */
  'executions:claim',
  'tasks:resume',
  'approvals:decide',
  'dead-letters:review',
  'dead-letters:redrive',
  /** Plan the erasure of a person, and search by person. */
  'erasures:plan',
  /** Confirm what somebody else has planned. */
  'erasures:approve',
  'metrics:read',
  /** Read the tenant's events, and how its subscriptions do. */
  'events:read',
  /** Have webhooks told of the tenant's events. */
  'events:subscribe',
] as const
export type Scope = (typeof SCOPES)[number]

/** What a caller has proven to be, by a key or by an access token. */
export interface Access {
  /** Of the key; of a token, of its subject. */
  readonly id: string
  /** Who acts: several keys and tokens of one operator are one person. */
  readonly operator: string
  /** Whose tasks it sends, sees and steers. */
  readonly tenant: string
  readonly scopes: ReadonlySet<Scope>
  /** Whose executions it may claim; those of every agent type where it is undefined. */
  readonly agentTypes?: ReadonlySet<string> | undefined
  /** As which agents it may send; as any of its tenant where it is undefined. */
  readonly agents?: ReadonlySet<string> | undefined
  /** Scopes of a token that do not count, and what is missing. */
  readonly withheld?: ReadonlyMap<string, Withheld>
}

export interface ApiKey extends Access {
  /** SHA-256 of the whole key. */
  readonly sha256: Buffer
  /** Milliseconds since 1970; the key is refused from then on. */
  readonly expiresAtMs: number | undefined
  readonly isRevoked?: boolean
}

type KeyFault = 'missing' | 'scheme' | 'unknown' | 'expired' | 'revoked' | 'unread'

/** A problem is why a token was refused. */
export type Identified =
  | { readonly ok: true; readonly key: Access }
  | { readonly ok: false; readonly why: KeyFault | ProblemError }

const BEARER = /^Bearer +(?<key>bk_(?<id>[A-Za-z0-9-]{1,64})_[A-Za-z0-9_-]{32,128})$/i
const ENTRY = new RegExp(
  String.raw`^(?<id>[A-Za-z0-9-]{1,64})(?:@(?<operator>${OPERATOR_NAME}))?(?:%(?<tenant>${TENANT}))?:(?<scopes>[A-Za-z0-9:+=|._-]+):(?<sha256>[0-9a-f]{64})(?::(?<expires>\d{4}-\d{2}-\d{2}))?$`,
)
const NOBODY = Buffer.alloc(32)

const digest = (key: string): Buffer => hash('sha256', key, 'buffer')

/** The id of the key that an Authorization header says it carries. */
export const idOf = (authorization: string): string | undefined =>
  BEARER.exec(authorization)?.groups?.['id']

/**
 * Whose key an Authorization header carries. An unknown id costs the same comparison as a known
 * one, and a key is told to be expired or revoked only to who holds it.
 */
export function identify(
  keys: Pick<ReadonlyMap<string, ApiKey>, 'get'>,
  authorization: string | undefined,
  nowMs: number,
): Identified {
  if (authorization === undefined) return { ok: false, why: 'missing' }
  if (!/^Bearer /i.test(authorization)) return { ok: false, why: 'scheme' }
  const groups = BEARER.exec(authorization)?.groups
  const key = keys.get(groups?.['id'] ?? '')
  const same = timingSafeEqual(digest(groups?.['key'] ?? ''), key?.sha256 ?? NOBODY)
  if (!same || key === undefined) return { ok: false, why: 'unknown' }
  if (key.isRevoked === true) return { ok: false, why: 'revoked' }
  if (key.expiresAtMs !== undefined && nowMs >= key.expiresAtMs)
    return { ok: false, why: 'expired' }
  return { ok: true, key }
}

/**
 * Parses `BATON_API_KEYS`: entries `id@operator:scope+scope:sha256hex`, optionally `:YYYY-MM-DD` for the
 * day (UTC) from which the key is refused, separated by commas. `executions:claim=type|type` is for these agent types only. Without `@operator` the key's id is the operator. To rotate, add the new key beside the
 * old one, move the callers, remove the old entry. `id@operator%tenant` is a key of that tenant. Throws BATON_API_KEYS_INVALID.
 */
export function parseApiKeys(setting: string): ReadonlyMap<string, ApiKey> {
  const keys = new Map<string, ApiKey>()
  for (const [index, entry] of setting.split(',').entries()) {
    const key = parseEntry(entry.trim())
    if (typeof key === 'string') throw invalid(`entry ${index + 1} ${key}`)
    if (keys.has(key.id)) throw invalid(`the id ${key.id} occurs twice`)
    keys.set(key.id, key)
  }
  return keys
}

/** The keys of the setting, which may be missing: then only the database has some. */
export const readApiKeys = (setting: string | undefined): ReadonlyMap<string, ApiKey> =>
  setting === undefined ? new Map() : parseApiKeys(setting)

/** Which keys a setting names, each by its public part: whose it is and what it may. */
export const apiKeyFacts = (keys: ReadonlyMap<string, ApiKey>): readonly OperationDetail[] =>
  facts(
    'API_KEY',
    [...keys.values()].map(
      ({ id, operator, scopes, sha256 }) =>
        `${id}@${operator}:${[...scopes].toSorted().join('+')}:${hash('sha256', sha256).slice(0, 16)}`,
    ),
  )

function parseEntry(entry: string): ApiKey | string {
  const groups = ENTRY.exec(entry)?.groups
  if (groups === undefined)
    return 'is not id@operator%tenant:scope+scope:sha256hex, optionally without %tenant and with :YYYY-MM-DD'
  const {
    id = '',
    operator = id,
    tenant = DEFAULT_TENANT,
    scopes = '',
    sha256 = '',
    expires,
  } = groups
  const { named, agentTypes } = readScopes(scopes.split('+'))
  const unknown = named.find((scope) => !isScope(scope))
  if (unknown !== undefined) return `names the scope ${unknown}; there are ${SCOPES.join(', ')}`
  const wide = named.find((scope) => tenant !== DEFAULT_TENANT && scope === INSTALLATION_SCOPE)
  if (wide !== undefined)
    return `has the scope ${wide}, which is about all tenants: only keys of the default tenant may`
  const deciding = named.find(decides)
  if (deciding !== undefined && groups['operator'] === undefined)
    return `has the scope ${deciding}, which decides: say who does, as id@operator`
  const expiresAtMs = expires === undefined ? undefined : Date.parse(`${expires}T00:00:00Z`)
  // Of a day that its month does not have, the parser makes a later one.
  if (expiresAtMs !== undefined && dayOf(expiresAtMs) !== expires)
    return `expires on ${expires}, which is not a date`
  return {
    id,
    // Two people of the same name at two tenants are two people.
    operator: tenant === DEFAULT_TENANT ? operator : `${tenant}/${operator}`,
    tenant,
    scopes: new Set(named.filter(isScope)),
    agentTypes,
    sha256: Buffer.from(sha256, 'hex'),
    expiresAtMs,
  }
}

const dayOf = (ms: number): string | undefined =>
  Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** What it shows is of the whole installation. */
export const INSTALLATION_SCOPE: Scope = 'metrics:read'

const CLAIM = 'executions:claim'

// `executions:claim=word-count|summary` is that scope for these agent types and no other.
function readScopes(
  all: readonly string[],
): Pick<ApiKey, 'agentTypes'> & { named: readonly string[] } {
  const limited = all.find((one) => one.startsWith(`${CLAIM}=`))
  const types = limited?.slice(CLAIM.length + 1).split('|') ?? []
  if (types.length === 0 || types.includes('')) return { named: all, agentTypes: undefined }
  const named = all.map((one) => (one === limited ? CLAIM : one))
  return { named, agentTypes: new Set(types) }
}

/** What scopes as words, and agents, come to: a scope that this version does not know opens nothing. */
export function readAccess(
  scopes: readonly string[],
  agents: ReadonlySet<string> | undefined,
): Pick<Access, 'scopes' | 'agents' | 'agentTypes'> {
  const { named, agentTypes } = readScopes(scopes)
  return {
    scopes: new Set(named.filter(isScope)),
    agents,
    agentTypes: narrowed(agentTypes, agents),
  }
}

/** A key as the database has it. */
export function keyOfRow(row: StoredApiKey): ApiKey {
  const { id, operator, tenant, sha256, expiresAt, revokedAt } = row
  const agents = row.agents === null ? undefined : new Set(row.agents)
  return {
    id,
    operator,
    tenant,
    ...readAccess(row.scopes, agents),
    sha256,
    expiresAtMs: expiresAt?.getTime(),
    isRevoked: revokedAt !== null,
  }
}

/** Both limits hold where there are two. */
const narrowed = (
  types: ReadonlySet<string> | undefined,
  agents: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined =>
  types === undefined || agents === undefined
    ? (types ?? agents)
    : new Set([...types].filter((type) => agents.has(type)))

const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)

const invalid = (problem: string) =>
  permanent('BATON_API_KEYS_INVALID', `BATON_API_KEYS: ${problem}`, {
    fix: 'Make a key and its entry with: npm run baton -- keys new handoffs:send+handoffs:read --operator NAME --for-settings',
  })

export interface CreatedKey {
  readonly id: string
  /** What the caller sends as `Authorization: Bearer <key>`; it cannot be read back from anywhere. */
  readonly key: string
  /** What goes into BATON_API_KEYS. */
  readonly entry: string
}

/** What a new key may do, for whom (by default its own id) and until when (YYYY-MM-DD, UTC). */
export interface KeyRequest {
  /** `a+b` */
  readonly scopes: string
  readonly operator?: string | undefined
  /** The default one by default. */
  readonly tenant?: string | undefined
  readonly expires?: string | undefined
}

/** The scopes that keys have of roles, as `a+b`: those of the gateway. Throws BATON_API_KEYS_INVALID. */
export function scopesOfRoles(roles: readonly string[]): string {
  const unknown = roles.find((role) => !isRole(role))
  if (unknown !== undefined)
    throw invalid(`there is no role ${unknown}; there are ${Object.keys(ROLES).join(', ')}`)
  const scopes = roles.filter(isRole).flatMap((role): readonly string[] => ROLES[role])
  return [...new Set(scopes.filter(isScope))].join('+')
}

/** Makes a key of 256 random bits. Throws BATON_API_KEYS_INVALID. */
export function createApiKey({ scopes, operator, tenant, expires }: KeyRequest): CreatedKey {
  const id = randomBytes(6).toString('hex')
  const key = `bk_${id}_${randomBytes(32).toString('base64url')}`
  const until = expires === undefined ? '' : `:${expires}`
  const owner = operator === undefined ? '' : `@${operator}`
  const of = tenant === undefined ? '' : `%${tenant}`
  const entry = `${id}${owner}${of}:${scopes}:${digest(key).toString('hex')}${until}`
  parseApiKeys(entry)
  return { id, key, entry }
}
