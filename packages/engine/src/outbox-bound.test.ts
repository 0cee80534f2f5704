// The outbox is bounded by depth and by age, read seldom, and never in the way of what is critical.
import type { OutboxDepth } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { createOutboxBound } from './outbox-bound.ts'

function bound(depth: Partial<OutboxDepth> = {}) {
  const seen: number[] = []
  const state = {
    now: 0,
    down: false,
    depth: { depth: 0, oldestAgeSeconds: 0, oldestSeq: 0, ...depth },
  }
  const isFull = createOutboxBound({
    readDepth: async (fromSeq) => {
      seen.push(fromSeq)
      if (state.down) throw new Error('no database')
      return state.depth
    },
    depthMax: 10,
    ageMaxMs: 30_000,
    metrics: createMetrics(),
    now: () => state.now,
  })
  return { seen, state, isFull }
}

describe('the bound of the outbox', () => {
  it.each([
    [{ depth: 10, oldestAgeSeconds: 30 }, false],
    [{ depth: 11, oldestAgeSeconds: 0 }, true],
    [{ depth: 1, oldestAgeSeconds: 30.1 }, true],
    [{ depth: 0, oldestAgeSeconds: 0 }, false],
  ])('%o: full is %s, and never for priority 0', async (depth, full) => {
    const { isFull } = bound(depth)
    expect(await isFull(2)).toBe(full)
    expect(await isFull(0)).toBe(false)
  })

  it('is counted once for many callers, and again after 250 ms without making anybody wait', async () => {
    const { seen, state, isFull } = bound()
    await Promise.all(Array.from({ length: 50 }, () => isFull(1)))
    expect(seen).toHaveLength(1)
    state.depth = { depth: 11, oldestAgeSeconds: 0, oldestSeq: 9_000 }
    state.now = 300
    expect(await isFull(1)).toBe(false)
    expect(await isFull(1)).toBe(true)
    expect(seen).toHaveLength(2)
  })

  it('starts behind what is dead, and counts all of it every five seconds', async () => {
    const { seen, state, isFull } = bound({ oldestSeq: 20_000 })
    for (state.now = 0; state.now <= 6_000; state.now += 2_000) await isFull(1)
    expect(seen).toEqual([0, 15_000, 15_000, 0])
  })

  it('lets a send tell by itself that the database is away', async () => {
    const { state, isFull } = bound()
    state.down = true
    expect(await isFull(2)).toBe(false)
  })
})
