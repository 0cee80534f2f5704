// API keys as the database has them: a digest of each, what it may do and until when. Only the role that migrates makes and revokes them.
import { COUNTED_MAX } from '@baton/postgres/list-positions'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** What a key is made of. */
export interface NewApiKey {
  readonly id: string
  /** SHA-256 of the whole key. */
  readonly sha256: Buffer
  readonly operator: string
  readonly tenant: string
  readonly scopes: readonly string[]
  /** Null is any agent of its tenant. */
  readonly agents: readonly string[] | null
  readonly madeBy: string
  readonly expiresAt: Date | null
}

export interface StoredApiKey extends NewApiKey {
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const COLUMNS = `id, sha256, operator, tenant, scopes, agents, made_by as "madeBy", created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt"`

/** Those of these ids that there are, revoked ones too. */
export function findApiKeys(db: Database, ids: readonly string[]): Promise<StoredApiKey[]> {
  const text = `select ${COLUMNS} from api_key where id = any($1)`
  return run(db, 'find_api_keys', text, [ids])
}

export interface ListedApiKey extends StoredApiKey {
  readonly position: string
}

export interface ApiKeyPage {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

/** Where a key stands in the list: microseconds since 1970, and its id. */
export const API_KEY_POSITION = /^\d{1,16}\.[A-Za-z0-9-]{1,64}$/

const LIST = `
select ${COLUMNS}, (extract(epoch from created_at) * 1000000)::bigint || '.' || id as position from api_key
where $2::text is null or (created_at, id) > (timestamptz 'epoch' + split_part($2, '.', 1)::float8 * interval '1 microsecond',
  split_part($2, '.', 2))
order by created_at, id limit $1`

/** Revoked keys too, oldest first. */
export function listApiKeys(db: Database, { limit, cursor }: ApiKeyPage): Promise<ListedApiKey[]> {
  return run(db, 'list_api_keys', LIST, [limit, cursor ?? null])
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countApiKeys(db: Database): Promise<number> {
  const text = 'select count(*)::int as count from (select from api_key limit $1) as counted'
  const rows = await run<{ count: number }>(db, 'count_api_keys', text, [COUNTED_MAX + 1])
  return rows[0]?.count ?? 0
}

/** Answers false where there is no such tenant. */
export async function addApiKey(db: Database, key: NewApiKey): Promise<boolean> {
  const text = `insert into api_key (id, sha256, operator, tenant, scopes, agents, made_by, expires_at)
    select $1, $2, $3, t.name, $5, $6, $7, $8 from tenant t where t.name = $4 returning id`
  const { id, sha256, operator, tenant, scopes, agents, madeBy, expiresAt } = key
  const values = [id, sha256, operator, tenant, scopes, agents, madeBy, expiresAt]
  return (await run(db, 'add_api_key', text, values)).length > 0
}

/** Since when it is revoked: from the first time on. Undefined where there is no such key. */
export async function revokeApiKey(db: Database, id: string): Promise<Date | undefined> {
  const text = `update api_key set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1
    returning revoked_at as "revokedAt"`
  return (await run<{ revokedAt: Date }>(db, 'revoke_api_key', text, [id]))[0]?.revokedAt
}
