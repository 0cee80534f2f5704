// The keys that digests of requests are under, kept in the vault for as long as the log: a lookup key may go, its digests stay.
import type { Database } from '../database.ts'
import { BINARY, columns, text } from '@baton/postgres'
import { run, vault } from '../database.ts'
import type { WrappingKey } from '../append/wrapping-key.ts'
import type { KeyRing } from './key-ring.ts'
import { unwrapFrom, wrapWith } from './subject-crypto.ts'
import type { WrappedKey } from './subject-crypto.ts'

/** The key that comes from a lookup key, by the id of that key. */
interface RequestKey {
  readonly lookupKeyId: string
  readonly key: Buffer
}

export interface RequestKeyRow extends WrappedKey {
  readonly lookupKeyId: string
}

/** Authenticated with the wrapped key: it opens in its own row alone. */
export const requestContext = (lookupKeyId: string): string => `request ${lookupKeyId}`

const REQUEST_KEYS = vault
  .selectFrom('vault.request_key')
  .select(['lookup_key_id as lookupKeyId', 'wrapped_key as wrappedKey'])
  .select('wrapping_key_id as wrappingKeyId')

export const readRequestKeyRows = (db: Database): Promise<RequestKeyRow[]> =>
  run(db, 'read_request_keys', REQUEST_KEYS)

/** Throws BATON_VAULT_KEY_UNREADABLE. */
export const openRequestKeys = (
  ring: KeyRing<WrappingKey>,
  rows: readonly RequestKeyRow[],
): Promise<readonly Buffer[]> =>
  Promise.all(rows.map((row) => unwrapFrom(ring, row, requestContext(row.lookupKeyId))))

const ROWS = columns({
  lookupKeyId: text,
  wrappedKey: BINARY.bytea,
  wrappingKeyId: text,
})

/** Safe to repeat: what is kept stays. */
export async function keepRequestKeys(
  db: Database,
  wrapping: WrappingKey,
  keys: readonly RequestKey[],
): Promise<void> {
  const rows = await Promise.all(
    keys.map(async ({ lookupKeyId, key }) => ({
      lookupKeyId,
      ...(await wrapWith(wrapping, key, requestContext(lookupKeyId))),
    })),
  )
  await run(
    db,
    'keep_request_keys',
    `insert into vault.request_key (lookup_key_id, wrapped_key, wrapping_key_id)
     select * from ${ROWS.unnest('k')} on conflict do nothing`,
    ROWS.values(rows),
  )
}
