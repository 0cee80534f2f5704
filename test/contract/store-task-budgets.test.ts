// Whether a task may be carried on from outside: only while nothing of it is under way, waits or has ended it.
import { randomUUID } from 'node:crypto'
import {
  cancelAtOnce,
  endHandoffs,
  findLiveTypes,
  findTaskBudget,
  inTransaction,
  lockTaskBudget,
  registerAgents,
  sendHandoffs,
  unregisterAgents,
} from '@baton/store'
import type { Ending } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { executing, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('task_budgets')
})
afterAll(() => store.close())

/** A task whose only handoff has ended without effect, for a fifth of its budget. */
async function endedTask(changes: Partial<Ending> = {}): Promise<string> {
  const claimed = await executing(store.pool)
  const ending: Ending = {
    handoffId: claimed.handoffId,
    fencingToken: claimed.fencingToken,
    state: 'ROLLED_BACK',
    taskStatus: 'PENDING_HANDOFF',
    reason: 'BATON_AGENT_FAILED',
    details: '[]',
    costMicroUSD: 200_000,
    alert: false,
    escalate: false,
    ...changes,
  }
  await endHandoffs(store.pool, [ending], [])
  return claimed.taskId
}

describe('the budget of a task', () => {
  it('is what is left of it once its handoff was rolled back', async () => {
    const taskId = await endedTask()
    expect(await findTaskBudget(store.pool, taskId)).toEqual({
      budgetMicroUSD: 1_000_000,
      spentMicroUSD: 200_000,
      remainingMicroUSD: 800_000,
      isIdle: true,
      traceparent: expect.stringContaining(taskId.replaceAll('-', '')) as string,
    })
    expect(await findTaskBudget(store.pool, randomUUID())).toBeUndefined()
  })

  it('is nobody else’s while a handoff is under way, waits for a person, or the task was canceled', async () => {
    const { taskId: open, handoffId } = newHandoff()
    await sendHandoffs(store.pool, [newHandoff({ taskId: open, handoffId })])
    const dead = await endedTask({ state: 'DEAD_LETTERED', taskStatus: 'AWAITING_HUMAN' })
    const canceled = await endedTask()
    await store.rows('update task set cancel_requested = true where id = $1', [canceled])
    for (const taskId of [open, dead, canceled])
      expect(await findTaskBudget(store.pool, taskId)).toMatchObject({ isIdle: false })
    await cancelAtOnce(store.pool, [handoffId])
    expect(await findTaskBudget(store.pool, open)).toMatchObject({ isIdle: false })
  })

  it('is held for one sender after the other, also of a task that is not there yet', async () => {
    const taskId = randomUUID()
    const order: string[] = []
    let second: Promise<unknown> = Promise.resolve()
    await inTransaction(store.pool, async (transaction) => {
      await lockTaskBudget(transaction, taskId)
      second = inTransaction(store.pool, async (other) => {
        await lockTaskBudget(other, taskId)
        order.push((await findTaskBudget(other, taskId)) === undefined ? 'nothing' : 'the task')
      })
      await eventually(
        async () =>
          (await store.rows(`select from pg_locks where locktype = 'advisory' and not granted`))
            .length > 0,
        { deadlineMs: 5_000, describe: 'the second waits' },
      )
      order.push('first')
      await sendHandoffs(transaction, [newHandoff({ taskId })])
    })
    await second
    expect(order).toEqual(['first', 'the task'])
  })
})

it('knows which agent types are live', async () => {
  const worker = randomUUID()
  const agent = {
    version: '1.0.0',
    requires: [],
    capabilities: [],
    mcp: [],
  }
  await registerAgents(store.pool, worker, [
    { type: 'analyst', ...agent },
    { type: 'reviewer', ...agent },
  ])
  const asked = ['analyst', 'nobody']
  expect(await findLiveTypes(store.pool, asked)).toEqual(new Set(['analyst']))
  await unregisterAgents(store.pool, worker)
  expect(await findLiveTypes(store.pool, asked)).toEqual(new Set())
})
