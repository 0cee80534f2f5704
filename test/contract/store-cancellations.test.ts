// Cancellation on a real Postgres: at once where nothing executes, after a grace where something does, and for good.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSteering, type Canceled } from '@baton/sdk'
import {
  claimExecutions,
  claimOutbox,
  completeExecutions,
  endCanceledHandoffs,
  endHandoffs,
  extendLeases,
  findHandoff,
  findTask,
  listAuditIntents,
  lookForSteering,
  markExecuting,
  releaseClaims,
  retryHandoffs,
  sendHandoffs,
  sweepLapsedLeases,
} from '@baton/store'
import {
  claim,
  executing,
  newHandoff,
  openStore,
  receiptOf,
  type StoreFixture,
} from './store-fixture.ts'

let store: StoreFixture
let steering: ReturnType<typeof createSteering>
beforeAll(async () => {
  store = await openStore('store cancellations')
  steering = createSteering(store.pool)
})
afterAll(() => store.close())

type CanceledNow = Extract<Canceled, { kind: 'canceled' }>
type Fence = { readonly handoffId: string; readonly epoch: number }
const GRACE_MS = 60_000
const cancel = (handoffId: string, graceMs = GRACE_MS) =>
  steering.cancel({ handoffId, graceMs, actor: 'ann' })
const cancelTask = (taskId: string, graceMs = GRACE_MS) =>
  steering.cancel({ taskId, graceMs, actor: 'ann' })
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
const tryClaim = async (handoffId: string, generation = 1) =>
  (
    await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId, generation },
    ])
  )[0]?.kind
const endGrace = (handoffId: string) =>
  store.rows(`update handoff set cancel_grace_until = now() - interval '1 ms' where id = $1`, [
    handoffId,
  ])
