// Sessions that act for one tenant at a time: row-level security reads for whom from a setting of the session.
import type pg from 'pg'
import type { Pool } from './connect.ts'

/** For whom each connection acted last; one that is new acts for nobody. */
const acting = new WeakMap<object, string>()

/**
 * The connections of `pool`, each of which acts for `tenant()` from when it is taken until it is given back. `tenant` throws
 * where nobody says for whom: nothing is asked then.
 */
export function ofTenant(pool: Pool, tenant: () => string): Pool {
  async function connect(): Promise<pg.PoolClient> {
    const name = tenant()
    const client = await pool.connect()
    if (acting.get(client) === name) return client
    acting.delete(client)
    try {
      await client.query({
        name: 'act_for_tenant',
        text: `select set_config('baton.tenant', $1, false)`,
        values: [name],
      })
    } catch (error) {
      client.release(true)
      throw error
    }
    acting.set(client, name)
    return client
  }

  return {
    connect,
    async query(statement) {
      const client = await connect()
      let broken = true
      try {
        const answer = await client.query(statement)
        broken = false
        return answer
      } finally {
        client.release(broken)
      }
    },
    end: () => pool.end(),
  }
}
