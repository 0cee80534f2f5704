// What waits on a real Postgres: published and unclaimed work by agent type, and what is left to people.
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  acknowledgeAlert,
  endHandoffs,
  markDispatched,
  raiseAlert,
  readWaiting,
  retryHandoffs,
  sendHandoffs,
} from '@baton/store'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store waiting')
})
afterAll(() => store.close())

async function published(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  await markDispatched(store.pool, [handoff.handoffId])
  return handoff
}

const dispatchedAgo = (handoffId: string, seconds: number) =>
  store.rows(`update handoff set dispatched_at = now() - $2 * interval '1 s' where id = $1`, [
    handoffId,
    seconds,
  ])

it('counts what is published and unclaimed, by the agent type that gets it', async () => {
  const old = await published({ toAgent: 'review' })
  await published({ toAgent: 'review', priority: 0 })
  const moved = await published({ toAgent: 'review' })
  await store.rows(`update handoff set routed_to = 'extraction' where id = $1`, [moved.handoffId])
  await dispatchedAgo(old.handoffId, 90)
  // None of these waits for a receiver: not published, claimed, due later, not its turn.
  await sendHandoffs(store.pool, [newHandoff({ toAgent: 'review' })])
  const first = await published({ toAgent: 'review' })
  await published({ toAgent: 'review', taskId: first.taskId })
  await claim(store.pool, first)
  const refused = await claim(store.pool, await published({ toAgent: 'review' }))
  const again = { ...refused, reason: 'X', details: '[]', delayMs: 60_000, returned: false }
  await retryHandoffs(store.pool, [again], [])
  const { queues } = await readWaiting(store.pool)
  expect(queues).toEqual([
    { agent: 'extraction', depth: 1, oldestAgeSeconds: expect.any(Number) },
    { agent: 'review', depth: 2, oldestAgeSeconds: expect.any(Number) },
  ])
  const [extraction, review] = queues.map(({ oldestAgeSeconds }) => oldestAgeSeconds)
  expect(extraction).toBeLessThan(60)
  expect(review).toBeGreaterThanOrEqual(90)
})

it('counts what waits for people until somebody has it', async () => {
  const quiet = { deadLetters: 0, deadLetterOldestAgeSeconds: 0, approvals: 0, escalations: 0 }
  expect(await readWaiting(store.pool)).toMatchObject({ ...quiet, alerts: 0 })
  await sendHandoffs(store.pool, [newHandoff({ requiresApproval: true })])
  const alert = { key: 'k', kind: 'k', severity: 'ticket', reason: 'X', subject: {} } as const
  const alertId = await raiseAlert(store.pool, alert)
  const claimed = await claim(store.pool, await published())
  const ending = {
    ...claimed,
    state: 'DEAD_LETTERED',
    taskStatus: 'AWAITING_HUMAN',
    reason: 'POISON',
    details: '[]',
    costMicroUSD: 0,
    alert: false,
    escalate: true,
  } as const
  await endHandoffs(store.pool, [ending], [])
  await store.rows(`update dead_letter set created_at = now() - interval '1 hour'`)
  const waiting = await readWaiting(store.pool)
  expect(waiting).toMatchObject({ deadLetters: 1, approvals: 1, escalations: 1, alerts: 1 })
  expect(waiting.deadLetterOldestAgeSeconds).toBeGreaterThanOrEqual(3_600)
  await acknowledgeAlert(store.pool, alertId, 'ann')
  expect((await readWaiting(store.pool)).alerts).toBe(0)
})
