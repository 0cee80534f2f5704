// Lifecycle events on their way to the audit store; deleted only after a receipt.
import { columns, text, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** A lifecycle event for the audit store; commits with the change it tells of. */
export interface AuditIntent {
  readonly id: string
  readonly handoffId: string
  /** JSON of the ledger's AuditEntry. */
  readonly entry: string
}

export const EVENTS = columns({ id: uuid, handoffId: uuid, entry: text })

/** Stores events in the caller's transaction. */
export async function addAuditIntents(
  db: Database,
  intents: readonly AuditIntent[],
): Promise<void> {
  await run(
    db,
    'add_audit_intents',
    `insert into audit_outbox (id, handoff_id, entry) select * from ${EVENTS.unnest('i')}`,
    EVENTS.values(intents),
  )
}

/** Events that were not shipped by the process that wrote them, oldest first. */
export function listAuditIntents(db: Database, olderThanMs: number): Promise<AuditIntent[]> {
  return run(
    db,
    'list_audit_intents',
    `select id, handoff_id as "handoffId", entry from audit_outbox
     where created_at < clock_timestamp() - $1 * interval '1 millisecond'
     order by created_at limit 256`,
    [olderThanMs],
  )
}

/** What waits to be recorded about one handoff, oldest first. Few handoffs are ever asked about. */
export function listHandoffIntents(db: Database, handoffId: string): Promise<AuditIntent[]> {
  return run(
    db,
    'list_handoff_intents',
    `select id, handoff_id as "handoffId", entry from audit_outbox where handoff_id = $1
     order by created_at limit 256`,
    [handoffId],
  )
}

/** Forgets events that the audit store has acknowledged. */
export async function deleteAuditIntents(db: Database, ids: readonly string[]): Promise<void> {
  await run(db, 'delete_audit_intents', `delete from audit_outbox where id = any($1::uuid[])`, [
    ids,
  ])
}