const eventsOf = async (handoffId: string) =>
  (await listAuditIntents(store.pool, -60_000))
    .filter((intent) => intent.handoffId === handoffId)
    .map((intent) => JSON.parse(intent.entry) as { event: string; act?: { actor: string } })

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
      'executing under a lapsed lease',
      async () => {
        const claimed = await executing(store.pool)
        await store.rows(
          `update execution set lease_until = now() - interval '1 s' where handoff_id = $1`,
          [claimed.handoffId],
        )
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
      await lookForSteering(store.pool, [claimed]),
    ]) {
      expect(lease?.canceledUntil).toEqual(stopping[0]?.graceUntil)
      expect(lease?.graceMs).toBeGreaterThan(GRACE_MS / 2)
    }
    expect(await endCanceledHandoffs(store.pool)).toEqual([])
    expect(await complete(claimed)).toEqual(new Map([[handoffId, { handoffId, canceled: true }]]))
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
    expect(await lookForSteering(store.pool, [claimed])).toMatchObject([{ held: false }])
    expect((await complete(claimed)).size).toBe(0)
    const ended = await Promise.all(
      Array.from({ length: 3 }, () => endCanceledHandoffs(store.pool)),
    )
    expect(ended.flat()).toMatchObject([{ handoffId: claimed.handoffId, epoch: 1 }])
    expect((await complete(claimed)).size).toBe(0)
    expect(await stateOf(claimed.handoffId)).toBe('CANCELED')
    expect(await statusOf(claimed.taskId)).toBe('CANCELED')
  })

  it('without grace ends at once, and its zombie commits nothing', async () => {
    const claimed = await executing(store.pool)
    expect(await cancel(claimed.handoffId, 0)).toMatchObject({ ended: [claimed.handoffId] })
    expect((await complete(claimed)).size).toBe(0)
    await releaseClaims(store.pool, [claimed], 0)
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
    await releaseClaims(store.pool, [claimed], 0)
    expect(await endCanceledHandoffs(store.pool)).toMatchObject([{ handoffId: claimed.handoffId }])
    expect(await statusOf(claimed.taskId)).toBe('CANCELED')
  })

  it('and whose owner dies ends canceled without another execution', async () => {
    const claimed = await executing(store.pool)
    const { handoffId } = claimed
    await cancel(handoffId)
    await store.rows(
      `update execution set lease_until = now() - interval '1 s' where handoff_id = $1`,
      [handoffId],
    )
    await sweepLapsedLeases(store.pool)
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

describe('a task', () => {
  it('is canceled with everything that is open in it, and takes nothing more while one still executes', async () => {
    const claimed = await executing(store.pool)
    const { taskId } = claimed
    const waiting = [await sent({ taskId }), await sent({ taskId, requiresApproval: true })]
    const answer = await cancelTask(taskId)
    expect(answer).toMatchObject({ stopping: [{ handoffId: claimed.handoffId }] })
    expect(new Set((answer as CanceledNow).ended)).toEqual(
      new Set(waiting.map((one) => one.handoffId)),
    )
    expect(await sendHandoffs(store.pool, [newHandoff({ taskId })])).toEqual([
      { kind: 'task_ended' },
    ])
    await endGrace(claimed.handoffId)
    await endCanceledHandoffs(store.pool)
    expect(await statusOf(taskId)).toBe('CANCELED')
    expect(await cancelTask(taskId)).toMatchObject({ kind: 'canceled', repeated: true })
  })

  it('of which nothing is open is canceled by itself, on record with its last handoff', async () => {
    const claimed = await executing(store.pool)
    await endHandoffs(store.pool, [{ ...claimed, ...FAILED, ...ROLLED_BACK }], [])
    expect(await cancelTask(claimed.taskId)).toMatchObject({
      ended: [],
      stopping: [],
      taskStatus: 'CANCELED',
      repeated: false,
    })
    expect(await eventsOf(claimed.handoffId)).toMatchObject([
      { event: 'CANCEL_REQUESTED', act: { actor: 'ann' } },
    ])
  })

  it('that is complete or unknown is not canceled', async () => {
    const claimed = await executing(store.pool)
    await complete(claimed, '1')
    expect(await cancelTask(claimed.taskId)).toEqual({ kind: 'ended', state: 'COMPLETED' })
    expect(await cancelTask(randomUUID())).toEqual({ kind: 'unknown' })
    expect(await cancel(randomUUID())).toEqual({ kind: 'unknown' })
  })
})

describe('at the same moment', () => {
  it('a claim, a start and a cancellation: it never executes once it is canceled', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { handoffId } = await sent()
      const claimAndStart = async () => {
        const [claimed] = await claimExecutions(
          store.pool,
          { owner: randomUUID(), leaseMs: 60_000 },
          [{ handoffId, generation: 1 }],
        )
        if (claimed?.kind !== 'claimed') return false
        return (await markExecuting(store.pool, [receiptOf(claimed)]))[0] !== undefined
      }
      const [started, answer] = await Promise.all([claimAndStart(), cancel(handoffId)])
      const { stopping } = answer as typeof answer & { kind: 'canceled' }
      expect(stopping.length === 1).toBe(started)
      expect(await stateOf(handoffId)).toBe(started ? 'EXECUTING' : 'CANCELED')
    }
  })

  it('a result and a cancellation without grace: exactly one of them wins', async () => {
    for (let round = 0; round < 20; round += 1) {
      const claimed = await executing(store.pool)
      const [done, answer] = await Promise.all([
        complete(claimed, '1'),
        cancel(claimed.handoffId, 0),
      ])
      const won = done.size === 1
      expect(answer.kind).toBe(won ? 'ended' : 'canceled')
      expect(await stateOf(claimed.handoffId)).toBe(won ? 'COMPLETED' : 'CANCELED')
    }
  })

  it('two cancellations and a step that hands on: nothing of the task stays open', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { taskId } = await sent()
      await Promise.all([
        sendHandoffs(store.pool, [newHandoff({ taskId })]),
        cancelTask(taskId),
        cancelTask(taskId, 0),
      ])
      expect(await statusOf(taskId)).toBe('CANCELED')
      expect(
        await store.rows('select from handoff where task_id = $1 and ended_at is null', [taskId]),
      ).toEqual([])
      await claimOutbox(store.pool, [{ queue: 'reviewer', priority: 2, afterSeq: 0, limit: 500 }])
    }
  })
})
