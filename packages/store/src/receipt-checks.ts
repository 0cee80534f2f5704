// Receipts that executions hold, to be compared with the audit log, and how far that has come.
import { run } from './database.ts'
import type { Database } from './database.ts'

export interface HeldReceipt {
  readonly handoffId: string
  readonly epoch: number
  /** Lower-case hex. */
  readonly hash: string
}

const HELD = `e.handoff_id as "handoffId", e.epoch, encode(e.audit_hash, 'hex') as hash`

/** The receipts of the newest tasks; by the index on their creation, so never more than asked for is read. */
export function listNewestReceipts(db: Database, tasks: number): Promise<readonly HeldReceipt[]> {
  return run<HeldReceipt>(
    db,
    'list_newest_receipts',
    `select ${HELD} from (select id from task order by created_at desc limit $1) t
     join handoff h on h.task_id = t.id
     join execution e on e.handoff_id = h.id
     where e.audit_hash is not null`,
    [tasks],
  )
}

/** Executions after `handoffId` in order of their ids, with or without a receipt. */
export function listExecutionsAfter(
  db: Database,
  handoffId: string,
  limit: number,
): Promise<readonly (Omit<HeldReceipt, 'hash'> & { readonly hash: string | null })[]> {
  return run(
    db,
    'list_executions_after',
    `select ${HELD} from execution e where e.handoff_id > $1 order by e.handoff_id limit $2`,
    [handoffId, limit],
  )
}

/** A receipt as evidence shows it. */
export interface TaskReceipt {
  readonly origin: string
  readonly seq: number
  /** Lower-case hex. */
  readonly recordHash: string
}

/** The receipts that the executions of one task hold, in order of chain and record. */
export function listTaskReceipts(db: Database, taskId: string): Promise<readonly TaskReceipt[]> {
  return run<TaskReceipt>(
    db,
    'list_task_receipts',
    `select e.audit_origin as origin, e.audit_seq as seq, encode(e.audit_hash, 'hex') as "recordHash"
     from handoff h join execution e on e.handoff_id = h.id
     where h.task_id = $1 and e.audit_hash is not null order by 1, 2`,
    [taskId],
  )
}

/** Where the last pass over all executions stands; undefined before the first. */
export async function readReceiptMark(db: Database): Promise<string | undefined> {
  const rows = await run<{ after: string }>(
    db,
    'read_receipt_mark',
    'select after_handoff as after from receipt_check',
  )
  return rows[0]?.after
}

export async function writeReceiptMark(db: Database, after: string): Promise<void> {
  await run(
    db,
    'write_receipt_mark',
    `insert into receipt_check (after_handoff, checked_at) values ($1, now())
     on conflict (id) do update
       set after_handoff = excluded.after_handoff, checked_at = excluded.checked_at`,
    [after],
  )
}
