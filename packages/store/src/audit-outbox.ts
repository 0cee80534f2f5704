// Lifecycle events on their way to the audit store; deleted only after a receipt.
import { columns, text, uuid } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/** A lifecycle event for the audit store; commits with the change it tells of. */
export interface OutboxEvent {
  readonly id: string
  readonly handoffId: string
  /** JSON of the ledger's AuditEntry. */
  readonly entry: string
}

export const EVENTS = columns({ id: uuid, handoffId: uuid, entry: text })

/** Stores events in the caller's transaction. */
export async function addOutboxEvents(db: Database, events: readonly OutboxEvent[]): Promise<void> {
  await run(
    db,
    'add_outbox_events',
    `insert into audit_outbox (id, handoff_id, entry) select * from ${EVENTS.unnest('i')}`,
    EVENTS.values(events),
  )
}

const STORED = tables
  .selectFrom('audit_outbox')
  .select(['id', 'handoff_id as handoffId', 'entry'])
  .orderBy('created_at')
  .limit(sql.lit(256))

/** Events that were not shipped by the process that wrote them, oldest first. */
export function listOutboxEvents(db: Database, olderThanMs: number): Promise<OutboxEvent[]> {
  const written = STORED.where(
    'created_at',
    '<',
    sql<Date>`clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`,
  )
  return run(db, 'list_outbox_events', written)
}

/** What waits to be recorded about one handoff, oldest first. Few handoffs are ever asked about. */
export function listHandoffEvents(db: Database, handoffId: string): Promise<OutboxEvent[]> {
  return run(db, 'list_handoff_events', STORED.where('handoff_id', '=', handoffId))
}

/** Forgets events that the audit store has acknowledged. */
export async function deleteOutboxEvents(db: Database, ids: readonly string[]): Promise<void> {
  const written = tables.deleteFrom('audit_outbox').where('id', '=', anyOf(uuid, ids))
  await run(db, 'delete_outbox_events', written)
}
