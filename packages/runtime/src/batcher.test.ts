// Group commit keeps order, stays within its bounds, and fails exactly the items of the failed set.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBatcher } from './batcher.ts'

/** A promise that the test settles. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const LIMITS = { maxItems: 4, maxQueued: 100 }

describe('a batcher', () => {
  it('keeps order, never exceeds maxItems and runs one flush at a time, whatever arrives when', async () => {
    const burst = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(burst, fc.integer({ min: 1, max: 5 }), async (bursts, maxItems) => {
        const flushed: number[] = []
        const sizes: number[] = []
        let running = 0
        let runningMost = 0
        const batcher = createBatcher<number, number>({
          name: 'test',
          maxItems,
          maxQueued: 1_000,
          flush: async (items) => {
            running += 1
            runningMost = Math.max(runningMost, running)
            sizes.push(items.length)
            flushed.push(...items)
            await turn()
            running -= 1
            return items.map((item) => item * 2)
          },
        })
        const answers: Promise<number>[] = []
        let next = 0
        for (const count of bursts) {
          for (let i = 0; i < count; i += 1) answers.push(batcher.add(next++))
          await turn()
        }
        const expected = Array.from({ length: next }, (_, item) => item)
        expect(await Promise.all(answers)).toEqual(expected.map((item) => item * 2))
        await batcher.drain()
        expect(flushed).toEqual(expected)
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxItems)
        expect(runningMost).toBeLessThanOrEqual(1)
        expect(batcher.queued).toBe(0)
      }),
    )
  })

  it('lets a lone caller go at once and sends the crowd behind it together', async () => {
    const { opened, open } = gate()
    const sets: (readonly number[])[] = []
    const batcher = createBatcher<number, number>({
      name: 'test',
      ...LIMITS,
      flush: async (items) => {
        sets.push(items)
        await opened
        return items
      },
    })
    const first = batcher.add(0)
    await turn()
    const rest = [1, 2, 3].map((item) => batcher.add(item))
    await turn()
    expect(sets).toEqual([[0]])
    open()
    await Promise.all([first, ...rest])
    expect(sets).toEqual([[0], [1, 2, 3]])
  })

  it('refuses beyond maxQueued with a transient code, and recovers', async () => {
    const { opened, open } = gate()
    const batcher = createBatcher<number, number>({
      name: 'claims',
      maxItems: 1,
      maxQueued: 2,
      flush: async (items) => {
        await opened
        return items
      },
    })
    const under = batcher.add(0)
    await turn()
    const waiting = [batcher.add(1), batcher.add(2)]
    await expect(batcher.add(3)).rejects.toMatchObject({
      code: 'BATON_OVERLOADED',
      kind: 'transient',
      message: 'claims: 2 items are waiting already',
    })
    open()
    await Promise.all([under, ...waiting])
    await expect(batcher.add(4)).resolves.toBe(4)
  })

  it('fails exactly the items of a set whose flush threw, and goes on', async () => {
    let calls = 0
    const batcher = createBatcher<number, number>({
      name: 'test',
      maxItems: 2,
      maxQueued: 10,
      flush: async (items) => {
        calls += 1
        if (calls === 1) throw new Error('first set')
        return items
      },
    })
    const results = await Promise.allSettled([0, 1, 2, 3].map((item) => batcher.add(item)))
    expect(results.map((result) => result.status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    await batcher.drain()
  })

  it('runs up to flushesMax flushes at once', async () => {
    const { opened, open } = gate()
    let running = 0
    const batcher = createBatcher<number, number>({
      name: 'test',
      maxItems: 1,
      maxQueued: 10,
      flushesMax: 2,
      flush: async (items) => {
        running += 1
        await opened
        return items
      },
    })
    const answers = [0, 1, 2].map((item) => batcher.add(item))
    await turn()
    expect(running).toBe(2)
    open()
    expect(await Promise.all(answers)).toEqual([0, 1, 2])
  })

  it('takes a flush that answers fewer results than items for a defect, not for an answer', async () => {
    const batcher = createBatcher<number, number>({
      name: 'test',
      ...LIMITS,
      flush: async () => [],
    })
    await expect(batcher.add(1)).rejects.toMatchObject({
      code: 'BATON_BATCH_ANSWERS_MISSING',
      kind: 'defect',
    })
  })

  it('drains at once when nothing is under way', async () => {
    const batcher = createBatcher({ name: 'test', ...LIMITS, flush: async (items) => items })
    await expect(batcher.drain()).resolves.toBeUndefined()
  })
})
