// Keeps the leases of everything a process executes, in one statement for all of them.
import type { Fence } from '@baton/protocol/delivery'
import { codeOf, type Logger, type Service } from '@baton/runtime'

interface HeartbeatDeps {
  /** Extends the leases; answers the handoffs whose lease still holds. */
  extendLeases(fences: readonly Fence[]): Promise<ReadonlySet<string>>
  readonly leaseMs: number
  readonly logger: Logger
}

export interface Heartbeat extends Service {
  /** Starts to keep a lease; the signal aborts once it is lost or canceled. */
  hold(fence: Fence): { readonly signal: AbortSignal; release(): void }
  /** Aborts everything under way, for a drain that ran out of time. */
  abortAll(): void
}

/** Heartbeats per lease, so that one lost answer does not cost the lease. */
const BEATS_PER_LEASE = 3

interface Held {
  readonly fence: Fence
  readonly controller: AbortController
  renewedAt: number
}

/** Renews three times per lease; without an answer for a whole lease the work is aborted locally. */
export function createHeartbeat({ extendLeases, leaseMs, logger }: HeartbeatDeps): Heartbeat {
  const intervalMs = Math.floor(leaseMs / BEATS_PER_LEASE)
  const held = new Map<string, Held>()
  let timer: NodeJS.Timeout | undefined
  let beating: Promise<void> = Promise.resolve()
  let stopping = false

  function lose(one: Held, why: string): void {
    logger.warn({
      event: 'lease.lost',
      why,
      handoffId: one.fence.handoffId,
      epoch: one.fence.epoch,
    })
    held.delete(one.fence.handoffId)
    one.controller.abort(new Error('BATON_LEASE_LOST'))
  }

  async function beat(): Promise<void> {
    const now = performance.now()
    const due = [...held.values()].filter((one) => now - one.renewedAt >= intervalMs / 2)
    if (due.length === 0) return
    try {
      const alive = await extendLeases(due.map((one) => one.fence))
      for (const one of due) {
        if (held.get(one.fence.handoffId) !== one) continue
        if (alive.has(one.fence.handoffId)) one.renewedAt = performance.now()
        else lose(one, 'taken over or canceled')
      }
    } catch (error) {
      logger.warn({ event: 'lease.unanswered', code: codeOf(error) })
      const lapsed = [...held.values()].filter((one) => performance.now() - one.renewedAt > leaseMs)
      for (const one of lapsed) lose(one, 'no answer for a whole lease')
    }
  }

  function schedule(): void {
    if (stopping) return
    timer = setTimeout(() => {
      beating = beat().finally(schedule)
    }, intervalMs)
  }

  return {
    name: 'heartbeat',
    async start() {
      schedule()
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      await beating
    },
    hold(fence) {
      const one: Held = { fence, controller: new AbortController(), renewedAt: performance.now() }
      held.set(fence.handoffId, one)
      return {
        signal: one.controller.signal,
        release: () => {
          if (held.get(fence.handoffId) === one) held.delete(fence.handoffId)
        },
      }
    },
    abortAll() {
      for (const one of held.values()) lose(one, 'draining')
    },
  }
}
