// The receipts that executions hold in the operational database, against the log: two databases witness each other.
import { findRecordHashes } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { receiptInvariant } from '@baton/engine'
import { verdictOf } from '@baton/ledger'
import type { Finding, FindingRule } from '@baton/ledger'
import type { OpenedDatabases } from '../instance/databases.ts'
import type { Mark } from '../terminal/output.ts'

/** The report with what receipts find, and what to say of them where they find nothing. */
export interface ComparedReceipts {
  readonly report: VerifyReport
  readonly mark: Mark
  readonly text: string
}

/** Says so, and leaves the report as it is, where the operational database cannot be asked. */
export async function compareReceipts(
  report: VerifyReport,
  { pool, audit }: Pick<OpenedDatabases, 'pool' | 'audit'>,
): Promise<ComparedReceipts> {
  const { check } = receiptInvariant(pool, (recordIds) => findRecordHashes(audit.pool, recordIds))
  try {
    return { report: withReceipts(report, await check()), mark: 'passed', text: AGREED }
  } catch (error) {
    const { code = 'BATON_UNKNOWN' } = error as { readonly code?: string }
    const text = `not compared: the operational database cannot be asked (${code})`
    return { report, mark: 'unknown', text }
  }
}

const AGREED = 'what the newest executions were told is recorded is in the log'

/** `handoffIds` are those whose execution holds a receipt that the log does not have. */
export function withReceipts(report: VerifyReport, handoffIds: readonly string[]): VerifyReport {
  if (handoffIds.length === 0) return report
  const found = handoffIds.map((id): Finding => ({
    origin: 'operational database',
    seq: null,
    rule: 'RECEIPT',
    message: `an execution of handoff ${id} holds a receipt of a record that the log does not have`,
  }))
  const findingsByRule = { ...report.findingsByRule, RECEIPT: found.length }
  const worst = verdictOf(Object.keys(findingsByRule) as FindingRule[])
  return {
    ...report,
    ok: false,
    verdict: worst,
    findings: [...report.findings, ...found],
    findingsTotal: report.findingsTotal + found.length,
    findingsByRule,
  }
}
