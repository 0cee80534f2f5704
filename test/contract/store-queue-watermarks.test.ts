// Watermarks tell what a queue may have lost, exactly one detector takes it, and only the unclaimed is published again.
import { randomUUID } from 'node:crypto'
import type { NewHandoff } from '@baton/store'
import type { QueueWatermark } from '@baton/protocol'
import {
  forgetOldWatermarks,
  listQueueWatermarks,
  markDispatched,
  redriveLostSuffix,
  sendHandoffs,
  takeLostSuffixes,
} from '@baton/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const RELAY = randomUUID()
let store: StoreFixture
beforeAll(async () => {
  store = await openStore('queue watermarks')
})
afterAll(() => store.close())
beforeEach(async () => {
  await store.rows(
    'truncate task, checkpoint, handoff, handoff_body, outbox, execution, queue_watermark',
  )
})

const watermarkOf = (watermark: number, queue = 'reviewer', relay = RELAY): QueueWatermark => ({
  queue,
  relay,
  watermark,
})

async function published(count: number, watermark: QueueWatermark): Promise<NewHandoff[]> {
  const handoffs = Array.from({ length: count }, () => newHandoff({ toAgent: watermark.queue }))
  await sendHandoffs(store.pool, handoffs)
  await store.rows('delete from outbox')
  await markDispatched(
    store.pool,
    handoffs.map((one) => one.handoffId),
    [watermark],
  )
  return handoffs
}
const ageWatermarks = (watermark: number, seconds: number) =>
  store.rows(
    `update queue_watermark set written_at = written_at - $2 * interval '1 second' where watermark = $1`,
    [watermark, seconds],
  )
const republished = () =>
  store.rows<{ handoffId: string; publishAttempt: number }>(
    'select handoff_id as "handoffId", publish_attempt as "publishAttempt" from outbox',
  )

describe('queue watermarks', () => {
  it('name the newest of each relay and queue', async () => {
    await published(1, watermarkOf(1))
    await published(1, watermarkOf(2))
    await published(1, watermarkOf(7, 'archivist'))
    const other = randomUUID()
    await published(1, watermarkOf(1, 'reviewer', other))
    const watermarks = await listQueueWatermarks(store.pool)
    expect(watermarks).toHaveLength(3)
    expect(watermarks).toEqual(
      expect.arrayContaining([
        watermarkOf(2),
        watermarkOf(7, 'archivist'),
        watermarkOf(1, 'reviewer', other),
      ]),
    )
  })

  it('bring back what was published after the one that survived, as a new publish attempt', async () => {
    const before = await published(2, watermarkOf(1))
    await store.rows(`update handoff set dispatched_at = dispatched_at - interval '30 seconds'`)
    await ageWatermarks(1, 10)
    const after = await published(3, watermarkOf(2))
    const [suffix] = await takeLostSuffixes(store.pool, [{ ...watermarkOf(2), survived: 1 }])
    expect(suffix).toMatchObject({ queue: 'reviewer' })
    if (suffix === undefined) return
    expect(await redriveLostSuffix(store.pool, suffix, 2)).toBe(2)
    expect(await redriveLostSuffix(store.pool, suffix, 2)).toBe(1)
    const again = await republished()
    expect(again.map((row) => row.publishAttempt)).toEqual([2, 2, 2])
    const ids = again.map((row) => row.handoffId).toSorted()
    expect(ids).toEqual(after.map((one) => one.handoffId).toSorted())
    expect(ids).not.toContain(before[0]?.handoffId)
  })

  it('bring back everything where none survived, but nothing that is claimed or came later', async () => {
    const [first, second] = await published(2, watermarkOf(1))
    await claim(store.pool, first as NewHandoff)
    const [suffix] = await takeLostSuffixes(store.pool, [{ ...watermarkOf(1), survived: null }])
    await published(1, watermarkOf(2))
    if (suffix === undefined) throw new Error('the suffix was not taken')
    expect(await redriveLostSuffix(store.pool, suffix, 500)).toBe(1)
    expect(await republished()).toEqual([{ handoffId: second?.handoffId, publishAttempt: 2 }])
  })

  it('are taken by one detector only', async () => {
    await published(1, watermarkOf(1))
    const lost = [{ ...watermarkOf(1), survived: null }]
    const taken = await Promise.all(
      Array.from({ length: 4 }, () => takeLostSuffixes(store.pool, lost)),
    )
    expect(taken.flat()).toHaveLength(1)
  })

  it('are forgotten when a newer one stands or nobody published for an hour', async () => {
    await published(1, watermarkOf(1))
    await published(1, watermarkOf(2))
    await published(1, watermarkOf(3, 'archivist'))
    await ageWatermarks(1, 120)
    await ageWatermarks(2, 60)
    await ageWatermarks(3, 3_700)
    await forgetOldWatermarks(store.pool)
    expect(await store.rows('select queue, relay, watermark from queue_watermark')).toEqual([
      watermarkOf(2),
    ])
  })
})
