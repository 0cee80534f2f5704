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

const WAITING_MAX = 256

const STORED = tables
  .selectFrom('audit_outbox')
  .select(['id', 'handoff_id as handoffId', 'entry'])
  .orderBy('created_at')
  .limit(sql.lit(WAITING_MAX))

const WAITING = `
select id, handoff_id as "handoffId", entry, created_at::text as "createdAt" from audit_outbox
where created_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::uuid))
order by created_at, id limit $4`

/** An event, and where it stands among all that wait. */
export interface WaitingEvent extends OutboxEvent {
  readonly createdAt: string
}

interface WaitingPage {
  /** Behind this one; from the oldest by default. */
  readonly after?: WaitingEvent | undefined
  readonly max: number
}

/** A page of the events that were not shipped by the process that wrote them, oldest first. */
export function listOutboxEvents(
  db: Database,
  olderThanMs: number,
  { after, max }: WaitingPage = { max: WAITING_MAX },
): Promise<WaitingEvent[]> {
  const values = [olderThanMs, after?.createdAt ?? null, after?.id ?? null, max]
  return run<WaitingEvent & object>(db, 'list_outbox_events', WAITING, values)
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
