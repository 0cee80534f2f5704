// Reading and verifying the audit log directly in its database: no service has to run for it.
import {
  createPool,
  createSubjectVault,
  openWrappingKeys,
  readCoveredSizes,
  readVaultProgress,
  requireSealTrust,
} from '@baton/audit'
import type {
  ColdStore,
  CoveredSizes,
  Pool,
  SealTrust,
  SubjectVault,
  VaultProgress,
} from '@baton/audit'
import { batchKeyId, createBatchSigner, readBatchPublicKey } from '@baton/ledger'
import { readTls } from '@baton/runtime'
import type { CliSettings } from '../context.ts'
import type { ReadableDatabases } from './databases.ts'

export interface AuditReader {
  /** Connected as audit_reader. */
  readonly pool: Pool
  readonly vault: SubjectVault
  /** How much of the vault is under which key. */
  keyProgress(): Promise<VaultProgress>
  /** The public keys that batches may be signed with; never taken from the database. */
  readonly batchKeys: ReadonlyMap<string, ReturnType<typeof readBatchPublicKey>>
  /**
   * Who seals, and everybody who can be asked what was sealed; undefined where nobody is known who seals, and nothing is
   * sealed. Throws BATON_VERIFY_SETTINGS_MISSING where seals exist that nobody here can judge.
   */
  seals(): Promise<SealTrust | undefined>
  /** Where records stand that are not in the database any more. */
  readonly cold: ColdStore | undefined
  /** What seals cover now; undefined where nobody is known who seals. */
  covered(): Promise<CoveredSizes | undefined>
  close(): Promise<void>
}

const STATEMENT_MS = 60_000

/** Without the signing key itself, BATON_AUDIT_TRUSTED_KEYS must hold its public half too. */
export function openAuditReader(
  { urls, secrets, seals, cold }: ReadableDatabases,
  settings: CliSettings,
): AuditReader {
  const { BATON_AUDIT_TRUSTED_KEYS: trustedKeys = '' } = settings
  const tls = readTls(settings)
  const watch = { ...seals.watch, tls }
  const applicationName = 'baton-cli'
  const pool = createPool({ url: urls.auditReader, applicationName, statementMs: STATEMENT_MS })
  const vaultPool = createPool({ url: urls.vault, applicationName, connectionsMax: 1 })
  const signingKey = secrets.BATON_AUDIT_SIGNING_KEY
  const sealKey = seals.publicKey === undefined ? undefined : readBatchPublicKey(seals.publicKey)
  const keys = [
    ...(signingKey === undefined ? [] : [createBatchSigner(signingKey).publicKey]),
    ...trustedKeys
      .split(',')
      .filter((key) => key !== '')
      .map(readBatchPublicKey),
  ]
  const vault = createSubjectVault({
    db: vaultPool,
    ...openWrappingKeys(secrets.BATON_AUDIT_WRAPPING_KEY, {
      endpoint: settings.BATON_KMS_ENDPOINT,
      environment: settings.BATON_ENVIRONMENT,
      tls,
    }),
    lookupKey: secrets.BATON_AUDIT_LOOKUP_KEY,
  })
  return {
    pool,
    vault,
    keyProgress: () => readVaultProgress({ db: vaultPool, vault }),
    batchKeys: new Map(keys.map((key) => [batchKeyId(key), key])),
    seals: () => requireSealTrust(pool, sealKey, watch),
    cold,
    covered: async () => sealKey && readCoveredSizes(pool, sealKey, seals.watch),
    async close() {
      await Promise.all([pool.end(), vaultPool.end()])
    },
  }
}
