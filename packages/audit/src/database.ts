// Connections to the audit databases, and statements on their tables.
import { connectTo, hasCode } from '@baton/postgres'
import { statementsOn } from '@baton/postgres/statements'
import type { AuditTables, VaultTables } from './generated/tables.ts'

export { createSizeWatch } from '@baton/postgres'
export type { Database, Pool, Snapshot } from '@baton/postgres'

export const { createPool, inSnapshot, run } = connectTo({
  name: 'the audit database',
  refusedCode: 'BATON_AUDIT_DATABASE_REFUSED',
  unavailableCode: 'BATON_AUDIT_DATABASE_UNAVAILABLE',
  unavailableFix: 'Check that the audit database is up; appends resume by themselves.',
  connectionsMax: 4,
})

/** Statements on the log, and on the vault: `run` runs them. */
export const audit = statementsOn<AuditTables>()
export const vault = statementsOn<VaultTables>()

/** What audit.append raises for a segment under a key that has been erased meanwhile. */
const SUBJECT_ERASED = 'BT001'
const UNIQUE_VIOLATION = '23505'

/** True when an append used a key that another process remembered longer than it existed. */
export const isErasedSubject = (error: unknown): boolean => hasCode(error, SUBJECT_ERASED)

/** True when an append repeated a key that is recorded already. */
export const isRepeatedKey = (error: unknown): boolean => hasCode(error, UNIQUE_VIOLATION)
