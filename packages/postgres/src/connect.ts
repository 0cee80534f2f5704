// Connections to a database: bounded, never hanging, and with errors classified once.
import pg from 'pg'
import type { Compilable } from 'kysely'
import { BatonError, permanent, transient } from '@baton/runtime'
import { poolOfSeveral } from './pool-of-several.ts'
import { LEAVING_STATES, NoServerWritable, serversOf } from './servers.ts'
import type { Server } from './servers.ts'

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

/** One connection inside a transaction that only reads, for statements and for set reads. */
export interface Snapshot extends Database {
  readonly client: pg.PoolClient
}

/** Told how many connections a pool has, whenever somebody asks. */
export type PoolGauges = Readonly<
  Record<'busy' | 'idle' | 'waiting', { read(source: () => number): void }>
>

export interface PoolOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  readonly connectionsMax?: number
  /** What its sessions are, where it is not the role that logs in: one that this one may become. */
  readonly role?: string
  /** How long one statement may take, 5 s by default; verification reads for longer than an append. */
  readonly statementMs?: number
  /** Connections at work and idle, and statements that wait for one. */
  readonly gauges?: PoolGauges
}

/** What one database is called, how its errors are known, and what its sessions set besides. */
interface DatabaseTraits {
  /** As messages name it: "the … database". */
  readonly name: string
  readonly refusedCode: `BATON_${string}`
  readonly unavailableCode: `BATON_${string}`
  readonly unavailableFix: string
  readonly connectionsMax: number
  /** Settings of its sessions beyond the bounds that all have, as name=value. */
  readonly session?: readonly string[]
}

export interface RunStatement {
  <Row>(db: Database, name: string, statement: Compilable<Row>): Promise<Row[]>
  <Row extends pg.QueryResultRow>(
    db: Database,
    name: string,
    text: string,
    values?: unknown[],
  ): Promise<Row[]>
}

interface Connections {
  /** Opens a pool whose every wait is bounded: 2 s to connect, and what a statement may take. */
  createPool(options: PoolOptions): Pool
  /** Runs one prepared statement, as text or written on `statementsOn`, and returns its rows; errors come out classified. */
  run: RunStatement
  /** Runs `work` in one transaction; anything it throws rolls everything back. */
  inTransaction<Result>(
    pool: Pool,
    work: (transaction: Database) => Promise<Result>,
  ): Promise<Result>
  /** Reads in one snapshot that nothing can change under the reader. */
  inSnapshot<Result>(pool: Pool, read: (snapshot: Snapshot) => Promise<Result>): Promise<Result>
}

const BIGINT = 20

