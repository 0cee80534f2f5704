// Bulk re-drives on a real Postgres: canary first, paced by its clock, each dead letter in one of them only.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  addRedrive,
  cancelRedrive,
  discardDeadLetter,
  findRedrive,
  holdDueRedrive,
  listCanary,
  listQuarantinedMessages,
  listWaitingDeadLetters,
  markDeadLetters,
  setRedrive,
} from '@baton/store'
import { quarantined } from './dead-letter-fixture.ts'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store redrives')
})
afterAll(() => store.close())

const begin = async (count: number) => {
  const deadLetters = await Promise.all(
    Array.from({ length: count }, () => quarantined(store.pool)),
  )
  const id = randomUUID()
  const taken = await addRedrive(store.pool, {
    id,
    cluster: 'C',
    createdBy: 'ann',
    ratePerSecond: 2,
    deadLetters: deadLetters.map(({ handoffId }, index) => ({
      handoffId,
      quarantineAttempt: 1,
      canary: index === 0,
      actId: randomUUID(),
    })),
  })
  return { id, ids: deadLetters.map(({ handoffId }) => handoffId), taken }
}

it('gives its canary first, then the rest, at most once a second', async () => {
  const { id, ids } = await begin(3)
  const held = await holdDueRedrive(store.pool)
  expect(held).toMatchObject({ id, state: 'CANARY', canaryOverdue: false })
  const canary = await listWaitingDeadLetters(store.pool, id, { canary: true, limit: 5 })
  expect(canary.map(({ handoffId }) => handoffId)).toEqual(ids.slice(0, 1))
  await markDeadLetters(store.pool, id, { driven: ids.slice(0, 1), skipped: [] })
  await setRedrive(store.pool, id, { state: 'RUNNING', why: null })
  expect(await holdDueRedrive(store.pool)).toBeUndefined()
  const rest = await listWaitingDeadLetters(store.pool, id, { canary: false, limit: 1 })
  expect(rest.map(({ handoffId }) => handoffId)).toEqual(ids.slice(1, 2))
  expect(await listCanary(store.pool, id)).toMatchObject([
    { handoffId: ids[0], deadLetter: 'DRIVEN', state: 'DEAD_LETTERED', ended: true },
  ])
  await setRedrive(store.pool, id, { state: 'STOPPED', why: { code: 'CANARY_FAILED' } })
  expect(await findRedrive(store.pool, id)).toMatchObject({
    state: 'STOPPED',
    why: { code: 'CANARY_FAILED' },
    waiting: 0,
    driven: 1,
    skipped: 2,
  })
})

it('never takes a dead letter that waits in another one', async () => {
  const { id, ids } = await begin(1)
  const deadLetters = [
    { handoffId: ids[0] ?? '', quarantineAttempt: 1, canary: true, actId: randomUUID() },
  ]
  const second = {
    id: randomUUID(),
    cluster: null,
    createdBy: 'bob',
    ratePerSecond: 1,
    deadLetters,
  }
  expect([...(await addRedrive(store.pool, second))]).toEqual([])
  expect(await cancelRedrive(store.pool, id, 'bob')).toBe(true)
  expect(await cancelRedrive(store.pool, id, 'bob')).toBe(false)
  expect(await findRedrive(store.pool, id)).toMatchObject({ state: 'CANCELED', stoppedBy: 'bob' })
  const third = { ...second, id: randomUUID() }
  expect([...(await addRedrive(store.pool, third))]).toEqual(ids)
})

it('reads what a dry run judges, only of dead letters that wait', async () => {
  const [waiting, gone] = [
    await quarantined(store.pool, { sentBy: 'carl' }),
    await quarantined(store.pool),
  ]
  await discardDeadLetter(store.pool, gone.handoffId)
  const read = await listQuarantinedMessages(store.pool, [waiting.handoffId, gone.handoffId])
  expect(read).toMatchObject([
    { handoffId: waiting.handoffId, toAgent: 'reviewer', sentBy: 'carl', overdue: false },
  ])
  expect(read[0]?.body).toEqual(Buffer.from(waiting.body))
})
