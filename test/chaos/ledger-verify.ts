// What verifiers of their own say of the log in the end: all of it over both tiers, a scrub, and every receipt.
import {
  createLocalWrappingKey,
  createPool,
  createSubjectVault,
  readFileAnchor,
  scrubPiece,
  sealLogKeys,
  verifyChains,
} from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import type { Pool } from '@baton/audit'
import { batchKeyId, readBatchPublicKey } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import type { HeldReceipt, LedgerEvidence } from './ledger-evidence.ts'
import { coldStoreOf } from './ledger-logs.ts'
import type { LedgerWorld } from './ledger-world.ts'

const SCRUB_RECORDS = 4_096
const RECONCILED_MAX_MS = 15_000

/** Reads everything twice, by the two ways there are; nothing of it asks a service that was killed. */
export async function verifyLog({
  system,
  ledger,
}: LedgerWorld): Promise<Pick<LedgerEvidence, 'findings' | 'verified'>> {
  const pool = open(system.auditUrls.reader)
  const vaultDb = open(system.auditUrls.vault)
  const { BATON_AUDIT_WRAPPING_KEY: wrappingKey = '', BATON_AUDIT_LOOKUP_KEY: lookupKey = '' } =
    system.environmentOf('auditor')
  const vault = createSubjectVault({
    db: vaultDb,
    wrappingKey: createLocalWrappingKey(wrappingKey),
    lookupKey,
  })
  const batchKey = readBatchPublicKey(ledger.keys.batch)
  const sealKey = readBatchPublicKey(ledger.keys.seal)
  const cold = coldStoreOf(ledger.files.coldFolder)
  const shared = { pool, vault, cold, batchKeys: new Map([[batchKeyId(batchKey), batchKey]]) }
  try {
    const anchors = [readFileAnchor(ledger.files.anchorFile, sealLogKeys(pool, sealKey))]
    const seals = { publicKey: sealKey, anchors }
    const report = await verifyChains({ ...shared, seals, full: true })
    const scrubbed = await scrubAll({ ...shared, sealKey, records: SCRUB_RECORDS })
    const findings = [
      ...report.findings.map((finding) => describe('verify', finding)),
      ...scrubbed.findings.map((finding) => describe('scrub', finding)),
      ...(report.seals?.anchorsAgreed === 1 ? [] : ['verify: the anchor file was not asked']),
    ]
    return { findings, verified: { whole: report.records, scrubbed: scrubbed.records } }
  } finally {
    await Promise.all([pool.end(), vaultDb.end()])
  }
}

const open = (url: string): Pool =>
  createPool({ url, applicationName: 'checker', connectionsMax: 2, statementMs: 120_000 })

const describe = (by: string, { rule, origin, seq, message }: Finding): string =>
  `${by}: ${rule} at ${origin} ${seq ?? ''}: ${message}`

async function scrubAll(
  options: Omit<Parameters<typeof scrubPiece>[1], 'now'>,
): Promise<{ readonly findings: readonly Finding[]; readonly records: number }> {
  const findings: Finding[] = []
  let position: Parameters<typeof scrubPiece>[0]
  let records = 0
  for (;;) {
    const piece = await scrubPiece(position, { ...options, now: () => new Date() })
    findings.push(...piece.findings)
    records += piece.records
    position = piece.position
    if (piece.isThrough) return { findings, records }
  }
}

/** Asks the auditor about every receipt, as the reconciliation of each minute does. */
export async function reconcile(
  { system }: LedgerWorld,
  held: readonly HeldReceipt[],
): Promise<readonly string[]> {
  const client = createAuditClient({
    url: system.auditorUrl,
    token: system.tokens.append,
    timeoutMs: RECONCILED_MAX_MS,
  })
  const receipts = held.flatMap(({ hash, ...rest }) => (hash === null ? [] : [{ ...rest, hash }]))
  let unsettled: readonly string[] = []
  try {
    // The auditor looks once a second at what is sealed.
    await eventually(
      async () => {
        const states = await client.checkReceipts(receipts)
        unsettled = receipts.flatMap(({ handoffId, epoch }, at) =>
          states[at] === 'sealed' ? [] : [`${states[at]}: ${handoffId} epoch ${epoch}`],
        )
        return unsettled.length === 0
      },
      { deadlineMs: RECONCILED_MAX_MS, describe: 'every receipt is sealed' },
    )
  } catch (error) {
    if (unsettled.length === 0) throw error
  } finally {
    client.close()
  }
  return unsettled
}
