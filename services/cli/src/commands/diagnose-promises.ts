// The promises I1 to I12 on a live system: the same rules that tests and chaos campaigns check.
import {
  invariantReads as auditReads,
  findExcessPrivileges,
  findRecordHashes,
  verifyChains,
} from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { auditInvariants, receiptInvariant, storeInvariants } from '@baton/engine'
import { invariantReads as storeReads, listExecutionReceipts, outboxDepth } from '@baton/store'
import type { OpenedDatabases } from '../instance/with-databases.ts'
import { counted } from '../terminal/figures.ts'
import { diagnoseErasures } from './diagnose-erasures.ts'
import { failed, judged, passed } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'
import { describeFinding } from './verification-checks.ts'

const RECEIPTS_MAX = 5_000
const OUTBOX_MAX = 50_000

/** One diagnosis per rule. Reads only. */
export async function diagnosePromises(
  opened: OpenedDatabases,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, audit } = opened
  const rules = [
    ...storeInvariants(storeReads(pool)),
    ...auditInvariants(auditReads(audit.pool)),
    receiptInvariant({
      listExecutionReceipts: () => listExecutionReceipts(pool, RECEIPTS_MAX),
      findRecordHashes: (recordIds) => findRecordHashes(audit.pool, recordIds),
    }),
  ]
  const diagnoses: Diagnosis[] = []
  for (const { promise, rule, check } of rules) {
    onProgress(rule)
    diagnoses.push(judged(promise, rule, await check()))
  }
  diagnoses.push(
    judged(
      'I10',
      'the appending role can append and nothing else',
      await findExcessPrivileges(audit.pool),
    ),
  )
  return [
    ...diagnoses,
    ...(await diagnoseLog(opened, onProgress)),
    await diagnoseErasures(opened),
    await diagnoseOutbox(opened),
  ]
}

async function diagnoseLog(
  { audit }: OpenedDatabases,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, vault, batchKeys, seals, cold } = audit
  const report = await verifyChains({
    pool,
    vault,
    batchKeys,
    seals,
    cold,
    full: true,
    onProgress: (records) => onProgress(`verifying ${counted(records, 'record')}`),
  })
  return [
    logDiagnosis(
      'keys',
      'the keys of all batches are known',
      report.findings.filter(isUnknownKey),
      report,
    ),
    logDiagnosis(
      'I10',
      'every chain verifies from its stored bytes',
      chainFindings(report),
      report,
    ),
    logDiagnosis(
      'I11',
      'every stored segment opens and is what was recorded',
      payloadFindings(report),
      report,
    ),
  ]
}

type Finding = VerifyReport['findings'][number]

/** Cannot be said, which is not broken: it stands apart from I10. */
const isUnknownKey = ({ rule }: Finding): boolean => rule === 'BATCH_KEY'
const isPayload = ({ rule }: Finding): boolean => rule.startsWith('PAYLOAD_')
const payloadFindings = ({ findings }: VerifyReport) => findings.filter(isPayload)
const chainFindings = ({ findings }: VerifyReport) =>
  findings.filter((finding) => !isPayload(finding) && !isUnknownKey(finding))

const IDS_MAX = 100

function logDiagnosis(
  about: 'I10' | 'I11' | 'keys',
  rule: string,
  findings: readonly Finding[],
  report: VerifyReport,
): Diagnosis {
  if (findings.length === 0) return passed(about, rule, counted(report.records, 'record'))
  return failed(about, rule, {
    text: counted(findings.length, 'finding'),
    ids: findings.slice(0, IDS_MAX).map(describeFinding),
  })
}

async function diagnoseOutbox({ pool }: OpenedDatabases): Promise<Diagnosis> {
  const rule = 'the outbox is within its bound'
  const { depth, oldestAgeSeconds } = await outboxDepth(pool)
  if (depth <= OUTBOX_MAX) return passed('I12', rule, `${counted(depth, 'row')} waiting`)
  const text = `more than ${OUTBOX_MAX} rows, the oldest for ${Math.round(oldestAgeSeconds)} s: start more relays`
  return failed('I12', rule, { text })
}
