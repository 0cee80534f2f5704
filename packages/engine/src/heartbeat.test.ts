// A lease that is lost, or unanswered for its whole length, aborts the work that ran under it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Fence, HeldLease } from '@baton/store'
import { HandoffCanceled } from './agent.ts'
import { createHeartbeat } from './heartbeat.ts'
import { quietLogger } from '../fixtures/sample-delivery.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const LEASE_MS = 900
type Extend = (fences: readonly Fence[]) => Promise<readonly HeldLease[]>
type Look = Parameters<typeof createHeartbeat>[0]['findInterrupted']
const heldLease = (handoffId: string): HeldLease => ({
  handoffId,
  canceledUntil: null,
  graceMs: null,
})
const canceledLease = (handoffId: string, graceMs: number): HeldLease => ({
  handoffId,
  canceledUntil: new Date('2030-01-01T00:00:00Z'),
  graceMs,
})
const alive: Extend = async (fences) => fences.map((fence) => heldLease(fence.handoffId))
const heartbeatWith = (
  extendLeases: Extend,
  { look = async () => [], leaseMs = LEASE_MS }: { look?: Look; leaseMs?: number } = {},
) => createHeartbeat({ extendLeases, findInterrupted: look, leaseMs, logger: quietLogger })

describe('a heartbeat', () => {
  it('renews all leases in one call, three times per lease, and only while they are held', async () => {
    const extend = vi.fn(alive)
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    const first = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    heartbeat.hold({ handoffId: 'b', fencingToken: 2 })
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(extend).toHaveBeenCalledTimes(3)
    expect(extend.mock.calls[0]?.[0].map((fence) => fence.handoffId)).toEqual(['a', 'b'])
    first.release()
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    expect(extend.mock.calls[3]?.[0].map((fence) => fence.handoffId)).toEqual(['b'])
    await heartbeat.stop()
  })

  it('aborts exactly what was taken over or canceled', async () => {
    const heartbeat = heartbeatWith(async () => [heldLease('kept')])
    await heartbeat.start()
    const kept = heartbeat.hold({ handoffId: 'kept', fencingToken: 1 })
    const lost = heartbeat.hold({ handoffId: 'lost', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    expect([kept.signal.aborted, lost.signal.aborted]).toEqual([false, true])
    await heartbeat.stop()
  })

  it('aborts an execution at once whose handoff is claimed again by the same process', async () => {
    const extend = vi.fn(alive)
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    const earlier = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    const later = heartbeat.hold({ handoffId: 'a', fencingToken: 2 })
    expect([earlier.signal.aborted, later.signal.aborted]).toEqual([true, false])
    earlier.release()
    // As well when the earlier execution's turn comes only now.
    expect(heartbeat.hold({ handoffId: 'a', fencingToken: 1 }).signal.aborted).toBe(true)
    expect(later.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    expect(extend.mock.calls[0]?.[0]).toEqual([{ handoffId: 'a', fencingToken: 2 }])
    await heartbeat.stop()
  })

  it('aborts after a whole lease without an answer, not before', async () => {
    const heartbeat = heartbeatWith(() => Promise.reject(new Error('down')))
    await heartbeat.start()
    const { signal } = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(signal.aborted).toBe(true)
    await heartbeat.stop()
  })

  it('aborts everything when a drain runs out of time', () => {
    const heartbeat = heartbeatWith(alive)
    const { signal } = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    heartbeat.abortAll()
    expect(signal.aborted).toBe(true)
  })

  it('that is stopped in the middle of a beat waits for it and never beats again', async () => {
    let answer: (held: readonly HeldLease[]) => void = () => undefined
    const extend = vi.fn<Extend>(() => new Promise((resolve) => (answer = resolve)))
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3)
    const stopped = heartbeat.stop()
    answer([heldLease('a')])
    await stopped
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(10 * LEASE_MS)
    expect(extend).toHaveBeenCalledTimes(1)
  })
})

describe('a cancellation', () => {
  it('is heard of within a second, far before the lease is due, and the work is over after its grace', async () => {
    const look = vi.fn<Look>(async () => [{ ...canceledLease('a', 5_000), held: true }])
    const heartbeat = heartbeatWith(alive, { look, leaseMs: 60_000 })
    await heartbeat.start()
    const lease = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(lease.signal.reason).toBeInstanceOf(HandoffCanceled)
    expect(lease.signal.reason).toMatchObject({
      code: 'BATON_HANDOFF_CANCELED',
      graceUntil: new Date('2030-01-01T00:00:00Z'),
    })
    expect(lease.over.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(lease.over.reason).toBe(lease.signal.reason)
    await heartbeat.stop()
  })

  it('is heard of with the renewal too, and keeps the lease until the grace ends', async () => {
    const extend = vi.fn<Extend>(async () => [canceledLease('a', 2_000)])
    const heartbeat = heartbeatWith(extend)
    await heartbeat.start()
    const lease = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(extend).toHaveBeenCalledTimes(3)
    expect([lease.signal.aborted, lease.over.aborted]).toEqual([true, false])
    lease.release()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(lease.over.aborted).toBe(false)
    await heartbeat.stop()
  })

  it('without grace left, a passed deadline or a take-over ends the work at the next look', async () => {
    const look: Look = async () => [{ ...canceledLease('a', -5), held: false }]
    const heartbeat = heartbeatWith(alive, { look, leaseMs: 60_000 })
    await heartbeat.start()
    const lease = heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(1_000)
    expect([lease.signal.aborted, lease.over.aborted]).toEqual([true, true])
    await heartbeat.stop()
  })

  it('is not looked for while executions are short', async () => {
    const look = vi.fn<Look>(async () => [])
    const heartbeat = heartbeatWith(alive, { look, leaseMs: 60_000 })
    await heartbeat.start()
    await vi.advanceTimersByTimeAsync(900)
    heartbeat.hold({ handoffId: 'a', fencingToken: 1 })
    await vi.advanceTimersByTimeAsync(150)
    expect(look).not.toHaveBeenCalled()
    await heartbeat.stop()
  })
})
