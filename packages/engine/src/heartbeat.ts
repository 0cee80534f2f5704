// Keeps the leases of everything a process executes, in one statement for all of them, and hears of cancellations.
import type { Fence, HeldLease } from '@baton/store'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { HandoffCanceled } from './agent.ts'

interface HeartbeatDeps {
  /** Extends the leases; answers those that still hold. */
  extendLeases(fences: readonly Fence[]): Promise<readonly HeldLease[]>
  /** Extends nothing; answers only those that were lost or are being canceled. */
  findInterrupted(
    fences: readonly Fence[],
  ): Promise<readonly (HeldLease & { readonly held: boolean })[]>
  readonly leaseMs: number
  readonly logger: Logger
}

export interface Lease {
  /** For the agent: aborts once the lease is lost or its handoff canceled; the reason says which. */
  readonly signal: AbortSignal
  /** Aborts once a result could no longer commit; after a cancellation that is when its grace ends. */
  readonly over: AbortSignal
  release(): void
  /** Releases it to be kept by somebody else; resolves once nothing of this process touches it any more. */
  leave(): Promise<void>
}

export interface Heartbeat extends Service {
  /** Starts to keep a lease. */
  hold(fence: Fence): Lease
  /** Aborts everything under way, for a drain that ran out of time. */
  abortAll(): void
}

/** Heartbeats per lease, so that one lost answer does not cost the lease. */
const BEATS_PER_LEASE = 3
/** A cancellation is heard of within this time; executions younger than half of it are not looked for. */
const LOOK_MS = 1_000

interface Held {
  readonly fence: Fence
  readonly signal: AbortController
  readonly over: AbortController
  readonly since: number
  renewedAt: number
  grace?: NodeJS.Timeout
}

/** Renews three times per lease; without an answer for a whole lease the work is aborted locally. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const { leaseMs, logger } = deps
  const intervalMs = Math.floor(leaseMs / BEATS_PER_LEASE)
  const tickMs = Math.floor(intervalMs / Math.ceil(intervalMs / LOOK_MS))
  const leases = createLeases(logger)

  let beating: Promise<void> = Promise.resolve()

  async function beat(): Promise<void> {
    const now = performance.now()
    const all = leases.all()
    const isDue = (one: Held): boolean => now - one.renewedAt >= intervalMs - tickMs / 2
    await renew(deps, leases, all.filter(isDue))
    await look(
      deps,
      leases,
      all.filter((one) => !isDue(one) && now - one.since >= LOOK_MS / 2),
    )
  }

  const beats = every({
    name: 'heartbeat',
    everyMs: tickMs,
    firstAfterMs: tickMs,
    run: () => (beating = beat()),
    failed(error) {
      logger.warn({ event: 'lease.unanswered', code: codeOf(error) })
      const expired = leases.all().filter((one) => performance.now() - one.renewedAt > leaseMs)
      for (const one of expired) leases.lose(one, 'no answer for a whole lease')
    },
  })
  return {
    ...beats,
    hold(fence) {
      const lease = leases.hold(fence)
      const leave = async (): Promise<void> => {
        lease.release()
        await beating.catch(() => undefined)
      }
      return { ...lease, leave }
    },
    abortAll() {
      for (const one of leases.all()) leases.lose(one, 'draining')
    },
  }
}

type Leases = ReturnType<typeof createLeases>

/** Everything that is held, and the two ways in which it stops. */
function createLeases(logger: Logger) {
  const held = new Map<string, Held>()
  const isHeld = (one: Held): boolean => held.get(one.fence.handoffId) === one

  function lose(one: Held, why: string): void {
    const { handoffId, fencingToken } = one.fence
    logger.warn({ event: 'lease.lost', why, handoffId, fencingToken })
    held.delete(handoffId)
    clearTimeout(one.grace)
    const reason = new Error('BATON_LEASE_LOST')
    one.signal.abort(reason)
    one.over.abort(reason)
  }

  return {
    lose,
    isHeld,
    all: () => [...held.values()],
    hold(fence: Fence): Omit<Lease, 'leave'> {
      const now = performance.now()
      const [signal, over] = [new AbortController(), new AbortController()]
      const one: Held = { fence, signal, over, since: now, renewedAt: now }
      // A lease passed while its execution waited, and this very process has claimed the handoff again.
      const other = held.get(fence.handoffId)
      const isOvertaken = other !== undefined && other.fence.fencingToken > fence.fencingToken
      if (other !== undefined) lose(isOvertaken ? one : other, LOST)
      held.set(fence.handoffId, isOvertaken ? other : one)
      const release = () => {
        clearTimeout(one.grace)
        if (isHeld(one)) held.delete(fence.handoffId)
      }
      return { signal: signal.signal, over: over.signal, release }
    },
    cancel(one: Held, { canceledUntil, graceMs }: HeldLease): void {
      if (canceledUntil === null || one.grace !== undefined) return
      const reason = new HandoffCanceled(canceledUntil)
      logger.info({ event: 'handoff.canceling', handoffId: one.fence.handoffId, graceMs })
      one.grace = setTimeout(() => one.over.abort(reason), Math.max(0, graceMs ?? 0))
      one.signal.abort(reason)
    },
  }
}

const LOST = 'taken over, expired or canceled'

async function renew(deps: HeartbeatDeps, leases: Leases, due: readonly Held[]): Promise<void> {
  if (due.length === 0) return
  const sentAt = performance.now()
  const answers = await deps.extendLeases(due.map((one) => one.fence))
  const alive = new Map(answers.map((answer) => [answer.handoffId, answer]))
  for (const one of due.filter(leases.isHeld)) {
    const answer = alive.get(one.fence.handoffId)
    if (answer === undefined) leases.lose(one, LOST)
    else {
      one.renewedAt = sentAt
      leases.cancel(one, answer)
    }
  }
}

async function look(deps: HeartbeatDeps, leases: Leases, others: readonly Held[]): Promise<void> {
  if (others.length === 0) return
  const answers = await deps.findInterrupted(others.map((one) => one.fence))
  const interrupted = new Map(answers.map((answer) => [answer.handoffId, answer]))
  for (const one of others.filter(leases.isHeld)) {
    const answer = interrupted.get(one.fence.handoffId)
    if (answer === undefined) continue
    if (answer.held) leases.cancel(one, answer)
    else leases.lose(one, LOST)
  }
}
