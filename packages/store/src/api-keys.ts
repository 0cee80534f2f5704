// API keys as the database has them: a digest of each, what it may do and until when. Only the role that migrates makes and revokes them.
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

/** All keys, oldest first. */
export function listApiKeys(db: Database): Promise<StoredApiKey[]> {
  return run(db, 'list_api_keys', `select ${COLUMNS} from api_key order by created_at, id`)
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
