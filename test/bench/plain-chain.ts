// What most audit logs do: a chain with one lock, one transaction and one commit per record.
import { randomUUID } from 'node:crypto'
import { createPool } from '@baton/store'
import { uniqueDatabaseName } from '@baton/testkit'
import { canonicalBytes, recordHash } from '@baton/ledger'
import { entryOf } from '@baton/ledger/fixtures/entry'

interface ChainPlan {
  readonly adminUrl: string
  readonly clients: number
  readonly seconds: number
}

/** Records per second, in the process itself: no service and no network in between. */
export async function measurePlainChain(plan: ChainPlan): Promise<number> {
  const { adminUrl, clients, seconds } = plan
  const pool = createPool({ url: adminUrl, applicationName: 'bench', connectionsMax: clients })
  const chain = uniqueDatabaseName('chain')
  await pool.query({
    text: `create table ${chain} (seq bigint primary key, body bytea not null, hash bytea not null);
      create table ${chain}_head (id integer primary key, size bigint not null, hash bytea not null);
      insert into ${chain}_head values (0, 0, decode(repeat('00', 32), 'hex'))`,
  })
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  let records = 0
  const priorityClass = async (): Promise<void> => {
    const client = await pool.connect()
    while (performance.now() < until) {
      await client.query('begin')
      const { rows } = await client.query<{ size: string; hash: Buffer }>({
        name: 'lock',
        text: `select size, hash from ${chain}_head where id = 0 for update`,
      })
      const seq = Number(rows[0]?.size)
      const previousRecordHash = rows[0]?.hash.toString('hex')
      const body = canonicalBytes({ ...entryOf({ taskId: randomUUID() }), seq, previousRecordHash })
      const hash = recordHash(body)
      await client.query({
        name: 'insert',
        text: `insert into ${chain} values ($1, $2, $3)`,
        values: [seq, body, hash],
      })
      await client.query({
        name: 'move',
        text: `update ${chain}_head set size = $1, hash = $2 where id = 0`,
        values: [seq + 1, hash],
      })
      await client.query('commit')
      records += 1
    }
    client.release()
  }
  await Promise.all(Array.from({ length: clients }, priorityClass))
  const perSecond = records / ((performance.now() - startedAt) / 1_000)
  await pool.query({ text: `drop table ${chain}, ${chain}_head` })
  await pool.end()
  return Math.round(perSecond)
}
