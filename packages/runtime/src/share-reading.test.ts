// However many ask, one reading is under way, and its answer or its failure serves everybody for a while.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { shareReading } from './share-reading.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms)

it('reads once for all who ask, also where a reading takes longer than it is fresh', async () => {
  let reads = 0
  const read = shareReading(async () => {
    reads += 1
    const own = reads
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    return own
  }, 2_000)
  const first = [read(), read()]
  await wait(4_000)
  first.push(read())
  await wait(1_000)
  expect(await Promise.all(first)).toEqual([1, 1, 1])
  await wait(1_999)
  expect(await read()).toBe(1)
  await wait(1)
  const next = read()
  await wait(5_000)
  expect(await next).toBe(2)
})

it('gives a failure to whoever asks within a second, and then reads again', async () => {
  let reads = 0
  const read = shareReading(async () => {
    reads += 1
    if (reads === 1) throw new Error('away')
    return reads
  }, 10_000)
  await expect(read()).rejects.toThrow('away')
  await wait(999)
  await expect(read()).rejects.toThrow('away')
  await wait(1)
  expect(await read()).toBe(2)
})
