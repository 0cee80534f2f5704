// Chunks of an execution commit in order, once, and under its fencing token only; a completion takes exactly those that it names.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  appendChunks,
  completeExecutions,
  digestStreams,
  findStreamPlace,
  listChunks,
  listChunksBefore,
  listStreams,
  STREAM_BYTES_MAX,
  STREAM_CHUNKS_MAX,
} from '@baton/store'
import type { Fence, NewChunk } from '@baton/store'
import { claim, executing, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('streams')
})
afterAll(() => store.close())

const chunk = (seq: number, text = `part ${seq}`): NewChunk => ({ seq, body: Buffer.from(text) })
const chunks = (from: number, to: number): NewChunk[] =>
  Array.from({ length: to - from + 1 }, (_, index) => chunk(from + index))
const read = async ({ handoffId }: Fence, after = 0, limit = 100) =>
  (await listChunks(store.pool, handoffId, { after, limit })).map(({ seq }) => seq)
const complete = (fence: Fence, count: number) =>
  completeExecutions(
    store.pool,
    [{ ...fence, costMicroUSD: 0, result: '1', taskResult: '1', chunks: count }],
    [],
  )

it('commits what follows, and reads it back in pages', async () => {
  const fence = await executing(store.pool)
  expect(await appendChunks(store.pool, fence, chunks(1, 3))).toBe(true)
  expect(await appendChunks(store.pool, fence, chunks(4, 5))).toBe(true)
  expect(await read(fence)).toEqual([1, 2, 3, 4, 5])
  expect(await read(fence, 2, 2)).toEqual([3, 4])
  expect(await read(fence, 5)).toEqual([])
  const { handoffId } = fence
  const small = await listChunks(store.pool, handoffId, { after: 1, limit: 9, bytesMax: 7 })
  expect(small.map(({ seq }) => seq)).toEqual([2, 3])
  const before = await listChunksBefore(store.pool, fence.handoffId, 4)
  expect(before.map(({ body }) => body.toString())).toEqual(['part 1', 'part 2', 'part 3'])
  expect(await findStreamPlace(store.pool, fence)).toMatchObject({ held: true, chunks: 5 })
})

it('commits nothing that leaves a gap or repeats', async () => {
  const fence = await executing(store.pool)
  expect(await appendChunks(store.pool, fence, chunks(2, 3))).toBe(false)
  expect(await appendChunks(store.pool, fence, chunks(1, 2))).toBe(true)
  expect(await appendChunks(store.pool, fence, chunks(2, 3))).toBe(false)
  expect(await read(fence)).toEqual([1, 2])
})

it('refuses the chunk of a lease that was lost, and goes on under the next fencing token', async () => {
  const lost = await executing(store.pool)
  await appendChunks(store.pool, lost, chunks(1, 2))
  await store.leaseExpiry(lost.handoffId)
  const next = await claim(store.pool, lost)
  expect(await appendChunks(store.pool, lost, chunks(3, 3))).toBe(false)
  // Claimed is not executing: nothing is recorded of it yet.
  expect(await appendChunks(store.pool, next, chunks(3, 3))).toBe(false)
  await store.rows(
    `update execution set status = 'EXECUTING', audit_hash = '\\x00' where handoff_id = $1`,
    [lost.handoffId],
  )
  expect(await appendChunks(store.pool, next, chunks(3, 3))).toBe(true)
  expect(await read(next)).toEqual([1, 2, 3])
  expect(await findStreamPlace(store.pool, lost)).toMatchObject({ held: false, chunks: 3 })
})

it('has two writers of one token take turns: none is lost, none counts twice', async () => {
  const fence = await executing(store.pool)
  const one = async () => {
    for (let seq = 1; seq <= 20; seq += 1) await appendChunks(store.pool, fence, [chunk(seq)])
  }
  await Promise.all([one(), one()])
  expect(await findStreamPlace(store.pool, fence)).toMatchObject({ chunks: 20 })
  expect(await read(fence)).toEqual(chunks(1, 20).map(({ seq }) => seq))
})

it('bounds the number and the bytes', async () => {
  const fence = await executing(store.pool)
  const at = (count: number, bytes: number) =>
    store.rows('update execution set chunks = $2, chunk_bytes = $3 where handoff_id = $1', [
      fence.handoffId,
      count,
      bytes,
    ])
  await at(STREAM_CHUNKS_MAX, 0)
  expect(await appendChunks(store.pool, fence, [chunk(STREAM_CHUNKS_MAX + 1)])).toBe(false)
  await at(1, STREAM_BYTES_MAX - 5)
  expect(await appendChunks(store.pool, fence, [chunk(2, '123456')])).toBe(false)
  expect(await appendChunks(store.pool, fence, [chunk(2, '12345')])).toBe(true)
  const large = { seq: 3, body: Buffer.alloc(65_537) }
  await at(2, 0)
  await expect(appendChunks(store.pool, fence, [large])).rejects.toThrow('23514')
})

it('completes with exactly the chunks that are committed, and with none after it', async () => {
  const fence = await executing(store.pool)
  await appendChunks(store.pool, fence, chunks(1, 3))
  expect((await complete(fence, 0)).size).toBe(0)
  expect((await complete(fence, 4)).size).toBe(0)
  expect((await digestStreams(store.pool, [fence.handoffId])).get(fence.handoffId)?.chunks).toBe(3)
  expect((await complete(fence, 3)).size).toBe(1)
  expect(await appendChunks(store.pool, fence, [chunk(4)])).toBe(false)
  expect(await listStreams(store.pool, [fence.handoffId, randomUUID()])).toEqual([
    {
      handoffId: fence.handoffId,
      state: 'COMPLETED',
      reason: null,
      chunks: 3,
      ended: true,
      erased: false,
    },
  ])
})
