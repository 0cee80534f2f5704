// The reading statements on audit.record: always the stored bytes, never a view of them. The one that joins a set is text:
// kysely has no word for it.
import { uuidBytes } from '@baton/ledger'
import type { RecordColumns } from '@baton/ledger'
import { BINARY, columns } from '@baton/postgres'
import { anyOf, micros, one } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'

export interface RecordRow extends RecordColumns {
  readonly chain: number
  readonly recordedAtMicros: number
  readonly body: Buffer
  readonly recordHash: Buffer
}

const STORED = audit
  .selectFrom('audit.record')
  .select(['chain', 'seq', 'task_id as taskId', 'handoff_id as handoffId'])
  .select(['event as eventNumber', 'spent_micro as spentMicroUSD'])
  .select(['body', 'record_hash as recordHash'])
  .select(({ ref }) => micros(ref('recorded_at')).as('recordedAtMicros'))

/** All records of a task in order of (chain, seq); clocks may differ, a chain's order cannot. */
export function readTaskRecords(db: Database, taskId: string): Promise<RecordRow[]> {
  return run(
    db,
    'read_task_records',
    STORED.where('task_id', '=', taskId).orderBy('chain').orderBy('seq').orderBy('recorded_at'),
  )
}

/** The same of many tasks at once, by task. */
export async function readRecordsOfTasks(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, readonly RecordRow[]>> {
  const rows = await run(
    db,
    'read_records_of_tasks',
    STORED.where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes)))
      .orderBy('chain')
      .orderBy('seq')
      .orderBy('recorded_at'),
  )
  return Map.groupBy(rows, ({ taskId }) => taskId)
}

/** How many records of each task were ever appended, wherever they stand now. */
export async function countTaskRecords(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await run(
    db,
    'count_task_records',
    audit
      .selectFrom('audit.idem')
      .select('task_id as taskId')
      .select(({ fn }) => fn.countAll<number>().as('records'))
      .where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes)))
      .groupBy('task_id'),
  )
  return new Map(rows.map(({ taskId, records }) => [taskId, records]))
}

interface Place {
  readonly chain: number
  readonly seq: number
}

/** The stored bytes of one record that stands in the database. */
export async function readRecordAt(
  db: Database,
  { chain, seq }: Place,
): Promise<Buffer | undefined> {
  const rows = await run(
    db,
    'read_record_at',
    audit
      .selectFrom('audit.record')
      .select('body')
      .where('chain', '=', chain)
      .where('seq', '=', seq),
  )
  return rows[0]?.body
}

/** The task of the first record of a chain from `seq` on that stands in the database. */
export async function findTaskAt(db: Database, { chain, seq }: Place): Promise<string | undefined> {
  const rows = await run(
    db,
    'find_task_at',
    audit
      .selectFrom('audit.record')
      .select('task_id as taskId')
      .where('chain', '=', chain)
      .where('seq', '>=', seq)
      .orderBy('seq')
      .limit(one),
  )
  return rows[0]?.taskId
}

export interface TaskTotals {
  readonly records: number
  /** The highest running total that was recorded, in micro-USD. */
  readonly spentMicroUSD: number
}

/** Records and cost by task, of those of `taskIds` that the log knows. */
export async function readTaskTotals(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, TaskTotals>> {
  const rows = await run(
    db,
    'read_task_totals',
    audit
      .selectFrom('audit.record')
      .select('task_id as taskId')
      .select(({ fn, lit }) => [
        fn.countAll<number>().as('records'),
        fn.coalesce(fn.max('spent_micro'), lit(0)).as('spentMicroUSD'),
      ])
      .where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes)))
      .groupBy('task_id'),
  )
  return new Map(rows.map(({ taskId, ...totals }) => [taskId, totals]))
}

const PLACES = columns({ chain: BINARY.int2, seq: BINARY.int8 })

/**
 * The earliest time (microseconds since 1970) among the records at these places; null when there is
 * none of them.
 */
export async function findOldestRecordTime(
  db: Database,
  places: readonly { readonly chain: number; readonly seq: number }[],
): Promise<number | null> {
  if (places.length === 0) return null
  const rows = await run<{ micros: number | null }>(
    db,
    'find_oldest_record_time',
    `select (extract(epoch from min(r.recorded_at)) * 1000000)::bigint as micros
     from ${PLACES.unnest('p')} join audit.record r on r.chain = p.chain and r.seq = p.seq`,
    PLACES.values(places),
  )
  return rows[0]?.micros ?? null
}

/** The columns that a body can be compared with. */
export function columnsAlone(row: RecordRow): RecordColumns {
  const { body: _, recordHash: __, chain: ___, ...columns } = row
  return columns
}
