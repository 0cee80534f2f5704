// Verifying on request: one run at a time, with every key and anchor this process knows.
import { openSealTrust, verifyChains } from '@baton/audit'
import type { ColdStore, Pool, SealWatchSettings, SubjectVault, VerifyReport } from '@baton/audit'
import { batchKeyId, readBatchPublicKey } from '@baton/ledger'
import type { BatchSigner, People } from '@baton/ledger'
import type { Logger, Tls } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import type { AuditorSettings } from './core.ts'
import { reportFindings } from './report-findings.ts'

export interface Verification {
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly vault: SubjectVault
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Whose decisions count. */
  readonly people: People
  /** The sealer's; undefined where nobody seals. */
  readonly sealKey: KeyObject | undefined
  /** Where the sealer's anchors and its state are. */
  readonly settings: SealWatchSettings
  /** How witnesses are asked. */
  readonly tls?: Tls | undefined
  readonly cold: ColdStore | undefined
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal' | 'auditTampered'>
  readonly logger: Logger
}

/** The keys that batches may be signed with, by key id: the own one and the earlier ones. */
export function batchKeysOf(
  signer: BatchSigner,
  settings: Pick<AuditorSettings, 'BATON_AUDIT_TRUSTED_KEYS'>,
): Verification['batchKeys'] {
  const trusted = (settings.BATON_AUDIT_TRUSTED_KEYS ?? '').split(',').filter((key) => key !== '')
  const keys = [signer.publicKey, ...trusted.map(readBatchPublicKey)]
  return new Map(keys.map((key) => [batchKeyId(key), key]))
}

/** Re-reads everything, batch signatures under seals included, and asks everybody outside who has seen a seal. */
export async function verify(verification: Verification): Promise<VerifyReport> {
  const { reader, vault, batchKeys, people, sealKey, settings, tls, cold, metrics, logger } =
    verification
  const seals = sealKey && (await openSealTrust(reader, sealKey, { ...settings, tls }))
  const report = await verifyChains({
    pool: reader,
    vault,
    batchKeys,
    people,
    cold,
    seals,
    full: true,
  })
  const { verdict, records, findingsTotal } = report
  reportFindings(report.findings, verification)
  // Not to know is not clean: what could not be judged leaves a finding standing.
  if (verdict === 'verified') metrics.auditTampered.set(0)
  logger.info({ event: 'audit.verified', verdict, records, findingsTotal })
  return report
}

// A verification reads the whole log: callers that come while one runs get its answer.
export function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}
