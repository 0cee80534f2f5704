// A task's records in their order, each with what is known about it and what is wrong with it.
import { differingColumns, readRecord, recordHash, taskCost, traceGaps } from '@baton/ledger'
import type { Finding, RecordBody, TaskCost, TraceGap } from '@baton/ledger'
import { assuranceOf, stronger } from './assurance.ts'
import type { Assurance, CoveredSizes } from './assurance.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { readTierRecords } from '../cold/read-task.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { proveEnd } from './prove-end.ts'
import type { ProvenEnd } from './prove-end.ts'
import { proveExpiry } from './prove-expiry.ts'
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
  /**
   * Until when nothing is missing at the task's end, the strongest proof first: signed maps say how many records it had.
   * Empty where none is signed yet.
   */
  readonly ends: readonly ProvenEnd[]
  /** By whose word something of it was seen outside; null where nobody seals. */
  readonly seenBy: CoveredSizes['seenBy'] | null
  /** No gap and no finding: every record that was sealed is there, and leads to the signed head. */
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
  const { rows, expired, lastExpired, ...found } = await readTierRecords(snapshot, tier, taskId)
  const expiredHash = lastExpired?.recordHash
  const heads = new Map((await readHeads(snapshot)).map((head) => [head.chain, head]))
  const readings = rows.map((row) => {
    return { row, body: readRecord(row.body), hash: recordHash(row.body) }
  })
  const placed = readings.flatMap(({ row, body, hash }) => {
    return body === undefined ? [] : [{ ...body, chain: row.chain, seq: row.seq, recordHash: hash }]
  })
  const end = await proveEnd(
    snapshot,
    { taskId, records: placed, expired, expiredHash },
    covered?.taskMaps ?? [],
  )
  const gone = await proveExpiry(snapshot, { last: lastExpired, heads }, { covered, tier })
  // What the map of tasks does not vouch for yet is proven record by record.
  const others = readings.flatMap(({ row, hash }) => {
    return end.proofOf({ recordHash: hash }) === 'witnessed' ? [] : [row]
  })
  const proven = await proveRows(snapshot, others, { covered, tier })
  const records: TraceRecord[] = []
  const findings: Finding[] = [
    ...found.findings,
    ...proven.findings,
    ...end.findings,
    ...gone.findings,
  ]
  for (const { row, body, hash } of readings) {
    findings.push(...placedFindings(row, body, heads.get(row.chain)))
    if (body === undefined) continue
    const { hotFrom } = await tier.position(row.chain)
    const proof = stronger(end.proofOf({ recordHash: hash }), proven.proofOf(row))
    records.push({
      recordHash: hash.toString('hex'),
      assurance: assuranceOf(proof, await tier.hasCopy(row.chain, row.seq)),
      tier: row.seq < hotFrom ? 'cold' : 'hot',
      body,
    })
  }
  const gaps = traceGaps(records, { taskSeq: expired, hash: expiredHash })
  const verified = gaps.length === 0 && findings.length === 0
  const cost = taskCost(records.map(({ body }) => body))
  // Records that are only said to have expired could be missing.
  const ends = gone.isProven ? end.ends : []
  const seenBy = covered?.seenBy ?? null
  return { taskId, records, expired, gaps, findings, ends, seenBy, verified, cost }
}

const placedFindings = (
  row: RecordRow,
  body: RecordBody | undefined,
  head: ChainHead | undefined,
): Finding[] => [...rowFindings(row, body, head?.origin ?? ''), ...strayFindings(row, body, head)]

/** A row that no chain has: the sealer and whoever reads chains never come to it. */
function strayFindings(
  { chain, seq }: RecordRow,
  body: RecordBody | undefined,
  head: ChainHead | undefined,
): Finding[] {
  const origin = head?.origin ?? `chain ${chain}`
  if (head === undefined || (body !== undefined && body.origin !== origin)) {
    const message = 'the record stands in a chain that it does not belong to'
    return [{ origin, seq, rule: 'RECORD_ORIGIN', message }]
  }
  const message = `the record stands behind the end of its chain, which has ${head.size} records`
  return seq < head.size ? [] : [{ origin, seq, rule: 'RECORD_SEQ', message }]
}

/**
 * What is known of a task: it is `there` also where all its records have expired or something is wrong; `absent` is
 * said only where a signed map of tasks says so.
 */
export function presenceOf({
  records,
  expired,
  verified,
  ends,
}: Pick<TaskTrace, 'records' | 'expired' | 'verified' | 'ends'>): 'there' | 'absent' | 'unproven' {
  if (records.length + expired > 0 || !verified) return 'there'
  return ends.length > 0 ? 'absent' : 'unproven'
}

/** What is wrong with a stored record by itself. */
export function rowFindings(
  row: RecordRow,
  body: RecordBody | undefined,
  origin: string,
): Finding[] {
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
