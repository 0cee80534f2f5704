// Connections to the one of several servers that takes writes, wherever it is now.
import pg from 'pg'
import { namesOfServers } from '@baton/runtime'
import type { Database } from './connect.ts'
import { followFailOver } from './fail-over.ts'
import type { FailOver, Refusal, ServerStanding } from './fail-over.ts'
import { secureConnections } from './secure-connection.ts'
import type { Connecting } from './secure-connection.ts'

export interface Server {
  /** Host and port, for people. */
  readonly name: string
  readonly connecting: Connecting
}

export interface Servers {
  readonly all: readonly [Server, ...Server[]]
  readonly isOne: boolean
  leave(server: Server): void
  /** Throws NoServerWritable unless `client`, which is connected to `server`, reaches the one to write to. */
  requireWritable(server: Server, client: Pick<pg.Client, 'query'>): Promise<void>
  /**
   * Does `attempt` with the server that takes writes, and once more with the one that takes them then where it is gone. Throws
   * NoServerWritable where there is none, and at once what is no matter of the server.
   */
  onWritable<Result>(attempt: (server: Server) => Promise<Result>): Promise<Result>
}

/** What was learned of servers holds for all that a process does with them. */
const followed = new Map<string, FailOver>()

/** The servers that a URL names. Throws as `secureConnection` does. */
export function serversOf(url: string): Servers {
  const [one, ...others] = secureConnections(url).map((connecting) => ({
    name: namesOfServers(connecting.connectionString ?? ''),
    connecting,
  }))
  if (one === undefined) throw new TypeError('a URL names at least one server')
  const all: readonly [Server, ...Server[]] = [one, ...others]
  const at = (place: number | undefined): Server => all[place ?? 0] ?? one
  const key = all.map(({ name }) => name).join()
  const failOver = followed.get(key) ?? followFailOver()
  followed.set(key, failOver)
  let asking: Promise<void> | undefined

  /** Asks all at once: who knows nothing of a fail-over would take the first that answers. */
  async function askAll(): Promise<void> {
    const asked = await Promise.all(all.map(ask))
    const refusals = failOver.choose(
      asked.map((answer) => ('standing' in answer ? answer.standing : undefined)),
    )
    if (failOver.primary() !== undefined) return
    const errors = asked.flatMap((answer) => ('error' in answer ? [answer.error] : []))
    const unfit = errors.find((error) => !isOfServer(error))
    if (unfit !== undefined) throw unfit
    throw new NoServerWritable(
      asked.map((answer, place) => {
        const { name } = at(place)
        return 'error' in answer ? notAnswering(name, answer.error) : saying(name, refusals[place])
      }),
    )
  }

  async function primary(): Promise<Server> {
    if (failOver.primary() === undefined) {
      asking ??= askAll().finally(() => (asking = undefined))
      await asking
    }
    return at(failOver.primary())
  }

  const leave = (server: Server) => failOver.leave(all.indexOf(server))
  return {
    all,
    isOne: others.length === 0,
    leave,
    async requireWritable({ name }, client) {
      const refusal = failOver.refuse(await readStanding(client))
      if (refusal !== undefined) throw new NoServerWritable([saying(name, refusal)])
    },
    async onWritable(attempt) {
      if (others.length === 0) return await attempt(one)
      const first = await primary()
      try {
        return await attempt(first)
      } catch (error) {
        if (!isOfServer(error)) throw error
        leave(first)
      }
      const second = await primary()
      try {
        return await attempt(second)
      } catch (error) {
        if (isOfServer(error)) leave(second)
        throw error
      }
    },
  }
}

const BOUNDS = { connectionTimeoutMillis: 2_000, query_timeout: 2_000 }

async function ask({
  connecting,
}: Server): Promise<{ readonly standing: ServerStanding } | { readonly error: Error }> {
  const client = new pg.Client({ ...connecting, ...BOUNDS })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return { standing: await readStanding(client) }
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** How to connect to the server that takes writes now; with one server nobody is asked. */
export const findWritable = (url: string): Promise<Connecting> =>
  serversOf(url).onWritable(async ({ connecting }) => connecting)

type Bounds = Omit<pg.ClientConfig, keyof Connecting>

/** A connection of one's own to the server that takes writes; whoever asks for it ends it. */
export async function connectToWritable(url: string, bounds: Bounds): Promise<pg.Client> {
  const servers = serversOf(url)
  return await servers.onWritable((server) => connect(servers, server, bounds))
}

async function connect(servers: Servers, server: Server, bounds: Bounds): Promise<pg.Client> {
  const client = new pg.Client({ ...server.connecting, ...bounds })
  // One that dies between two statements fails the next of them, not the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    if (!servers.isOne) await servers.requireWritable(server, client)
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

const WORDS: Readonly<Record<Refusal, string>> = {
  silent: 'did not answer',
  standby: 'takes no writes',
  replaced: 'takes writes, but a fail-over has replaced it',
  stranger:
    'holds another database than the one that was written to, or that the servers before it hold',
}

const saying = (name: string, refusal: Refusal | undefined): string =>
  `${name} ${WORDS[refusal ?? 'silent']}`

const notAnswering = (name: string, error: unknown): string =>
  `${name} did not answer (${(error as { code?: string }).code ?? 'no connection in time'})`

/** The state says what a standby says of a write; the message, why each server was not the one. */
export class NoServerWritable extends Error {
  override readonly name = 'NoServerWritable'
  readonly code = '25006'
  readonly why: readonly string[]
  constructor(why: readonly string[]) {
    super(why.join('; '))
    this.why = why
  }
}

/** The states in which a server ends, starts, or has become a standby: another may answer otherwise. */
export const LEAVING_STATES: readonly string[] = ['25006', '57P01', '57P02', '57P03']
const SQL_STATE = /^[\dA-Z]{5}$/
/** What the pool says when all of its connections are at work. */
const POOL_BUSY = 'timeout exceeded when trying to connect'

/** Whether another server may answer otherwise: this one is away or takes no writes. A role, a password or a limit is the same there. */
function isOfServer(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && SQL_STATE.test(code)) return LEAVING_STATES.includes(code)
  return message !== POOL_BUSY
}

// The timeline that is written now: the control file names the one before until the first checkpoint after a promotion. Of a standby it is
// the least that it follows.
const STANDING = `select (select system_identifier::text from pg_control_system()) as "systemId",
  current_setting('transaction_read_only') = 'off' as "isWritable", case when pg_is_in_recovery()
    then (select to_hex(timeline_id) from pg_control_checkpoint())
    else substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end as timeline`

async function readStanding(client: Pick<pg.Client, 'query'>): Promise<ServerStanding> {
  const { rows } = await client.query<Omit<ServerStanding, 'timeline'> & { timeline: string }>(
    STANDING,
  )
  const [row] = rows
  if (row === undefined) throw new TypeError('a select without a table answers one row')
  return { ...row, timeline: Number.parseInt(row.timeline, 16) }
}

/** Whether what this server confirms is on a standby too; where it is not, a fail-over loses what was confirmed last. */
export async function waitsForStandby(db: Database): Promise<boolean> {
  const text = `select current_setting('synchronous_standby_names') <> ''
    and current_setting('synchronous_commit') not in ('off', 'local') as waits`
  const { rows } = await db.query<{ waits: boolean }>({ text })
  return rows[0]?.waits === true
}
