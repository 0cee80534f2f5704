// A pool of connections to whichever of several servers takes writes: each server has its own, and all but the last that was
// accepted are ended.
import type pg from 'pg'
import type { Server, Servers } from './servers.ts'

interface Options {
  /** A pool whose new connections are let in only where the server takes writes. */
  readonly open: (server: Server) => pg.Pool
  /** Whether an error says that its connection serves nobody again: the server may not be the right one any more. */
  readonly isUnusable: (error: unknown) => boolean
}

export interface PoolOfSeveral extends Pick<
  pg.Pool,
  'end' | 'totalCount' | 'idleCount' | 'waitingCount'
> {
  connect(): Promise<pg.PoolClient>
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>
}

export function poolOfSeveral(servers: Servers, { open, isUnusable }: Options): PoolOfSeveral {
  const pools = new Map<Server, pg.Pool>()
  let ending = false

  function poolOf(server: Server): pg.Pool {
    const known = pools.get(server)
    if (known !== undefined) return known
    const pool = open(server)
    // A connection that is given back as broken may have reached a server that was replaced: others are asked before it again.
    pool.on('release', (error: unknown) => {
      if (error === true || isUnusable(error)) servers.leave(server)
    })
    // The first connection that is let in says where all others are no longer wanted.
    pool.on('connect', () => endAllBut(server))
    pools.set(server, pool)
    return pool
  }

  /** Those that are at work finish, and serve nobody after that. */
  function endAllBut(server: Server): void {
    for (const [other, pool] of pools) {
      if (other === server) continue
      pools.delete(other)
      void pool.end()
    }
  }

  async function connect(): Promise<pg.PoolClient> {
    if (ending) throw new Error('Cannot use a pool after calling end on the pool')
    return await servers.onWritable((server) => poolOf(server).connect())
  }

  const sum = (count: 'totalCount' | 'idleCount' | 'waitingCount') =>
    [...pools.values()].reduce((total, pool) => total + pool[count], 0)
  return {
    connect,
    async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      const client = await connect()
      let broken: Error | undefined
      try {
        return await client.query<Row>(statement)
      } catch (error) {
        broken = error instanceof Error ? error : new Error(String(error))
        throw error
      } finally {
        client.release(broken)
      }
    },
    async end() {
      ending = true
      await Promise.all(Array.from(pools.values(), (pool) => pool.end()))
    },
    get totalCount() {
      return sum('totalCount')
    },
    get idleCount() {
      return sum('idleCount')
    },
    get waitingCount() {
      return sum('waitingCount')
    },
  }
}
