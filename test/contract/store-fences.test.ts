// A settlement that comes too late, or twice, changes nothing at all (I4).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  completeExecutions,
  endHandoffs,
  markExecuting,
  retryHandoffs,
  sweepExpiredLeases,
} from '@baton/store'
import { claim, executing, openStore, outboxEventOf, receiptOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store fences')
})
afterAll(() => store.close())

describe('a late settlement is fenced (I4)', () => {
  const settle = {
    completes: async (fence: { handoffId: string; fencingToken: number }) => {
      const completion = { ...fence, costMicroUSD: 5, result: '1', taskResult: '1' }
      const done = await completeExecutions(
        store.pool,
        [completion],
        [outboxEventOf(fence.handoffId)],
      )
      return new Set(done.keys())
    },
    retries: (fence: { handoffId: string; fencingToken: number }) =>
      retryHandoffs(
        store.pool,
        [{ ...fence, reason: 'X', details: '[]', delayMs: 1, returned: true }],
        [outboxEventOf(fence.handoffId)],
      ),
    ends: (fence: { handoffId: string; fencingToken: number }) =>
      endHandoffs(
        store.pool,
        [
          {
            ...fence,
            state: 'ROLLED_BACK',
            taskStatus: 'PENDING_HANDOFF',
            reason: 'X',
            details: '[]',
            costMicroUSD: 5,
            alert: true,
            escalate: true,
          },
        ],
        [outboxEventOf(fence.handoffId)],
      ),
  }
  const names = Object.keys(settle) as (keyof typeof settle)[]

  const everything = async ({ handoffId, taskId }: { handoffId: string; taskId: string }) =>
    store.rows(
      `select h.*, e.*, t.*, (select count(*) from audit_outbox a where a.handoff_id = h.id) as events,
         (select count(*) from alert_occurrence a where a.handoff_id = h.id) as alerts,
         (select count(*) from handoff_return r where r.handoff_id = h.id) as returns,
         (select count(*) from retry r where r.handoff_id = h.id) as retries
       from handoff h join execution e on e.handoff_id = h.id join task t on t.id = h.task_id
       where h.id = $1 and t.id = $2`,
      [handoffId, taskId],
    )

  it.each(names)('%s nothing after a take-over', async (name) => {
    const old = await executing(store.pool)
    await store.leaseExpiry(old.handoffId)
    const next = await claim(store.pool, old)
    await markExecuting(store.pool, [receiptOf(next)])
    const before = await everything(old)
    expect([...(await settle[name](old))]).toEqual([])
    expect(await everything(old)).toEqual(before)
  })

  it.each(names)('%s nothing after the sweeper took the lease away', async (name) => {
    const old = await executing(store.pool)
    await store.leaseExpiry(old.handoffId)
    expect(await sweepExpiredLeases(store.pool)).toContain(old.handoffId)
    const before = await everything(old)
    expect([...(await settle[name](old))]).toEqual([])
    expect(await everything(old)).toEqual(before)
  })

  it.each(names)('%s once, not twice', async (name) => {
    const claimed = await executing(store.pool)
    expect([...(await settle[name](claimed))]).toEqual([claimed.handoffId])
    const before = await everything(claimed)
    expect([...(await settle[name](claimed))]).toEqual([])
    expect(await everything(claimed)).toEqual(before)
  })
})
