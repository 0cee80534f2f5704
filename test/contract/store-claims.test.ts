// Claims and leases on a real Postgres: who may execute, and who no longer may.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  claimExecutions,
  extendLeases,
  markExecuting,
  releaseLeasesLater,
  sendHandoffs,
} from '@baton/store'
import { claim, executing, newHandoff, openStore, receiptOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store claims')
})
afterAll(() => store.close())

const tryClaim = async (handoffId: string, publishAttempt = 1): Promise<string | undefined> => {
  const options = { owner: randomUUID(), leaseMs: 60_000 }
  const [answer] = await claimExecutions(store.pool, options, [{ handoffId, publishAttempt }])
  return answer?.kind
}
const stateOf = async (handoffId: string) =>
  (
    await store.rows<{
      state: string
      attempt: number
      publishAttempt: number
      fencingToken: number
    }>(
      `select h.state, h.attempt, h.publish_attempt as "publishAttempt", e.fencing_token as "fencingToken", e.status from handoff h
       left join execution e on e.handoff_id = h.id where h.id = $1`,
      [handoffId],
    )
  )[0]
async function sent(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  return handoff
}

describe('a claim', () => {
  it('gives the signed bytes and everything the checks need', async () => {
    const handoff = await sent({ tracestate: 'a=b', spentMicroUSD: 5 })
    expect(await claim(store.pool, handoff)).toMatchObject({
      fencingToken: 1,
      leaseExpiries: 0,
      attempt: 1,
      attemptsMax: 3,
      publishAttempt: 1,
      taskId: handoff.taskId,
      body: Buffer.from(handoff.body),
      keyId: 'k1',
      signature: handoff.signature,
      tracestate: 'a=b',
      budgetMicroUSD: 1_000_005,
      parentRemainingMicroUSD: null,
    })
  })

  it('is refused while a live lease holds it, and given once to concurrent claimants', async () => {
    const handoff = await sent()
    const answers = await Promise.all(Array.from({ length: 6 }, () => tryClaim(handoff.handoffId)))
    expect(answers.filter((kind) => kind === 'claimed')).toHaveLength(1)
    expect(await tryClaim(handoff.handoffId)).toBe('refused')
  })

  it('of the same queue message twice in one set is given once; the later publish attempt is the live one', async () => {
    const handoff = await sent()
    const { handoffId } = handoff
    await store.rows('update handoff set publish_attempt = 2 where id = $1', [handoffId])
    const answers = await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 1_000 }, [
      { handoffId, publishAttempt: 1 },
      { handoffId, publishAttempt: 2 },
      { handoffId, publishAttempt: 2 },
    ])
    expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'claimed', 'refused'])
  })

  it.each([
    ['unknown', async () => randomUUID()],
    [
      'of a stale publish attempt',
      async () => {
        const { handoffId } = await sent()
        await store.rows('update handoff set publish_attempt = 2 where id = $1', [handoffId])
        return handoffId
      },
    ],
    [
      'ended',
      async () => {
        const { handoffId } = await sent()
        await store.rows(`update handoff set state = 'CANCELED' where id = $1`, [handoffId])
        return handoffId
      },
    ],
    ['that awaits approval', async () => (await sent({ requiresApproval: true })).handoffId],
    ['expired', async () => (await sent({ expiresAt: '2020-01-01T00:00:00Z' })).handoffId],
    [
      'whose cancellation was asked for',
      async () => {
        const { handoffId } = await sent()
        await store.rows('update handoff set cancel_requested = true where id = $1', [handoffId])
        return handoffId
      },
    ],
    [
      'whose predecessor in the task is open',
      async () => {
        const { taskId } = await sent()
        return (await sent({ taskId })).handoffId
      },
    ],
  ] as const)('of a handoff %s is refused', async (_, prepare) => {
    expect(await tryClaim(await prepare())).toBe('refused')
  })

  it('after an expired lease gets the next fencing token and counts the lease expiry', async () => {
    const first = await executing(store.pool)
    await store.leaseExpiry(first.handoffId)
    expect(await claim(store.pool, first)).toMatchObject({
      fencingToken: 2,
      leaseExpiries: 1,
      attempt: 1,
    })
  })
})

describe('an execution', () => {
  it('starts only with the fencing token it was claimed with, and only once', async () => {
    const claimed = await claim(store.pool, await sent())
    const wrong = { ...receiptOf(claimed), fencingToken: 2 }
    expect(await markExecuting(store.pool, [wrong])).toEqual([undefined])
    const [latency] = await markExecuting(store.pool, [receiptOf(claimed)])
    expect(latency).toBeGreaterThanOrEqual(0)
    expect(await markExecuting(store.pool, [receiptOf(claimed)])).toEqual([undefined])
  })

  it('does not start once its lease has expired', async () => {
    const claimed = await claim(store.pool, await sent())
    await store.leaseExpiry(claimed.handoffId)
    expect(await markExecuting(store.pool, [receiptOf(claimed)])).toEqual([undefined])
  })

  it('does not start once its handoff has expired, however long the audit receipt took', async () => {
    const claimed = await claim(store.pool, await sent({ expiresAt: '2100-01-01T00:00:00Z' }))
    await store.rows(`update handoff set expires_at = now() - interval '1 ms' where id = $1`, [
      claimed.handoffId,
    ])
    expect(await markExecuting(store.pool, [receiptOf(claimed)])).toEqual([undefined])
    expect(await stateOf(claimed.handoffId)).toMatchObject({ status: 'CLAIMED', state: 'QUEUED' })
  })

  it.each(['EXPIRED', 'CANCELED'])('does not bring back a handoff that is %s', async (state) => {
    const claimed = await claim(store.pool, await sent())
    await store.rows('update handoff set state = $2 where id = $1', [claimed.handoffId, state])
    expect(await markExecuting(store.pool, [receiptOf(claimed)])).toEqual([undefined])
    expect((await stateOf(claimed.handoffId))?.state).toBe(state)
  })

  it('keeps its lease by heartbeats until it is taken over or canceled', async () => {
    const [kept, taken, canceled] = [
      await executing(store.pool),
      await executing(store.pool),
      await executing(store.pool),
    ]
    await store.leaseExpiry(taken.handoffId)
    await claim(store.pool, taken)
    await store.rows('update handoff set cancel_requested = true where id = $1', [
      canceled.handoffId,
    ])
    const alive = await extendLeases(store.pool, [kept, taken, canceled], 60_000)
    expect(alive.map((lease) => lease.handoffId)).toEqual([kept.handoffId])
  })

  it('that is released counts no attempt and no lease expiry, and waits for its time', async () => {
    const claimed = await executing(store.pool)
    await releaseLeasesLater(store.pool, [claimed], 60_000)
    expect(await stateOf(claimed.handoffId)).toMatchObject({
      state: 'QUEUED',
      attempt: 1,
      status: 'ABANDONED',
    })
    expect(
      await store.rows('select from retry where handoff_id = $1', [claimed.handoffId]),
    ).toHaveLength(1)
    expect(await claim(store.pool, claimed)).toMatchObject({ fencingToken: 2, leaseExpiries: 0 })
  })
})
