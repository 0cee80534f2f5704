// Statements are planned once, and while next to nothing waits: each must look after a handoff by its task and its execution even so.
// By an index over all that waits they would go through ten thousand rows for every row, as soon as that many wait for somebody.
import { randomUUID } from 'node:crypto'
import {
  claimExecutions,
  listUndelivered,
  readWaiting,
  redriveLostSuffix,
  sweepStuck,
} from '@baton/store'
import type { Database } from '@baton/store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('waiting plans')
})
afterAll(() => store?.close())

interface PlanNode {
  readonly Alias?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How the statements of `work` read the rows that one alias stands for. */
async function readingsOf(
  alias: string,
  work: (db: Database) => Promise<unknown>,
): Promise<PlanNode[]> {
  const nodes: PlanNode[] = []
  const explaining: Database = {
    async query(statement) {
      const { text, values } = statement as { text: string; values: unknown[] }
      const { rows } = await store.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (format json) ${text}`,
        values,
      })
      for (const row of rows) nodes.push(...nodesOf(row['QUERY PLAN'][0].Plan))
      return { rows: [], rowCount: 0 } as never
    },
  }
  await work(explaining).catch(() => undefined)
  return nodes.filter((node) => node.Alias?.replace(/_\d+$/, '') === alias)
}

const HOUR_AGO = new Date(Date.now() - 3_600_000)
const SUFFIX = { queue: 'reviewer', since: HOUR_AGO, seenAt: HOUR_AGO }
const BY_TASK = /^\(\(?task_id = /
const BY_HANDOFF = /^\(handoff_id = /

const STATEMENTS: readonly [string, (db: Database) => Promise<unknown>][] = [
  ['what nobody claims', (db) => listUndelivered(db, 1)],
  ['what nothing would publish', (db) => sweepStuck(db, 1)],
  ['what a queue lost', (db) => redriveLostSuffix(db, SUFFIX, 10)],
  ['what waits for each agent', (db) => readWaiting(db)],
]

it.each([
  ...STATEMENTS,
  [
    'a claim',
    (db: Database) =>
      claimExecutions(db, { owner: randomUUID(), leaseMs: 1_000 }, [
        { handoffId: randomUUID(), publishAttempt: 1 },
      ]),
  ] as const,
])('looks for earlier handoffs of a task by the task: %s', async (_, work) => {
  const readings = await readingsOf('earlier', work)
  expect(readings).not.toEqual([])
  for (const reading of readings) expect(reading['Index Cond']).toMatch(BY_TASK)
})

it.each(STATEMENTS)('looks for an execution by its handoff: %s', async (_, work) => {
  const readings = await readingsOf('e', work)
  expect(readings).not.toEqual([])
  for (const reading of readings) expect(reading['Index Cond']).toMatch(BY_HANDOFF)
})
