// Connections to the operational database.
import { BatonError } from '@baton/runtime'
import { connectTo, hasCode } from '@baton/postgres'
import { statementsOn } from '@baton/postgres/statements'
import type { Tables } from './generated/tables.ts'

export { createSizeWatch } from '@baton/postgres'
export type { Database, Pool } from '@baton/postgres'

// The hot statements join small arrays to large tables. They are planned only by index, because a plan made
// while a table was empty would otherwise scan it when it is large.
const BY_INDEX = [
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
]

export const { createPool, inTransaction, run } = connectTo({
  name: 'the operational database',
  refusedCode: 'BATON_DATABASE_REFUSED',
  unavailableCode: 'BATON_DATABASE_UNAVAILABLE',
  unavailableFix: 'Check BATON_DATABASE_URL and that Postgres is up; work resumes by itself.',
  connectionsMax: 10,
  session: [...BY_INDEX, 'transaction_timeout=10000', 'tcp_user_timeout=10000'],
})

/** Writes the statements that are not hot; `run` runs them. */
export const tables = statementsOn<Tables>()

/** True for what the same set survives when its items are committed one by one. */
export function isConflict(error: unknown): boolean {
  return SURVIVED_SINGLY.some((code) => hasCode(cause(error), code))
}

const SURVIVED_SINGLY = ['40001', '40P01', '55P03', '23505']

// BATON_SEND_RACE stands around the classified error of the statement.
const cause = (error: unknown): unknown =>
  error instanceof BatonError && error.cause instanceof BatonError ? error.cause : error
