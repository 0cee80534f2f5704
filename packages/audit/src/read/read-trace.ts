// A task's records in their order, each with what is known about it and what is wrong with it.
import { differingColumns, readRecord, recordHash, taskCost, traceGaps } from '@baton/ledger'
import type { Finding, RecordBody, TaskCost, TraceGap } from '@baton/ledger'
import { assuranceOf } from './assurance.ts'
import type { Assurance, CoveredSizes } from './assurance.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { readTierRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import { proveRows } from './prove-records.ts'
import { columnsAlone } from './records.ts'
import type { RecordRow } from './records.ts'

export interface TraceRecord {
  /** Recomputed from the stored bytes; lower-case hex. */
  readonly recordHash: string
  /** How well the record is protected by now. */
  readonly assurance: Assurance
  /** Whether it stands in the database still, or in the cold store alone. */
  readonly tier: 'hot' | 'cold'
  readonly body: RecordBody
}

export interface TaskTrace {
  readonly taskId: string
  /** In order of (chain, seq). Empty when the log knows nothing of the task. */
  readonly records: readonly TraceRecord[]
  /** How many of its first records have expired: they are gone, and nothing is wrong with that. */
  readonly expired: number
  readonly gaps: readonly TraceGap[]
  readonly findings: readonly Finding[]
  /** No gap and no finding: every middle record is there, and what is sealed leads to the signed head. */
  readonly verified: boolean
  readonly cost: TaskCost
}

interface TraceOptions {
  /** Without it, nothing is known to be sealed. */
  readonly covered?: CoveredSizes | undefined
  /** Where records stand that are not in the database any more. */
  readonly cold?: ColdStore | undefined
}

/** Reads, checks and adds up one task out of both tiers (E14, E19). `taskId` is a UUID. */
export function readTrace(
  pool: Pool,
  taskId: string,
  options: TraceOptions = {},
): Promise<TaskTrace> {
  return inSnapshot(pool, (snapshot) => readTraceIn(snapshot, taskId, options))
}

async function readTraceIn(
  snapshot: Snapshot,
  taskId: string,
  { covered, cold }: TraceOptions,
): Promise<TaskTrace> {
  const tier = createColdTier(snapshot, cold)
  const { rows, expired, expiredHash, ...found } = await readTierRecords(snapshot, tier, taskId)
  const origins = new Map((await readHeads(snapshot)).map((head) => [head.chain, head.origin]))
  const proven = await proveRows(snapshot, rows, { covered, tier })
  const records: TraceRecord[] = []
  const findings: Finding[] = [...found.findings, ...proven.findings]
  for (const row of rows) {
    const body = readRecord(row.body)
    if (body !== undefined) {
      const hash = recordHash(row.body).toString('hex')
      const { hotFrom, size, tail } = await tier.position(row.chain)
      const where = row.seq < hotFrom ? 'cold' : 'hot'
      const assurance = assuranceOf(proven.proofOf(row), row.seq < Math.max(size, tail))
      records.push({ recordHash: hash, assurance, tier: where, body })
    }
    findings.push(...rowFindings(row, body, origins.get(row.chain) ?? ''))
  }
  const gaps = traceGaps(records, { taskSeq: expired, hash: expiredHash })
  const verified = gaps.length === 0 && findings.length === 0
  const cost = taskCost(records.map(({ body }) => body))
  return { taskId, records, expired, gaps, findings, verified, cost }
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
export async function costOfTask(pool: Pool, taskId: string): Promise<TaskCost> {
  return (await readTrace(pool, taskId)).cost
}
