// What the files under the log and the vault can still hold of an erased person: ciphertext here, and its key there.
import { STORAGE_LEFT } from '@baton/postgres'
import type { StorageLeft } from '@baton/postgres'
import { run } from '../database.ts'
import type { Database } from '../database.ts'

/** In the log; `audit.payload` stands for its partitions. */
export const LOG_TABLES_WITH_TEXT: readonly string[] = ['audit.payload', 'audit.erasure']
export const VAULT_TABLES_WITH_KEYS: readonly string[] = [
  'vault.subject_key',
  'vault.subject_member',
  'vault.erasure',
]

interface Connected {
  /** To the log. */
  readonly db: Database
  readonly vaultDb: Database
}

/** Of the log, then of the vault. */
export async function readStorageLeft({ db, vaultDb }: Connected): Promise<StorageLeft[]> {
  const left = (database: Database, name: string, tables: readonly string[]) =>
    run<StorageLeft & object>(database, name, STORAGE_LEFT, [tables])
  return [
    ...(await left(db, 'log_storage_left', LOG_TABLES_WITH_TEXT)),
    ...(await left(vaultDb, 'vault_storage_left', VAULT_TABLES_WITH_KEYS)),
  ]
}
