// A lease that is lost, or unanswered for its whole length, aborts the work that ran under it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Fence } from '@baton/protocol/delivery'
import { createHeartbeat } from './heartbeat.ts'
import { quietLogger } from './sample-delivery.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const LEASE_MS = 900
type Extend = (fences: readonly Fence[]) => Promise<ReadonlySet<string>>
const alive: Extend = async (fences) => new Set(fences.map((fence) => fence.handoffId))
const heartbeatWith = (extendLeases: Extend) =>
  createHeartbeat({ extendLeases, leaseMs: LEASE_MS, logger: quietLogger })

describe('a heartbeat', () => {
  it('renews all leases in one call, three times per lease, and only while they are held', async () => {
    const extend = vi.fn(alive)
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    const first = heartbeat.hold({ handoffId: 'a', epoch: 1 })
    heartbeat.hold({ handoffId: 'b', epoch: 2 })
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(extend).toHaveBeenCalledTimes(3)
    expect(extend.mock.calls[0]?.[0].map((fence) => fence.handoffId)).toEqual(['a', 'b'])
    first.release()
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    expect(extend.mock.calls[3]?.[0].map((fence) => fence.handoffId)).toEqual(['b'])
    await heartbeat.stop()
  })

  it('aborts exactly what was taken over or canceled', async () => {
    const heartbeat = heartbeatWith(async () => new Set(['kept']))
    await heartbeat.start()
    const kept = heartbeat.hold({ handoffId: 'kept', epoch: 1 })
    const lost = heartbeat.hold({ handoffId: 'lost', epoch: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    expect([kept.signal.aborted, lost.signal.aborted]).toEqual([false, true])
    await heartbeat.stop()
  })

  it('aborts after a whole lease without an answer, not before', async () => {
    const heartbeat = heartbeatWith(() => Promise.reject(new Error('down')))
    await heartbeat.start()
    const { signal } = heartbeat.hold({ handoffId: 'a', epoch: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(signal.aborted).toBe(true)
    await heartbeat.stop()
  })

  it('aborts everything when a drain runs out of time', () => {
    const heartbeat = heartbeatWith(alive)
    const { signal } = heartbeat.hold({ handoffId: 'a', epoch: 1 })
    heartbeat.abortAll()
    expect(signal.aborted).toBe(true)
  })

  it('that is stopped in the middle of a beat waits for it and never beats again', async () => {
    let answer: (held: ReadonlySet<string>) => void = () => undefined
    const extend = vi.fn<Extend>(() => new Promise((resolve) => (answer = resolve)))
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    heartbeat.hold({ handoffId: 'a', epoch: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    const stopped = heartbeat.stop()
    answer(new Set(['a']))
    await stopped
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(extend).toHaveBeenCalledTimes(1)
  })
})
