// Cancellation on a real Postgres: at once where nothing executes, after a grace where something does, and for good.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestCancel } from '@baton/engine'
import type { Canceled } from '@baton/engine'
import {
  claimExecutions,
  completeExecutions,
  endCanceledHandoffs,
  endHandoffs,
  extendLeases,
  findHandoff,
  findInterrupted,
  findTask,
  listOutboxEvents,
  releaseLeasesLater,
  retryHandoffs,
  sendHandoffs,
  sweepExpiredLeases,
} from '@baton/store'
import { claim, executing, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store cancellations')
})
afterAll(() => store.close())

type CanceledNow = Extract<Canceled, { kind: 'canceled' }>
type Fence = { readonly handoffId: string; readonly fencingToken: number }
const GRACE_MS = 60_000
const cancel = (handoffId: string, graceMs = GRACE_MS) =>
  requestCancel(store.pool, { handoffId, graceMs, actor: 'ann' })
const cancelTask = (taskId: string, graceMs = GRACE_MS) =>
  requestCancel(store.pool, { taskId, graceMs, actor: 'ann' })
const complete = async (fence: Fence, taskResult: string | null = null) => {
  const completion = { ...fence, costMicroUSD: 30, result: '1', taskResult }
  return completeExecutions(store.pool, [completion], [])
}
const stateOf = async (handoffId: string) => (await findHandoff(store.pool, handoffId))?.state
const statusOf = async (taskId: string) => (await findTask(store.pool, taskId))?.status
async function sent(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  return handoff
}
const tryClaim = async (handoffId: string, publishAttempt = 1) =>
  (
    await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId, publishAttempt },
    ])
  )[0]?.kind
const endGrace = (handoffId: string) =>
  store.rows(`update handoff set cancel_grace_until = now() - interval '1 ms' where id = $1`, [
    handoffId,
  ])
const eventsOf = async (handoffId: string) =>
  (await listOutboxEvents(store.pool, -60_000))
    .filter((event) => event.handoffId === handoffId)
    .map((event) => JSON.parse(event.entry) as { event: string; act?: { actor: string } })

describe('what does not execute', () => {
  it.each([
    ['queued', () => sent()],
    ['awaiting approval', () => sent({ requiresApproval: true })],
    [
      'waiting for a retry',
      async () => {
        const claimed = await executing(store.pool)
        const retry = { ...claimed, reason: 'X', details: '[]', delayMs: 60_000, returned: true }
        await retryHandoffs(store.pool, [retry], [])
        return claimed
      },
    ],
    [
      'claimed but not started',
      async () => {
        const handoff = await sent()
        await claim(store.pool, handoff)
        return handoff
      },
    ],
    [
      'executing under an expired lease',
      async () => {
        const claimed = await executing(store.pool)
        await store.leaseExpiry(claimed.handoffId)
        return claimed
      },
    ],
  ])('ends at once: %s', async (_, prepare) => {
    const { handoffId, taskId } = await prepare()
    expect(await cancel(handoffId)).toMatchObject({
      kind: 'canceled',
      ended: [handoffId],
      stopping: [],
      taskStatus: 'CANCELED',
      repeated: false,
    })
    expect(await stateOf(handoffId)).toBe('CANCELED')
    expect(await statusOf(taskId)).toBe('CANCELED')
    for (const table of ['retry', 'outbox'])
      expect(await store.rows(`select from ${table} where handoff_id = $1`, [handoffId])).toEqual(
        [],
      )
    expect(await tryClaim(handoffId)).toBe('refused')
    expect((await eventsOf(handoffId)).map(({ event, act }) => [event, act?.actor])).toEqual([
      ['CANCEL_REQUESTED', 'ann'],
      ['HANDOFF_CANCELED', undefined],
    ])
  })

  it('is canceled once: a repetition changes nothing, and its task takes no more handoffs', async () => {
    const { handoffId, taskId } = await sent()
    await cancel(handoffId)
    expect(await cancel(handoffId)).toMatchObject({ kind: 'canceled', ended: [], repeated: true })
    expect(await eventsOf(handoffId)).toHaveLength(2)
    expect(await sendHandoffs(store.pool, [newHandoff({ taskId })])).toEqual([
      { kind: 'task_ended' },
    ])
  })

  it('lets the next handoff of its task go, which keeps the task alive', async () => {
    const first = await sent({ requiresApproval: true })
    const second = await sent({ taskId: first.taskId })
    await store.rows(`update handoff set state = 'DISPATCHED' where id = $1`, [second.handoffId])
    expect(await cancel(first.handoffId)).toMatchObject({ taskStatus: 'PENDING_HANDOFF' })
    expect(await tryClaim(second.handoffId, 2)).toBe('claimed')
  })
})

