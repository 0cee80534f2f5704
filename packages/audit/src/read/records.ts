// The reading statements on audit.record: always the stored bytes, never a view of them.
import type { RecordColumns } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

export interface RecordRow extends RecordColumns {
  readonly chain: number
  readonly recordedAtMicros: number
  readonly body: Buffer
  readonly recordHash: Buffer
}

const COLUMNS = `chain, seq, (extract(epoch from recorded_at) * 1000000)::bigint as "recordedAtMicros",
  task_id as "taskId", handoff_id as "handoffId", event as "eventNumber",
  spent_micro as "spentMicroUSD", body, record_hash as "recordHash"`

/** All records of a task in order of (chain, seq); clocks may differ, a chain's order cannot. */
export function readTaskRecords(db: Database, taskId: string): Promise<RecordRow[]> {
  return run<RecordRow>(
    db,
    'read_task_records',
    `select ${COLUMNS} from audit.record where task_id = $1 order by chain, seq, recorded_at`,
    [taskId],
  )
}

/** The stored bytes of one record that stands in the database. */
export async function readRecordAt(
  db: Database,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<Buffer | undefined> {
  const rows = await run<{ body: Buffer }>(
    db,
    'read_record_at',
    'select body from audit.record where chain = $1 and seq = $2',
    [chain, seq],
  )
  return rows[0]?.body
}

/** The task of the first record of a chain from `seq` on that stands in the database. */
export async function findTaskAt(
  db: Database,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<string | undefined> {
  const rows = await run<{ taskId: string }>(
    db,
    'find_task_at',
    `select task_id as "taskId" from audit.record
     where chain = $1 and seq >= $2 order by seq limit 1`,
    [chain, seq],
  )
  return rows[0]?.taskId
}

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
     from unnest($1::smallint[], $2::bigint[]) as p (chain, seq)
     join audit.record r on r.chain = p.chain and r.seq = p.seq`,
    [
      BINARY.int2.encode(places.map(({ chain }) => chain)),
      BINARY.int8.encode(places.map(({ seq }) => seq)),
    ],
  )
  return rows[0]?.micros ?? null
}

/** The columns that a body can be compared with. */
export function columnsAlone(row: RecordRow): RecordColumns {
  const { body: _, recordHash: __, chain: ___, ...columns } = row
  return columns
}