const types: pg.CustomTypesConfig = {
  // Sequences, times in microseconds and amounts stay below 2^53, so numbers are exact.
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

// Every statement is prepared and short: its plan is made once per connection and kept.
const PLANS_ONCE = ['jit=off', 'plan_cache_mode=force_generic_plan']

// Large reads go along an index: a plan made from missing statistics must not scan and sort a whole table.
const BEGIN_SNAPSHOT = `begin transaction isolation level repeatable read, read only;
set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off;
set local enable_mergejoin = off`

/** How to work with one database: its pools, statements, transactions and snapshots. */
export function connectTo(traits: DatabaseTraits): Connections {
  const classify = classifierOf(traits)

  /** `isBroken` says after an error whether the connection may serve nobody again. */
  async function transact<Result>(
    pool: Pool,
    { begin, isBroken }: TransactionKind,
    work: (client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => {
      throw classify(error)
    })
    let broken = false
    client.on('error', ignoreEnd)
    try {
      await client.query(begin)
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      broken = await isBroken(client, error)
      throw classify(error)
    } finally {
      client.off('error', ignoreEnd)
      client.release(broken)
    }
  }

  return {
    createPool: (options) => openPool(traits, options),
    async run(
      db: Database,
      name: string,
      statement: string | Compilable<unknown>,
      values: unknown[] = [],
    ) {
      const asked = typeof statement === 'string' ? { text: statement, values } : written(statement)
      try {
        return (await db.query<never>({ name, ...asked })).rows
      } catch (error) {
        throw classify(error)
      }
    },
    inTransaction: (pool, work) => transact(pool, WRITING, work),
    inSnapshot: (pool, read) =>
      transact(pool, READING, (client) =>
        read({ client, query: (statement) => client.query(statement) }),
      ),
  }
}

function written(statement: Compilable<unknown>): { text: string; values: unknown[] } {
  const { sql: text, parameters } = statement.compile()
  return { text, values: [...parameters] }
}

interface TransactionKind {
  readonly begin: string
  readonly isBroken: (client: pg.PoolClient, error: unknown) => Promise<boolean>
}

const WRITING: TransactionKind = {
  begin: 'begin',
  isBroken: async (client, error) => isUnusable(error) || (await rollBackQuietly(client)),
}

// Ends the connection, and with it the transaction: nothing was written, and a set may be half read.
const READING: TransactionKind = { begin: BEGIN_SNAPSHOT, isBroken: async () => true }

function openPool(traits: DatabaseTraits, options: PoolOptions): Pool {
  const { statementMs = 5_000, connectionsMax = traits.connectionsMax } = options
  const session = [
    ...PLANS_ONCE,
    `statement_timeout=${statementMs}`,
    'lock_timeout=2000',
    `idle_in_transaction_session_timeout=${statementMs}`,
    ...(traits.session ?? []),
    ...(options.role === undefined ? [] : [`role=${options.role}`]),
  ]
  const servers = serversOf(options.url)
  function open(server: Server): pg.Pool {
    const pool = new pg.Pool({
      ...server.connecting,
      application_name: options.applicationName,
      max: connectionsMax,
      connectionTimeoutMillis: 2_000,
      query_timeout: statementMs + 1_000,
      keepAlive: true,
      options: session.map((setting) => `-c ${setting}`).join(' '),
      types,
      // The pool waits for its promise and lets nobody in whom it rejects, which its types do not say.
      // eslint-disable-next-line typescript/no-misused-promises
      ...(!servers.isOne && { onConnect: (client) => servers.requireWritable(server, client) }),
    })
    // A connection that dies while idle is replaced by the pool; the next caller sees the outage.
    pool.on('error', ignoreEnd)
    // One that dies between two statements of a transaction fails the next of them, not the process.
    pool.on('connect', (client) => client.on('error', ignoreEnd))
    return pool
  }
  const pool = servers.isOne ? open(servers.all[0]) : poolOfSeveral(servers, { open, isUnusable })
  options.gauges?.busy.read(() => pool.totalCount - pool.idleCount)
  options.gauges?.idle.read(() => pool.idleCount)
  options.gauges?.waiting.read(() => pool.waitingCount)
  return pool
}

// A session that ends between two statements says so as an event, which would end the process; the
// next statement says it as well, to the one who can act on it.
const ignoreEnd = (): void => undefined

/** What the driver says, without a state, of a connection that did not answer or is gone. */
const UNANSWERED = /^(?:Query read timeout|Connection terminated)/

// A statement that was not answered may still be running: its connection serves nobody again.
function isUnusable(error: unknown): boolean {
  const cause = error instanceof BatonError ? error.cause : error
  if (LEAVING_STATES.includes(sqlState(cause))) return true
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

/** By the codes that Node and OpenSSL give to a handshake that fails. */
const NO_TLS_BETWEEN =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)_|INVALID_(?:CA|PURPOSE)|ERR_TLS_|ERR_SSL_)/

const TLS_FIX =
  'Put the authority of the server’s certificate into BATON_TLS_CA_FILE (or sslrootcert of the URL), renew what has ended, and call the server by a name of its certificate; infra/tls.md says more.'

const PERMANENT_CLASSES = /^(22|23|28|42|3D|3F)/
/** Undefined column and undefined table: the program and the schema are of different versions. Undefined database: nobody has made it yet. */
const OTHER_SCHEMA = ['42703', '42P01', '3D000']

/** A session cannot begin as what it is to be: the role comes with a migration that was not applied. Words are translated, so the place says it. */
const isRoleMissing = (error: unknown): boolean =>
  sqlState(error) === '22023' &&
  (error as { readonly routine?: unknown }).routine === 'call_string_check_hook'

/** Postgres errors become Baton's kinds in this one place. Messages that may quote rows stay inside `cause`. */
function classifierOf(traits: DatabaseTraits): (error: unknown) => BatonError {
  return (error) => {
    if (error instanceof BatonError) return error
    const code = sqlState(error)
    if (OTHER_SCHEMA.includes(code) || isRoleMissing(error)) {
      return transient(
        'BATON_SCHEMA_OUTDATED',
        `${traits.name} has not the schema of this version (${code})`,
        {
          cause: error,
          fix: 'Run `baton migrate`, then start every process of the older version anew.',
        },
      )
    }
    if (PERMANENT_CLASSES.test(code)) {
      return permanent(traits.refusedCode, `${traits.name} refused a statement (${code})`, {
        cause: error,
        fix: 'Check role, password and database of the URL, and run `baton migrate`.',
      })
    }
    if (NO_TLS_BETWEEN.test(code)) {
      return transient(traits.unavailableCode, `TLS with ${traits.name} fails (${code})`, {
        cause: error,
        fix: TLS_FIX,
      })
    }
    const why = error instanceof NoServerWritable ? error.message : code
    const words = why === '' ? '' : ` (${why})`
    return transient(traits.unavailableCode, `${traits.name} did not answer${words}`, {
      cause: error,
      fix: traits.unavailableFix,
    })
  }
}

function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Whether a classified error was caused by this SQLSTATE. */
export function hasCode(error: unknown, code: string): boolean {
  return sqlState(error instanceof BatonError ? error.cause : error) === code
}
