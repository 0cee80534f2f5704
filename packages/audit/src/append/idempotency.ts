// The statements on audit.idem: has this been recorded, and what is a task's last record. The last of them is text: every
// append of a task that is not remembered waits for it, and its lateral join says best what it does.
import { BINARY } from '@baton/postgres'
import { anyOf, micros, sql } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'

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
  return run(
    db,
    'find_recorded_keys',
    audit
      .selectFrom('audit.idem')
      .select(['key', 'request_hash as requestHash', 'chain', 'seq', 'record_hash as recordHash'])
      .select(['task_id as taskId', 'task_seq as taskSeq'])
      .select(({ ref }) => micros(ref('recorded_at')).as('recordedAtMicros'))
      .where('key', '=', anyOf(BINARY.uuid, keys)),
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
  const rows = await run(
    db,
    'find_receipt_records',
    audit
      .selectFrom('audit.idem as i')
      .leftJoin('audit.record as r', (on) =>
        on
          .onRef('r.chain', '=', 'i.chain')
          .onRef('r.seq', '=', 'i.seq')
          .onRef('r.recorded_at', '=', 'i.recorded_at'),
      )
      .select(['i.key', 'i.chain', 'i.seq'])
      .select(({ fn, ref }) => [
        sql<string>`encode(${fn.coalesce('r.record_hash', 'i.record_hash')}, 'hex')`.as(
          'recordHash',
        ),
        micros(ref('i.recorded_at')).as('recordedAtMicros'),
      ])
      .where('i.key', '=', anyOf(BINARY.uuid, keys))
      .where(({ eb, or, selectFrom }) => {
        const archive = selectFrom('audit.archive as a').whereRef('a.log', '=', 'i.chain')
        return or([eb('r.seq', 'is not', null), eb('i.seq', '<', archive.select('a.hot_from'))])
      }),
  )
  return new Map(rows.map((row) => [row.key.replaceAll('-', ''), row]))
}

export interface TaskLast {
  readonly taskId: string
  readonly taskSeq: number
  readonly recordHash: Buffer
}

/** The last record of each of `taskIds` (16 bytes each) that has one. */
export function findTaskLastPositions(
  db: Database,
  taskIds: readonly Buffer[],
): Promise<TaskLast[]> {
  return run<TaskLast>(
    db,
    'find_task_last_positions',
    `select t.task_id as "taskId", l.task_seq as "taskSeq", l.record_hash as "recordHash"
     from unnest($1::uuid[]) as t (task_id)
     cross join lateral (
       select task_seq, record_hash from audit.idem i
       where i.task_id = t.task_id order by task_seq desc limit 1
     ) l`,
    [BINARY.uuid.encode(taskIds)],
  )
}
