// Reading and verifying the audit log directly in its database: no service has to run for it.
import { createPool, createSubjectVault } from '@baton/audit'
import type { Pool, SubjectVault } from '@baton/audit'
import { batchKeyId, createBatchSigner, readBatchPublicKey } from '@baton/ledger'
import type { Databases } from './databases.ts'

export interface AuditReader {
  /** Connected as audit_reader. */
  readonly pool: Pool
  readonly vault: SubjectVault
  /** The public keys that batches may be signed with; never taken from the database. */
  readonly batchKeys: ReadonlyMap<string, ReturnType<typeof readBatchPublicKey>>
  close(): Promise<void>
}

const STATEMENT_MS = 60_000

/** `trustedKeys` are public keys of earlier signing keys: SPKI DER in base64, comma-separated. */
export function openAuditReader({ urls, secrets }: Databases, trustedKeys = ''): AuditReader {
  const applicationName = 'baton-cli'
  const pool = createPool({ url: urls.auditReader, applicationName, statementMs: STATEMENT_MS })
  const vaultPool = createPool({ url: urls.vault, applicationName, connectionsMax: 1 })
  const keys = [
    createBatchSigner(secrets.BATON_AUDIT_SIGNING_KEY).publicKey,
    ...trustedKeys
      .split(',')
      .filter((key) => key !== '')
      .map(readBatchPublicKey),
  ]
  return {
    pool,
    vault: createSubjectVault({
      db: vaultPool,
      wrappingKey: secrets.BATON_AUDIT_WRAPPING_KEY,
      lookupKey: secrets.BATON_AUDIT_LOOKUP_KEY,
    }),
    batchKeys: new Map(keys.map((key) => [batchKeyId(key), key])),
    async close() {
      await Promise.all([pool.end(), vaultPool.end()])
    },
  }
}
