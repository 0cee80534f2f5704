// Settlements on a real Postgres: one effect, the sender's checkpoint byte for byte, and whoever waits is woken.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  completeExecutions,
  countAlerts,
  endHandoffs,
  findHandoff,
  findTask,
  findTaskCheckpoint,
  listAlerts,
  listDeadLetters,
  listEscalations,
  listReturns,
  readWaiting,
  retryHandoffs,
  sendHandoffs,
  storeInvariants,
} from '@baton/store'
import type { Ending } from '@baton/store'
import { claim, executing, newHandoff, openStore, outboxEventOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store settlements')
})
afterAll(() => store.close())

type Fence = { readonly handoffId: string; readonly fencingToken: number }
const complete = (fence: Fence, taskResult: string | null = null) =>
  completeExecutions(
    store.pool,
    [{ ...fence, costMicroUSD: 30, result: '{"ok":true}', taskResult }],
    [outboxEventOf(fence.handoffId)],
  )
const ending = (fence: Fence, changes: Partial<Ending> = {}): Ending => ({
  handoffId: fence.handoffId,
  fencingToken: fence.fencingToken,
  state: 'ROLLED_BACK',
  taskStatus: 'PENDING_HANDOFF',
  reason: 'SCHEMA_INVALID',
  details: '[{"pointer":"/a"}]',
  costMicroUSD: 0,
  alert: true,
  escalate: false,
  ...changes,
})
const eventsOf = async (handoffId: string) =>
  (await store.rows('select from audit_outbox where handoff_id = $1', [handoffId])).length

describe('a completion (I5)', () => {
  it('commits result, cost, task state and event together', async () => {
    const claimed = await executing(store.pool)
    expect([...(await complete(claimed, '"the end"')).keys()]).toEqual([claimed.handoffId])
    expect(await findHandoff(store.pool, claimed.handoffId)).toMatchObject({
      state: 'COMPLETED',
      result: { ok: true },
      costMicroUSD: 30,
    })
    expect(await findTask(store.pool, claimed.taskId)).toMatchObject({
      status: 'COMPLETED',
      result: 'the end',
      spentMicroUSD: 30,
    })
    expect(await eventsOf(claimed.handoffId)).toBe(1)
  })

  it('leaves a task open while another of its handoffs is', async () => {
    const first = await executing(store.pool)
    await sendHandoffs(store.pool, [newHandoff({ taskId: first.taskId })])
    await complete(first, '1')
    expect((await findTask(store.pool, first.taskId))?.status).toBe('PENDING_HANDOFF')
  })

  it('publishes again the next of its task that was refused while its predecessor was open', async () => {
    const first = await executing(store.pool)
    const second = newHandoff({
      taskId: first.taskId,
      parentId: first.handoffId,
      spentMicroUSD: 30,
      remainingMicroUSD: 999_970,
    })
    await sendHandoffs(store.pool, [second])
    await store.rows('delete from outbox where handoff_id = $1', [second.handoffId])
    await store.rows(`update handoff set state = 'DISPATCHED' where id = $1`, [second.handoffId])
    await complete(first)
    expect(
      await store.rows(
        'select publish_attempt as "publishAttempt" from outbox where handoff_id = $1',
        [second.handoffId],
      ),
    ).toEqual([{ publishAttempt: 2 }])
    expect(await claim(store.pool, second, { publishAttempt: 2 })).toMatchObject({
      fencingToken: 1,
    })
  })

  it('answers for each of a set: the fenced one changes nothing, the others commit', async () => {
    const [good, late] = [await executing(store.pool), await executing(store.pool)]
    const completions = [good, { ...late, fencingToken: 9 }].map(({ handoffId, fencingToken }) => ({
      handoffId,
      fencingToken,
      costMicroUSD: 1,
      result: 'null',
      taskResult: 'null',
    }))
    const held = await completeExecutions(store.pool, completions, [
      outboxEventOf(good.handoffId),
      outboxEventOf(late.handoffId),
    ])
    expect([...held.keys()]).toEqual([good.handoffId])
    expect(await eventsOf(late.handoffId)).toBe(0)
    expect((await findHandoff(store.pool, late.handoffId))?.state).toBe('EXECUTING')
  })
})

