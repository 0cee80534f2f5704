// Connections to the audit databases: bounded, never hanging, and with errors classified once.
import pg from 'pg'
import { BatonError, permanent, transient } from '@baton/runtime'

/** A pool or one connection inside a transaction; every statement takes it first. */
export interface Database {
  query<Row extends pg.QueryResultRow>(
    statement: pg.QueryConfig,
  ): Promise<{ rows: Row[]; rowCount: number | null }>
}

export interface Pool extends Database {
  connect(): Promise<pg.PoolClient>
  end(): Promise<void>
}

interface PoolOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  readonly connectionsMax?: number
  /** How long one statement may take; verification reads for longer than an append. */
  readonly statementMs?: number
}

const BIGINT = 20

const types: pg.CustomTypesConfig = {
  // Sequences, times in microseconds and amounts stay below 2^53, so numbers are exact.
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

// Every statement is prepared and short: its plan is made once and kept.
const PLANS_ONCE = '-c jit=off -c plan_cache_mode=force_generic_plan'

/** Opens a pool whose every wait is bounded; statements take at most 5 s unless told otherwise. */
export function createPool(options: PoolOptions): Pool {
  const { url, applicationName, connectionsMax = 4, statementMs = 5_000 } = options
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    query_timeout: statementMs + 1_000,
    keepAlive: true,
    options: `${PLANS_ONCE} -c statement_timeout=${statementMs} -c lock_timeout=2000 -c idle_in_transaction_session_timeout=${statementMs}`,
    types,
  })
  // A connection that dies while idle is replaced by the pool; the next caller sees the outage.
  pool.on('error', () => undefined)
  // One that dies between two statements of a transaction fails the next of them, not the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** Runs one prepared statement and returns its rows; errors come out classified. */
export async function run<Row extends pg.QueryResultRow>(
  db: Database,
  name: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  try {
    return (await db.query<Row>({ name, text, values })).rows
  } catch (error) {
    throw classify(error)
  }
}

/** One connection inside a transaction that only reads, for statements and for set reads. */
export interface Snapshot extends Database {
  readonly client: pg.PoolClient
}

// Large reads go along an index: a plan made from missing statistics must not scan and sort a whole log.
const BY_INDEX =
  'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off'

/** Reads in one snapshot that nothing can change under the reader. */
export async function inSnapshot<Result>(
  pool: Pool,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw classify(error)
  })
  let broken = false
  client.on('error', ignoreEnd)
  try {
    await client.query(`begin transaction isolation level repeatable read, read only; ${BY_INDEX}`)
    const result = await read({ client, query: (statement) => client.query(statement) })
    await client.query('commit')
    return result
  } catch (error) {
    // Ends the connection, and with it the transaction: nothing was written.
    broken = true
    throw classify(error)
  } finally {
    client.off('error', ignoreEnd)
    client.release(broken)
  }
}

// A session that ends between two statements says so as an event, which would end the process; the
// next statement says it as well, to the one who can act on it.
const ignoreEnd = (): void => undefined

const PERMANENT_CLASSES = /^(22|23|28|42|3D|3F)/
const UNIQUE_VIOLATION = '23505'

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Postgres errors become Baton's kinds here. Messages that may quote rows stay inside `cause`. */
function classify(error: unknown): BatonError {
  if (error instanceof BatonError) return error
  const code = sqlState(error)
  if (PERMANENT_CLASSES.test(code)) {
    const message = `the audit database refused a statement (${code})`
    return permanent('BATON_AUDIT_DATABASE_REFUSED', message, {
      cause: error,
      fix: 'Check role, password and database of the URL, and run `baton migrate`.',
    })
  }
  const message = `the audit database did not answer${code === '' ? '' : ` (${code})`}`
  return transient('BATON_AUDIT_DATABASE_UNAVAILABLE', message, {
    cause: error,
    fix: 'Check that the audit database is up; appends resume by themselves.',
  })
}

/** What audit.append raises for a segment under a key that has been erased meanwhile. */
const SUBJECT_ERASED = 'BT001'

/** True when an append used a key that another process remembered longer than it existed. */
export const isErasedSubject = (error: unknown): boolean =>
  sqlState(error instanceof BatonError ? error.cause : error) === SUBJECT_ERASED

/** True when an append repeated a key that is recorded already. */
export const isRepeatedKey = (error: unknown): boolean =>
  sqlState(error instanceof BatonError ? error.cause : error) === UNIQUE_VIOLATION
