// Marks tell what a queue may have lost, exactly one detector takes it, and only the unclaimed rings again.
import { randomUUID } from 'node:crypto'
import type { NewHandoff } from '@baton/store'
import type { QueueMark } from '@baton/protocol'
import {
  forgetOldMarks,
  listQueueMarks,
  markDispatched,
  redriveTail,
  sendHandoffs,
  takeLostTails,
} from '@baton/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const RELAY = randomUUID()
let store: StoreFixture
beforeAll(async () => {
  store = await openStore('queue marks')
})
afterAll(() => store.close())
beforeEach(async () => {
  await store.rows(
    'truncate task, checkpoint, handoff, handoff_body, outbox, execution, queue_mark',
  )
})

const markOf = (mark: number, queue = 'reviewer', relay = RELAY): QueueMark => ({
  queue,
  relay,
  mark,
})

async function published(count: number, mark: QueueMark): Promise<NewHandoff[]> {
  const handoffs = Array.from({ length: count }, () => newHandoff({ toAgent: mark.queue }))
  await sendHandoffs(store.pool, handoffs)
  await store.rows('delete from outbox')
  await markDispatched(
    store.pool,
    handoffs.map((one) => one.handoffId),
    [mark],
  )
  return handoffs
}
const ageMarks = (mark: number, seconds: number) =>
  store.rows(
    `update queue_mark set marked_at = marked_at - $2 * interval '1 second' where mark = $1`,
    [mark, seconds],
  )
const rung = () =>
  store.rows<{ handoffId: string; generation: number }>(
    'select handoff_id as "handoffId", generation from outbox',
  )

describe('queue marks', () => {
  it('name the newest of each relay and queue', async () => {
    await published(1, markOf(1))
    await published(1, markOf(2))
    await published(1, markOf(7, 'archivist'))
    const other = randomUUID()
    await published(1, markOf(1, 'reviewer', other))
    const marks = await listQueueMarks(store.pool)
    expect(marks).toHaveLength(3)
    expect(marks).toEqual(
      expect.arrayContaining([markOf(2), markOf(7, 'archivist'), markOf(1, 'reviewer', other)]),
    )
  })

  it('bring back what was published after the one that survived, as a new generation', async () => {
    const before = await published(2, markOf(1))
    await store.rows(`update handoff set dispatched_at = dispatched_at - interval '30 seconds'`)
    await ageMarks(1, 10)
    const after = await published(3, markOf(2))
    const [tail] = await takeLostTails(store.pool, [{ ...markOf(2), survived: 1 }])
    expect(tail).toMatchObject({ queue: 'reviewer' })
    if (tail === undefined) return
    expect(await redriveTail(store.pool, tail, 2)).toBe(2)
    expect(await redriveTail(store.pool, tail, 2)).toBe(1)
    const again = await rung()
    expect(again.map((row) => row.generation)).toEqual([2, 2, 2])
    const ids = again.map((row) => row.handoffId).toSorted()
    expect(ids).toEqual(after.map((one) => one.handoffId).toSorted())
    expect(ids).not.toContain(before[0]?.handoffId)
  })

  it('bring back everything where none survived, but nothing that is claimed or came later', async () => {
    const [first, second] = await published(2, markOf(1))
    await claim(store.pool, first as NewHandoff)
    const [tail] = await takeLostTails(store.pool, [{ ...markOf(1), survived: null }])
    await published(1, markOf(2))
    if (tail === undefined) throw new Error('the tail was not taken')
    expect(await redriveTail(store.pool, tail, 500)).toBe(1)
    expect(await rung()).toEqual([{ handoffId: second?.handoffId, generation: 2 }])
  })

  it('are taken by one detector only', async () => {
    await published(1, markOf(1))
    const lost = [{ ...markOf(1), survived: null }]
    const taken = await Promise.all(
      Array.from({ length: 4 }, () => takeLostTails(store.pool, lost)),
    )
    expect(taken.flat()).toHaveLength(1)
  })

  it('are forgotten when a newer one stands or nobody published for an hour', async () => {
    await published(1, markOf(1))
    await published(1, markOf(2))
    await published(1, markOf(3, 'archivist'))
    await ageMarks(1, 120)
    await ageMarks(2, 60)
    await ageMarks(3, 3_700)
    await forgetOldMarks(store.pool)
    expect(await store.rows('select queue, relay, mark from queue_mark')).toEqual([markOf(2)])
  })
})
