// A session that the server ends in the middle of a transaction fails that transaction, never the process.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '@baton/store'
import { eventually } from '@baton/testkit'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('ended session')
})
afterAll(() => store.close())

it('between two statements, while nothing is being asked', async () => {
  const pid = async () => (await store.rows<{ pid: number }>(IN_TRANSACTION))[0]?.pid
  const attempt = inTransaction(store.pool, async (transaction) => {
    await transaction.query({ text: 'select 1' })
    const mine = await eventually(pid, { deadlineMs: 30_000, describe: 'the session shows' })
    await store.rows('select pg_terminate_backend($1)', [mine])
    await eventually(async () => (await pid()) === undefined, {
      deadlineMs: 30_000,
      describe: 'the session is gone',
    })
    await transaction.query({ text: 'select 2' })
  })
  await expect(attempt).rejects.toMatchObject({ kind: 'transient' })
  expect(await inTransaction(store.pool, async () => 'again')).toBe('again')
})

const IN_TRANSACTION = `select pid from pg_stat_activity
  where datname = current_database() and state = 'idle in transaction'`
