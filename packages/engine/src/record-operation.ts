// What operators do to the installation is on record: the record commits with what it tells of, and reaches the log by the outbox.
import { randomUUID } from 'node:crypto'
import { LedgerError, operationEntry } from '@baton/ledger'
import type { AuditEntry, Operation } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { addOutboxEvents } from '@baton/store'
import type { Database, OutboxEvent } from '@baton/store'
import { toOutboxEvent } from './decide/audit-entries.ts'

/** All but when it was and its id, which are those of its recording. */
export type DoneOperation = Omit<Operation, 'id' | 'at'>

/**
 * Stores the records in the caller's transaction, so that nothing is done without them. Throws BATON_OPERATION_UNRECORDABLE where
 * a name in it is none that the log takes, and the transaction is rolled back.
 */
export async function recordOperation(
  db: Database,
  ...done: readonly DoneOperation[]
): Promise<void> {
  await addOutboxEvents(db, done.map(operationEvent))
}

/** The record of what is done now, to be stored with it. Throws BATON_OPERATION_UNRECORDABLE. */
export const operationEvent = (done: DoneOperation): OutboxEvent => toOutboxEvent(entryOf(done))

function entryOf(done: DoneOperation): AuditEntry {
  try {
    return operationEntry({ ...done, id: randomUUID(), at: new Date().toISOString() })
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    throw permanent('BATON_OPERATION_UNRECORDABLE', error.message, {
      cause: error,
      fix: 'Take names of printable ASCII characters; who acts is said by --as.',
    })
  }
}
