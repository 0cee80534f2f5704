// Receipts that executions hold, to be compared with the audit log, and how far that has come.
import { sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export interface HeldReceipt {
  readonly handoffId: string
  /** The fencing token, as the log calls it. */
  readonly epoch: number
  /** Lower-case hex. */
  readonly hash: string
}

/** The receipts of the newest tasks; by the index on their creation, so never more than asked for is read. */
export function listNewestReceipts(db: Database, taskMax: number): Promise<readonly HeldReceipt[]> {
  const newest = tables
    .selectFrom('task')
    .select('id')
    .orderBy('created_at', 'desc')
    .limit(taskMax)
    .as('t')
  const written = tables
    .selectFrom(newest)
    .innerJoin('handoff as h', 'h.task_id', 't.id')
    .innerJoin('execution as e', 'e.handoff_id', 'h.id')
    .select([
      'e.handoff_id as handoffId',
      'e.fencing_token as epoch',
      sql<string>`encode(e.audit_hash, 'hex')`.as('hash'),
    ])
    .where('e.audit_hash', 'is not', null)
  return run(db, 'list_newest_receipts', written)
}

/** Executions after `handoffId` in order of their ids, with or without a receipt. */
export function listExecutionsAfter(
  db: Database,
  handoffId: string,
  limit: number,
): Promise<readonly (Omit<HeldReceipt, 'hash'> & { readonly hash: string | null })[]> {
  const written = tables
    .selectFrom('execution')
    .select([
      'handoff_id as handoffId',
      'fencing_token as epoch',
      sql<string | null>`encode(audit_hash, 'hex')`.as('hash'),
    ])
    .where('handoff_id', '>', handoffId)
    .orderBy('handoff_id')
    .limit(limit)
  return run(db, 'list_executions_after', written)
}

/** A receipt as evidence shows it. */
export interface TaskReceipt {
  readonly handoffId: string
  readonly origin: string
  readonly seq: number
  /** Lower-case hex. */
  readonly recordHash: string
}

/** The receipts that the executions of one task hold, in order of chain and record. */
export function listTaskReceipts(db: Database, taskId: string): Promise<readonly TaskReceipt[]> {
  const written = tables
    .selectFrom('handoff as h')
    .innerJoin('execution as e', 'e.handoff_id', 'h.id')
    .select([
      'h.id as handoffId',
      sql<string>`e.audit_origin`.as('origin'),
      sql<number>`e.audit_seq`.as('seq'),
      sql<string>`encode(e.audit_hash, 'hex')`.as('recordHash'),
    ])
    .where('h.task_id', '=', taskId)
    .where('e.audit_hash', 'is not', null)
    .orderBy('origin')
    .orderBy('seq')
  return run(db, 'list_task_receipts', written)
}

/** Where the last pass over all executions stands; undefined before the first. */
export async function readReceiptProgress(db: Database): Promise<string | undefined> {
  const written = tables.selectFrom('receipt_check').select('after_handoff as after')
  return (await run(db, 'read_receipt_progress', written))[0]?.after
}

/** Stores how far the pass has come. */
export async function writeReceiptProgress(db: Database, after: string): Promise<void> {
  const progress = { after_handoff: after, checked_at: sql<Date>`now()` }
  const written = tables
    .insertInto('receipt_check')
    .values(progress)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(progress))
  await run(db, 'write_receipt_progress', written)
}
