// The statements on audit.idem: has this been recorded, and what is a task's last record.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

export interface RecordedKey {
  readonly key: string
  readonly requestHash: Buffer
  readonly chain: number
  readonly seq: number
  readonly recordedAtMicros: number
  readonly recordHash: Buffer
  readonly taskId: string
  readonly taskSeq: number
}

/** The rows of those of `keys` (16 bytes each) that are recorded. */
export function findRecordedKeys(db: Database, keys: readonly Buffer[]): Promise<RecordedKey[]> {
  return run<RecordedKey>(
    db,
    'find_recorded_keys',
    `select key, request_hash as "requestHash", chain, seq,
       (extract(epoch from recorded_at) * 1000000)::bigint as "recordedAtMicros",
       record_hash as "recordHash", task_id as "taskId", task_seq as "taskSeq"
     from audit.idem where key = any($1::uuid[])`,
    [BINARY.uuid.encode(keys)],
  )
}

export interface ReceiptRecord {
  readonly chain: number
  readonly seq: number
  /** Lower-case hex, as it stands in the record itself. */
  readonly recordHash: string
  readonly recordedAtMicros: number
}

/**
 * By key in hex: the stored records of those of `keys` that are recorded, not only the index. What has left
 * the database is known by the index: whether the cold store has it is for verifier and scrubber to say.
 */
export async function findReceiptRecords(
  db: Database,
  keys: readonly Buffer[],
): Promise<ReadonlyMap<string, ReceiptRecord>> {
  const rows = await run<ReceiptRecord & { readonly key: string }>(
    db,
    'find_receipt_records',
    `select i.key, i.chain, i.seq, encode(coalesce(r.record_hash, i.record_hash), 'hex') as "recordHash",
       (extract(epoch from i.recorded_at) * 1000000)::bigint as "recordedAtMicros"
     from audit.idem i
     left join audit.record r
       on r.chain = i.chain and r.seq = i.seq and r.recorded_at = i.recorded_at
     where i.key = any($1::uuid[]) and (r.seq is not null
       or i.seq < (select a.hot_from from audit.archive a where a.log = i.chain))`,
    [BINARY.uuid.encode(keys)],
  )
  return new Map(rows.map((row) => [row.key.replaceAll('-', ''), row]))
}

export interface TaskLast {
  readonly taskId: string
  readonly taskSeq: number
  readonly recordHash: Buffer
}

/** The last record of each of `taskIds` (16 bytes each) that has one. */
export function findTaskLasts(db: Database, taskIds: readonly Buffer[]): Promise<TaskLast[]> {
  return run<TaskLast>(
    db,
    'find_task_lasts',
    `select t.task_id as "taskId", l.task_seq as "taskSeq", l.record_hash as "recordHash"
     from unnest($1::uuid[]) as t (task_id)
     cross join lateral (
       select task_seq, record_hash from audit.idem i
       where i.task_id = t.task_id order by task_seq desc limit 1
     ) l`,
    [BINARY.uuid.encode(taskIds)],
  )
}
