// A task out of both tiers: its records in their order, each as the database would have it, and which task a record is of.
import { equalBytes } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { Database } from '../database.ts'
import { findTaskAt, readTaskRecords } from '../read/records.ts'
import type { RecordRow } from '../read/records.ts'
import { findIndexedTask, readTaskIndex } from './archive-positions.ts'
import type { IndexedRecord } from './archive-positions.ts'
import type { ColdStore } from './cold-store.ts'
import { createColdTier } from './cold-tier.ts'
import type { ColdRecord, ColdTier } from './cold-tier.ts'
import { bundleOf } from './objects.ts'

export interface TaskRecords {
  /** In order of (chain, seq). */
  readonly rows: readonly RecordRow[]
  /** What does not fit in the cold store. */
  readonly findings: readonly Finding[]
  /** How many of the task's first records have expired, and the last of them, as the index has it. */
  readonly expired: number
  readonly lastExpired: IndexedRecord | undefined
}

/** The idempotency index, which never loses a row, says where the records of a task stand. */
export async function readTierRecords(
  db: Database,
  tier: ColdTier,
  taskId: string,
): Promise<TaskRecords> {
  const hot = await readTaskRecords(db, taskId)
  const known = new Set(hot.map(placeOf))
  const index = await readTaskIndex(db, taskId)
  const gone = index.filter((one) => !known.has(placeOf(one)))
  const rows: RecordRow[] = [...hot]
  const findings = await unindexed(tier, hot, index)
  const expired: IndexedRecord[] = []
  const bundles = new Map<string, Promise<readonly ColdRecord[]>>()
  for (const one of gone) {
    const { hotFrom, minIndex } = await tier.position(one.chain)
    if (one.seq < minIndex) expired.push(one)
    if (one.seq < minIndex) continue
    if (one.seq >= hotFrom) {
      findings.push(await broken(tier, one, 'a record that was appended is not in the database'))
      continue
    }
    const key = `${one.chain}/${bundleOf(one.seq)}`
    const bundle = bundles.get(key) ?? tier.bundle(one.chain, bundleOf(one.seq))
    bundles.set(key, bundle)
    const record = (await bundle).find(({ seq }) => seq === one.seq)
    if (record === undefined) continue
    if (equalBytes(record.recordHash, one.recordHash)) rows.push(rowOf(record, one.chain))
    else findings.push(await broken(tier, one, OTHER_RECORD))
  }
  const last = expired.toSorted((left, right) => left.taskSeq - right.taskSeq).at(-1)
  return {
    rows: rows.toSorted((left, right) => left.chain - right.chain || left.seq - right.seq),
    findings: [...tier.takeFindings(), ...findings],
    expired: last === undefined ? 0 : last.taskSeq + 1,
    lastExpired: last,
  }
}

const placeOf = ({ chain, seq }: Place): string => `${chain}/${seq}`

/** As the database would have it. */
export const rowOf = ({ columns, body, recordHash }: ColdRecord, chain: number): RecordRow => ({
  ...columns,
  chain,
  body: Buffer.from(body),
  recordHash: Buffer.from(recordHash),
})

const OTHER_RECORD = 'the record of the cold store is not the one that was appended'

async function broken(tier: ColdTier, { chain, seq }: Place, message: string): Promise<Finding> {
  const origin = (await tier.log(chain))?.origin ?? ''
  return { origin, seq, rule: 'RECORD_INDEX', message }
}

/** Records that stand in the database and were never appended under this task. */
async function unindexed(
  tier: ColdTier,
  hot: readonly RecordRow[],
  index: readonly IndexedRecord[],
): Promise<Finding[]> {
  const appended = new Set(index.map(placeOf))
  const findings: Finding[] = []
  for (const row of hot) {
    if (appended.has(placeOf(row))) continue
    findings.push(await broken(tier, row, 'the index has no such record'))
  }
  return findings
}

interface Place {
  readonly chain: number
  readonly seq: number
}

/**
 * The task of a record. One that the cold store should have and has not is looked up in the index, so
 * that the task can be named: its trace says what is missing. Undefined where the log knows no such record.
 */
export async function findTaskInTiers(
  db: Database,
  cold: ColdStore | undefined,
  place: Place,
): Promise<string | undefined> {
  const tier = createColdTier(db, cold)
  const { hotFrom } = await tier.position(place.chain)
  if (place.seq >= hotFrom) return findTaskAt(db, place)
  const records = await tier.bundle(place.chain, bundleOf(place.seq))
  const record = records.find(({ seq }) => seq === place.seq)
  return record?.reading?.taskId ?? findIndexedTask(db, place)
}

/** Whether records of a task have expired: then its links begin in the middle. */
export async function hasExpired(db: Database, taskId: string): Promise<boolean> {
  const tier = createColdTier(db, undefined)
  if (!(await tier.isUsed())) return false
  for (const { chain, seq } of await readTaskIndex(db, taskId)) {
    if (seq < (await tier.position(chain)).minIndex) return true
  }
  return false
}
