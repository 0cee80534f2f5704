// Agents outside that do not answer are known by the work that waits for them, on a real Postgres.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listUnanswering, retryHandoffs, sendHandoffs } from '@baton/store'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store unanswering')
})
afterAll(() => store.close())

async function retried(toAgent: string, reason: string): Promise<string> {
  const handoff = newHandoff({ toAgent })
  await sendHandoffs(store.pool, [handoff])
  const { handoffId, fencingToken } = await claim(store.pool, handoff)
  const retry = { handoffId, fencingToken, reason, details: '[]', delayMs: 60_000, returned: false }
  await retryHandoffs(store.pool, [retry], [])
  return handoffId
}

it('names agents whose calls fail for want of an answer, and peers that cannot be told', async () => {
  expect(await listUnanswering(store.pool)).toEqual([])
  await retried('away', 'BATON_PUSH_TIMEOUT')
  await retried('away', 'BATON_BREAKER_OPEN')
  const told = await retried('busy', 'MODEL_BUSY')
  await store.rows(
    `insert into session_reply (handoff_id, message_id, peer, context_id, task_id, reply_schema, due_at, last_error)
    values ($1::uuid, gen_random_uuid(), 'laptop', 'c', $1::uuid, 's', now(), 'BATON_ENDPOINT_TIMEOUT')`,
    [told],
  )
  expect(await listUnanswering(store.pool)).toEqual([
    { kind: 'agent', name: 'away', count: 2, code: 'BATON_BREAKER_OPEN' },
    { kind: 'peer', name: 'laptop', count: 1, code: 'BATON_ENDPOINT_TIMEOUT' },
  ])
})
