// Canceling a task on a real Postgres: everything open in it ends, and it takes nothing more.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestCancel } from '@baton/engine'
import type { Canceled } from '@baton/engine'
import {
  completeExecutions,
  endCanceledHandoffs,
  endHandoffs,
  findTask,
  listOutboxEvents,
  sendHandoffs,
} from '@baton/store'
import { executing, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store task cancellations')
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
const statusOf = async (taskId: string) => (await findTask(store.pool, taskId))?.status
async function sent(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  return handoff
}
const endGrace = (handoffId: string) =>
  store.rows(`update handoff set cancel_grace_until = now() - interval '1 ms' where id = $1`, [
    handoffId,
  ])
const eventsOf = async (handoffId: string) =>
  (await listOutboxEvents(store.pool, -60_000))
    .filter((event) => event.handoffId === handoffId)
    .map((event) => JSON.parse(event.entry) as { event: string; act?: { actor: string } })

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

  it('takes its dead letters and escalations out of people’s sight', async () => {
    const claimed = await executing(store.pool)
    const deadLetter = { ...claimed, ...FAILED, ...ROLLED_BACK, state: 'DEAD_LETTERED' } as const
    await endHandoffs(store.pool, [{ ...deadLetter, taskStatus: 'AWAITING_HUMAN' }], [])
    await cancelTask(claimed.taskId)
    for (const table of ['dead_letter', 'escalation']) {
      const text = `select resolved_at is not null as put_away from ${table} where handoff_id = $1`
      expect(await store.rows(text, [claimed.handoffId])).toEqual([{ put_away: true }])
    }
  })

  it('that is complete or unknown is not canceled', async () => {
    const claimed = await executing(store.pool)
    await complete(claimed, '1')
    expect(await cancelTask(claimed.taskId)).toEqual({ kind: 'ended', state: 'COMPLETED' })
    expect(await cancelTask(randomUUID())).toEqual({ kind: 'unknown' })
    expect(await cancel(randomUUID())).toEqual({ kind: 'unknown' })
  })
})
