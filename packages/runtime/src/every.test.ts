// Periodic work keeps its distance, survives its failures, hears every wake and is over when its stop is.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { every } from './every.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = (error: unknown): never => {
  throw error
}

describe('every', () => {
  it('runs at its start and then after each period', async () => {
    const run = vi.fn(async () => undefined)
    const work = every({ name: 'work', everyMs: 100, run, failed: never })
    await work.start()
    expect(run).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(99)
    expect(run).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(201)
    expect(run).toHaveBeenCalledTimes(4)
    await work.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(run).toHaveBeenCalledTimes(4)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('lets the first run wait where it is told to', async () => {
    const run = vi.fn(async () => undefined)
    const work = every({ name: 'work', everyMs: 100, firstAfterMs: 30, run, failed: never })
    await work.start()
    expect(run).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(30)
    expect(run).toHaveBeenCalledTimes(1)
    await work.stop()
  })

  it('waits as long as a run says instead, for ever after Infinity', async () => {
    const waits = [500, 0, Infinity]
    const run = vi.fn(async () => waits.shift())
    const work = every({ name: 'work', everyMs: 100, run, failed: never })
    await work.start()
    await vi.advanceTimersByTimeAsync(499)
    expect(run).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(run).toHaveBeenCalledTimes(3)
    await vi.advanceTimersByTimeAsync(10_000_000)
    expect(run).toHaveBeenCalledTimes(3)
    work.wake()
    await vi.advanceTimersByTimeAsync(0)
    expect(run).toHaveBeenCalledTimes(4)
    await work.stop()
  })

  it('goes on after failures, counts those in a row and waits as long as it is told', async () => {
    const outcomes = [false, false, true, false]
    const told: number[] = []
    const work = every({
      name: 'work',
      everyMs: 100,
      async run() {
        if (outcomes.shift() === false) throw new Error('away')
      },
      failed: (_error, failures) => (told.push(failures), failures * 1_000),
    })
    await work.start()
    await vi.advanceTimersByTimeAsync(999)
    expect(told).toEqual([1])
    await vi.advanceTimersByTimeAsync(1 + 2_000 + 100)
    expect(told).toEqual([1, 2, 1])
    await work.stop()
  })

  it('waits at its stop for the run under way, which hears of it', async () => {
    const { promise: done, resolve: finish } = Promise.withResolvers<void>()
    let heard: AbortSignal | undefined
    const run = vi.fn((stopping: AbortSignal) => ((heard = stopping), done))
    const work = every({ name: 'work', everyMs: 100, run, failed: never })
    await work.start()
    let isStopped = false
    const stopped = work.stop().then(() => (isStopped = true))
    await vi.advanceTimersByTimeAsync(1_000)
    expect([isStopped, heard?.aborted]).toEqual([false, true])
    finish()
    await stopped
    await work.stop()
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('may be stopped without having been started', async () => {
    const work = every({ name: 'work', everyMs: 100, run: async () => undefined, failed: never })
    await expect(work.stop()).resolves.toBeUndefined()
  })

  it('never runs twice at once, and runs once more after whatever woke it', async () => {
    const step = fc.oneof(
      fc.constant('wake' as const),
      fc.constant('fail' as const),
      fc.integer({ min: 0, max: 300 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let [underWay, most, begun, wokenAt] = [0, 0, 0, -1]
        let fails = false
        const work = every({
          name: 'work',
          everyMs: 100,
          async run() {
            begun += 1
            underWay += 1
            most = Math.max(most, underWay)
            await new Promise((resolve) => setTimeout(resolve, 30))
            underWay -= 1
            if (fails) throw new Error('away')
          },
          failed: () => undefined,
        })
        await work.start()
        for (const one of steps) {
          if (typeof one === 'number') await vi.advanceTimersByTimeAsync(one)
          else if (one === 'fail') fails = !fails
          else {
            wokenAt = begun
            work.wake()
          }
        }
        await vi.advanceTimersByTimeAsync(31)
        expect(begun).toBeGreaterThan(wokenAt)
        const stopped = work.stop()
        await vi.advanceTimersByTimeAsync(30)
        await stopped
        expect([most, underWay, vi.getTimerCount()]).toEqual([1, 0, 0])
      }),
    )
  })
})