describe('a retry (E09)', () => {
  it('returns the handoff to its sender with the details and waits for its time', async () => {
    const claimed = await executing(store.pool)
    const retry = {
      handoffId: claimed.handoffId,
      fencingToken: claimed.fencingToken,
      reason: 'INCOMPLETE_CONTEXT',
      details: '[{"pointer":"/currentState/a"}]',
      delayMs: 60_000,
      returned: true,
    }
    await retryHandoffs(store.pool, [retry], [])
    const [back] = await listReturns(store.pool, claimed.handoffId)
    expect(back).toMatchObject({
      attempt: 1,
      reason: 'INCOMPLETE_CONTEXT',
      details: [{ pointer: '/currentState/a' }],
    })
    const waitMs = (back?.retryAt?.getTime() ?? 0) - (back?.createdAt.getTime() ?? 0)
    expect(waitMs).toBeGreaterThan(55_000)
    expect(waitMs).toBeLessThan(65_000)
    expect(await findHandoff(store.pool, claimed.handoffId)).toMatchObject({
      state: 'QUEUED',
      attempt: 2,
    })
    expect((await findTask(store.pool, claimed.taskId))?.status).toBe('PENDING_HANDOFF')
  })

  it('of a failed execution is no return', async () => {
    const { handoffId, fencingToken } = await executing(store.pool)
    const retry = {
      handoffId,
      fencingToken,
      reason: 'X',
      details: '[]',
      delayMs: 60_000,
      returned: false,
    }
    await retryHandoffs(store.pool, [retry], [outboxEventOf(handoffId)])
    expect(await listReturns(store.pool, handoffId)).toEqual([])
    expect(await eventsOf(handoffId)).toBe(1)
  })
})

describe('an ending without effect', () => {
  it('restores the sender’s checkpoint byte for byte (I7), alerts and escalates (E15)', async () => {
    const first = await executing(store.pool)
    const second = newHandoff({
      taskId: first.taskId,
      parentId: first.handoffId,
      spentMicroUSD: 30,
      remainingMicroUSD: 999_970,
    })
    await complete(first)
    await sendHandoffs(store.pool, [second])
    await store.rows('update task set checkpoint_id = null where id = $1', [first.taskId])
    const claimed = await claim(store.pool, second)
    await endHandoffs(
      store.pool,
      [ending(claimed, { escalate: true })],
      [outboxEventOf(second.handoffId)],
    )
    const checkpoint = await findTaskCheckpoint(store.pool, first.taskId)
    expect(checkpoint?.body).toEqual(Buffer.from(second.checkpoint))
    expect(checkpoint?.sha256).toEqual(Buffer.from(second.checkpointSha256))
    expect(await findTask(store.pool, first.taskId)).toMatchObject({
      status: 'PENDING_HANDOFF',
      failedHandoffs: 1,
      checkpointId: second.checkpointId,
    })
    await countAlerts(store.pool)
    expect(
      (await listAlerts(store.pool, { limit: 100 })).find((alert) =>
        alert.handoffIds.includes(second.handoffId),
      ),
    ).toMatchObject({ kind: 'handoff.rolled_back', reason: 'SCHEMA_INVALID' })
    expect(
      (await listEscalations(store.pool, { limit: 100 })).map((one) => one.handoffId),
    ).toContain(second.handoffId)
    expect(await eventsOf(second.handoffId)).toBe(1)
  })

  it('quarantines a dead letter for a person', async () => {
    const before = (await readWaiting(store.pool)).deadLetters
    const claimed = await claim(store.pool, await sent())
    await endHandoffs(
      store.pool,
      [
        ending(claimed, {
          state: 'DEAD_LETTERED',
          taskStatus: 'AWAITING_HUMAN',
          reason: 'SAFETY_VIOLATION',
        }),
      ],
      [],
    )
    expect((await readWaiting(store.pool)).deadLetters).toBe(before + 1)
    expect((await listDeadLetters(store.pool, 100)).at(-1)).toMatchObject({
      handoffId: claimed.handoffId,
      reason: 'SAFETY_VIOLATION',
      resolvedAt: null,
    })
    expect((await findTask(store.pool, claimed.taskId))?.status).toBe('AWAITING_HUMAN')
  })

  it('of a set with one whose fencing token is lost ends the others', async () => {
    const [good, late] = [
      await claim(store.pool, await sent()),
      await claim(store.pool, await sent()),
    ]
    const held = await endHandoffs(
      store.pool,
      [ending(good), ending({ ...late, fencingToken: 7 })],
      [],
    )
    expect([...held]).toEqual([good.handoffId])
  })
})

async function sent() {
  const handoff = newHandoff()
  await sendHandoffs(store.pool, [handoff])
  return handoff
}

it('leaves every promise of the database kept after all of this', async () => {
  const checked = await Promise.all(
    storeInvariants(store.pool).map(async ({ rule, check }) => ({
      rule,
      ids: await check(),
    })),
  )
  expect(checked.filter(({ ids }) => ids.length > 0)).toEqual([])
})
