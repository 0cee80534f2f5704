// However much one tenant has waiting, claiming, listing and looking for the oldest of another reads none of it.
import {
  addTenant,
  claimOutbox,
  listClassesOf,
  outboxQueueDepths,
  sendHandoffs,
} from '@baton/store'
import type { Database } from '@baton/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const BACKLOG = 20_000

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('outbox plans')
  await addTenant(store.superuser, 'acme')
  await store.rows(
    `insert into outbox (handoff_id, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent)
     select gen_random_uuid(), gen_random_uuid(), 1, 'reviewer', 2, '', 1, '' from generate_series(1, $1)`,
    [BACKLOG],
  )
  // Postgres knows of no other tenant: whoever comes now is behind all of it.
  await store.rows('analyze outbox')
  const toAgent = 'acme/reader'
  await sendHandoffs(store.pool, [newHandoff({ tenant: 'acme', fromAgent: 'acme/a', toAgent })])
})
afterAll(() => store?.close())

interface PlanNode {
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

const rowsRead = ({ Plans = [], ...node }: PlanNode): number => {
  const own = (node['Rows Removed by Filter'] ?? 0) + node['Actual Rows']
  return own * node['Actual Loops'] + Plans.reduce((sum, plan) => sum + rowsRead(plan), 0)
}

/** How many rows the statements of `work` go through. */
async function readBy(work: (db: Database) => Promise<unknown>): Promise<number> {
  let read = 0
  const explaining: Database = {
    async query(statement) {
      const { text, values } = statement as { text: string; values: unknown[] }
      const { rows } = await store.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (analyze, format json) ${text}`,
        values,
      })
      for (const row of rows) read += rowsRead(row['QUERY PLAN'][0].Plan)
      return { rows: [], rowCount: 0 } as never
    },
  }
  await work(explaining)
  return read
}

const OF_ACME = { tenant: 'acme', queue: 'acme/reader' }

it.each<[string, (db: Database) => Promise<unknown>]>([
  ['the classes of its agent types', (db) => listClassesOf(db, ['acme/reader', 'acme/nobody'])],
  [
    'how much of it waits, and for how long',
    (db) => outboxQueueDepths(db, [OF_ACME], { queueMax: 100, criticalMax: 100, tenantMax: 100 }),
  ],
  ['a claim', (db) => claimOutbox(db, [{ ...OF_ACME, priority: 2, afterSeq: 0, limit: 200 }])],
])('%s', async (_, work) => {
  expect(await readBy(work)).toBeLessThan(200)
})
