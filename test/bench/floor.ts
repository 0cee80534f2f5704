// The floor below every durable pipeline: one-row inserts, each with its own commit, as pgbench would do.
import { createPool } from '@baton/store'
import { uniqueDatabaseName } from '@baton/testkit'
import { proseOf } from './message.ts'

interface FloorPlan {
  readonly adminUrl: string
  readonly bytes: number
  readonly clients: number
  readonly seconds: number
}

/** Commits per second of single-row inserts of `bytes` bytes. */
export async function measureFloor({
  adminUrl,
  bytes,
  clients,
  seconds,
}: FloorPlan): Promise<number> {
  const pool = createPool({
    url: adminUrl,
    applicationName: 'bench-floor',
    connectionsMax: clients,
  })
  const table = uniqueDatabaseName('floor')
  await pool.query({
    text: `create table ${table} (id bigint generated always as identity primary key, body text)`,
  })
  const insert = {
    name: 'floor',
    text: `insert into ${table} (body) values ($1)`,
    values: [proseOf(bytes, 3)],
  }
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  let commits = 0
  const priorityClass = async (): Promise<void> => {
    while (performance.now() < until) {
      await pool.query(insert)
      commits += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, priorityClass))
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  await pool.query({ text: `drop table ${table}` })
  await pool.end()
  return Math.round(commits / elapsedSeconds)
}
