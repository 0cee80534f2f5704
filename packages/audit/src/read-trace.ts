// A task's records in their order, each with what is known about it and what is wrong with it.
import { differingColumns, readRecord, recordHash, taskCost, traceGaps } from '@baton/ledger'
import type { Finding, RecordBody, TaskCost, TraceGap } from '@baton/ledger'
import { assuranceOf } from './assurance.ts'
import type { Assurance, CoveredSizes } from './assurance.ts'
import type { Database } from './database.ts'
import { readHeads } from './heads.ts'
import { columnsAlone, readTaskRecords } from './records.ts'
import type { RecordRow } from './records.ts'

export interface TraceRecord {
  /** Recomputed from the stored bytes; lower-case hex. */
  readonly recordHash: string
  /** How well the record is protected by now. */
  readonly assurance: Assurance
  readonly body: RecordBody
}

export interface TaskTrace {
  readonly taskId: string
  /** In order of (chain, seq). Empty when the log knows nothing of the task. */
  readonly records: readonly TraceRecord[]
  readonly gaps: readonly TraceGap[]
  readonly findings: readonly Finding[]
  /** No gap and no finding: every middle record is there and says what was recorded. */
  readonly verified: boolean
  readonly cost: TaskCost
}

/**
 * Reads, checks and adds up one task (E14, E19). `taskId` is a UUID. Without `covered`, nothing is
 * known to be sealed.
 */
export async function readTrace(
  db: Database,
  taskId: string,
  covered?: CoveredSizes,
): Promise<TaskTrace> {
  const rows = await readTaskRecords(db, taskId)
  const origins = new Map((await readHeads(db)).map((head) => [head.chain, head.origin]))
  const records: TraceRecord[] = []
  const findings: Finding[] = []
  for (const row of rows) {
    const body = readRecord(row.body)
    if (body !== undefined) {
      const hash = recordHash(row.body).toString('hex')
      records.push({ recordHash: hash, assurance: assuranceOf(covered, row), body })
    }
    findings.push(...rowFindings(row, body, origins.get(row.chain) ?? ''))
  }
  const gaps = traceGaps(records)
  const verified = gaps.length === 0 && findings.length === 0
  const cost = taskCost(records.map(({ body }) => body))
  return { taskId, records, gaps, findings, verified, cost }
}

function rowFindings(row: RecordRow, body: RecordBody | undefined, origin: string): Finding[] {
  const { seq } = row
  if (body === undefined) {
    return [{ origin, seq, rule: 'RECORD_UNREADABLE', message: 'the body is not a record' }]
  }
  const findings: Finding[] = []
  if (!recordHash(row.body).equals(row.recordHash)) {
    const message = 'the stored hash is not the hash of the stored body'
    findings.push({ origin, seq, rule: 'RECORD_HASH', message })
  }
  const differing = differingColumns(body, columnsAlone(row))
  if (differing.length > 0) {
    const message = `columns differ from the body: ${differing.join(', ')}`
    findings.push({ origin, seq, rule: 'RECORD_COLUMNS', message })
  }
  return findings
}

/** Cost attribution of one task alone (E14). */
export async function costOfTask(db: Database, taskId: string): Promise<TaskCost> {
  return (await readTrace(db, taskId)).cost
}