describe('what executes', () => {
  it('is told, keeps its lease, and its result within the grace wins', async () => {
    const claimed = await executing(store.pool)
    const { handoffId, taskId } = claimed
    const answer = await cancel(handoffId)
    expect(answer).toMatchObject({ kind: 'canceled', ended: [], taskStatus: 'RUNNING' })
    const { stopping } = answer as typeof answer & { kind: 'canceled' }
    expect(stopping).toMatchObject([{ handoffId, graceUntil: expect.any(Date) }])
    for (const [lease] of [
      await extendLeases(store.pool, [claimed], 60_000),
      await findInterrupted(store.pool, [claimed]),
    ]) {
      expect(lease?.canceledUntil).toEqual(stopping[0]?.graceUntil)
      expect(lease?.graceMs).toBeGreaterThan(GRACE_MS / 2)
    }
    expect(await endCanceledHandoffs(store.pool)).toEqual([])
    expect(await complete(claimed)).toEqual(
      new Map([[handoffId, { handoffId, canceled: true, fannedIn: false }]]),
    )
    expect(await stateOf(handoffId)).toBe('COMPLETED')
    expect(await statusOf(taskId)).toBe('CANCELED')
    expect(await cancel(handoffId)).toEqual({ kind: 'ended', state: 'COMPLETED' })
  })

  it('and was the last step of its task completes the task', async () => {
    const claimed = await executing(store.pool)
    await cancelTask(claimed.taskId)
    await complete(claimed, '"done"')
    expect(await statusOf(claimed.taskId)).toBe('COMPLETED')
  })

  it('commits nothing after the grace, and ends canceled', async () => {
    const claimed = await executing(store.pool)
    await cancel(claimed.handoffId)
    await endGrace(claimed.handoffId)
    expect(await extendLeases(store.pool, [claimed], 60_000)).toEqual([])
    expect(await findInterrupted(store.pool, [claimed])).toMatchObject([{ held: false }])
    expect((await complete(claimed)).size).toBe(0)
    const ended = await Promise.all(
      Array.from({ length: 3 }, () => endCanceledHandoffs(store.pool)),
    )
    expect(ended.flat()).toMatchObject([{ handoffId: claimed.handoffId, fencingToken: 1 }])
    expect((await complete(claimed)).size).toBe(0)
    expect(await stateOf(claimed.handoffId)).toBe('CANCELED')
    expect(await statusOf(claimed.taskId)).toBe('CANCELED')
  })

  it('without grace ends at once, and its zombie commits nothing', async () => {
    const claimed = await executing(store.pool)
    expect(await cancel(claimed.handoffId, 0)).toMatchObject({ ended: [claimed.handoffId] })
    expect((await complete(claimed)).size).toBe(0)
    await releaseLeasesLater(store.pool, [claimed], 0)
    expect(await stateOf(claimed.handoffId)).toBe('CANCELED')
  })

  it.each([
    [
      'fails',
      (f: Fence) =>
        retryHandoffs(store.pool, [{ ...f, ...FAILED, delayMs: 1, returned: false }], []),
    ],
    [
      'fails for good',
      (f: Fence) => endHandoffs(store.pool, [{ ...f, ...FAILED, ...ROLLED_BACK }], []),
    ],
  ] as const)('and %s within the grace is neither tried again nor rolled back', async (_, fail) => {
    const claimed = await executing(store.pool)
    await cancel(claimed.handoffId)
    expect((await fail(claimed)).size).toBe(0)
    await releaseLeasesLater(store.pool, [claimed], 0)
    expect(await endCanceledHandoffs(store.pool)).toMatchObject([{ handoffId: claimed.handoffId }])
    expect(await statusOf(claimed.taskId)).toBe('CANCELED')
  })

  it('and whose owner dies ends canceled without another execution', async () => {
    const claimed = await executing(store.pool)
    const { handoffId } = claimed
    await cancel(handoffId)
    await store.leaseExpiry(handoffId)
    await sweepExpiredLeases(store.pool)
    expect(await tryClaim(handoffId, 2)).toBe('refused')
    expect(await endCanceledHandoffs(store.pool)).toMatchObject([{ handoffId }])
  })

  it('keeps the grace it was given first', async () => {
    const claimed = await executing(store.pool)
    const first = await cancel(claimed.handoffId)
    expect(await cancel(claimed.handoffId, 1)).toMatchObject({
      stopping: (first as CanceledNow).stopping,
      repeated: true,
    })
  })
})

const FAILED = { reason: 'X', details: '[]', costMicroUSD: 0 }
const ROLLED_BACK = {
  state: 'ROLLED_BACK',
  taskStatus: 'PENDING_HANDOFF',
  alert: true,
  escalate: true,
} as const
