// Connections to the operational database: bounded, never hanging, and with errors classified once.
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
}

const BIGINT = 20

const types: pg.CustomTypesConfig = {
  // Amounts and sequences stay far below 2^53, so numbers are exact.
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

// The hot statements join small arrays to large tables. They are planned once per connection, because
// planning one costs as much as running it; and only by index, because a plan made while a table was
// empty would otherwise scan it when it is large.
const INDEX_PLANS_ONCE =
  '-c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off'
const SESSION_BOUNDS =
  '-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=5000 -c transaction_timeout=10000 -c tcp_user_timeout=10000'

/** Opens a pool whose every wait is bounded: 2 s to connect, 5 s a statement, 6 s a reply. */
export function createPool({ url, applicationName, connectionsMax = 10 }: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    connectionTimeoutMillis: 2_000,
    query_timeout: 6_000,
    keepAlive: true,
    options: `${INDEX_PLANS_ONCE} ${SESSION_BOUNDS}`,
    types,
  })
  // A connection that dies while idle is replaced by the pool; the next caller sees the outage.
  pool.on('error', () => undefined)
  // One that dies between two statements of a transaction fails the next of them, not the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** Runs `work` in one transaction; anything it throws rolls everything back. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  const client = await connect(pool)
  let broken = false
  client.on('error', ignoreEnd)
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    broken = isUnusable(error) || (await rollBackQuietly(client))
    throw classify(error)
  } finally {
    client.off('error', ignoreEnd)
    client.release(broken)
  }
}

// A session that ends between two statements says so as an event, which would end the process; the
// next statement says it as well, to the one who can act on it.
const ignoreEnd = (): void => undefined

async function connect(pool: Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw classify(error)
  }
}

/** The server ends, has become a standby, or takes nothing more: another connection may reach a better one. */
const ENDING_STATES = ['25006', '57P01', '57P02', '57P03']

/** What the driver says, without a state, of a connection that did not answer or is gone. */
const UNANSWERED = /^(?:Query read timeout|Connection terminated)/

// A statement that was not answered may still be running: its connection serves nobody again.
function isUnusable(error: unknown): boolean {
  const cause = error instanceof BatonError ? error.cause : error
  if (ENDING_STATES.includes(sqlState(cause))) return true
  return cause instanceof Error && UNANSWERED.test(cause.message)
}

// A connection that cannot even roll back is thrown away, never handed to the next caller.
async function rollBackQuietly(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback')
    return false
  } catch {
    return true
  }
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

const PERMANENT_CLASSES = /^(22|23|28|42|3D|3F)/

/** Postgres errors become Baton's kinds in this one place. Messages that may quote rows stay inside `cause`. */
function classify(error: unknown): BatonError {
  if (error instanceof BatonError) return error
  const code = sqlState(error)
  if (PERMANENT_CLASSES.test(code)) {
    return permanent('BATON_DATABASE_REFUSED', `the database refused a statement (${code})`, {
      cause: error,
      fix: 'Check role, password and database of the URL, and run `baton migrate`.',
    })
  }
  return transient(
    'BATON_DATABASE_UNAVAILABLE',
    `the operational database did not answer${code === '' ? '' : ` (${code})`}`,
    {
      cause: error,
      fix: 'Check BATON_DATABASE_URL and that Postgres is up; work resumes by itself.',
    },
  )
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Whether a classified error was caused by this SQLSTATE. */
export function hasCode(error: unknown, code: string): boolean {
  return sqlState(error instanceof BatonError ? error.cause : error) === code
}

/** True for what the same set survives when its items are committed one by one. */
export function isConflict(error: unknown): boolean {
  return SURVIVED_SINGLY.some((code) => hasCode(cause(error), code))
}

const SURVIVED_SINGLY = ['40001', '40P01', '55P03', '23505']

// BATON_SEND_RACE stands around the classified error of the statement.
const cause = (error: unknown): unknown =>
  error instanceof BatonError && error.cause instanceof BatonError ? error.cause : error
