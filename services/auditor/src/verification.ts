// Verifying on request: one run at a time, with every key and anchor this process knows.
import { verifyChains } from '@baton/audit'
import type { ColdStore, Pool, SubjectVault, VerifyReport } from '@baton/audit'
import { batchKeyId, readBatchPublicKey } from '@baton/ledger'
import type { BatchSigner } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KeyObject } from 'node:crypto'
import type { AuditorSettings } from './core.ts'

export interface Verification {
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly vault: SubjectVault
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** The sealer's; undefined where nobody seals. */
  readonly sealKey: KeyObject | undefined
  readonly cold: ColdStore | undefined
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal'>
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

/** Re-reads everything, batch signatures under seals included. A finding counts in the metric. */
export async function verify(verification: Verification): Promise<VerifyReport> {
  const { reader, vault, batchKeys, sealKey, cold, metrics, logger } = verification
  const seals = sealKey === undefined ? undefined : { publicKey: sealKey, anchors: [] }
  const report = await verifyChains({ pool: reader, vault, batchKeys, cold, seals, full: true })
  const { ok, records, findingsTotal } = report
  if (!ok) {
    metrics.auditTamperDetectedTotal.inc()
    logger.error({ event: 'audit.tamper_detected', findings: report.findings.slice(0, 10) })
  }
  logger.info({ event: 'audit.verified', ok, records, findingsTotal })
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
