// What the statements of packages/store do to one state; each names the statement whose conditions it repeats.
import type { Decision } from './decisions.ts'
import { IDLE } from './world.ts'
import type { Handoff, State, World } from './world.ts'

/** Which parts of the protocol are in force. Every one that is missing must be noticed. */
export interface Rules {
  readonly fence: boolean
  readonly sweeper: boolean
  readonly auditFirst: boolean
  readonly publishBeforeDelete: boolean
  readonly publishAttemptInJobId: boolean
  readonly heartbeatByFencingToken: boolean
  readonly releaseOnce: boolean
}

/** Stands for the five of LEASE_EXPIRIES_MAX in receive-handoff.ts: once poisonous, more makes no difference. */
export const LEASE_EXPIRIES_MAX = 2

const CLAIMABLE: ReadonlySet<State> = new Set(['QUEUED', 'DISPATCHED', 'EXECUTING'])
const ENDED: ReadonlySet<State> = new Set([
  'COMPLETED',
  'REJECTED',
  'DEAD_LETTERED',
  'ROLLED_BACK',
  'EXPIRED',
  'CANCELED',
  'BLOCKED',
])

export const isEnded = (one: Handoff): boolean => ENDED.has(one.state)
export const isHeld = (one: Handoff): boolean =>
  one.status === 'CLAIMED' || one.status === 'EXECUTING'

const earlierEnded = (world: World, on: number): boolean =>
  world.handoffs.slice(0, on).every(isEnded)

export function handoffAt(world: World, on: number): Handoff {
  const one = world.handoffs[on]
  if (one === undefined) throw new Error(`there is no handoff ${on}`)
  return one
}

/** `publishAttempt = publishAttempt + 1` with a new outbox row: whatever names the old one is stale from here on. */
export function nextPublishAttempt(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  one.state = 'QUEUED'
  one.staleRow ||= one.row
  one.row = true
  if (rules.publishAttemptInJobId) one.job = 'absent'
  else one.staleJob = one.job !== 'absent'
  for (const relay of world.relays) if (relay.on === on) relay.live = false
  for (const [index, worker] of world.workers.entries()) {
    if (worker.on !== on) continue
    worker.live = false
    // Its claim would be refused: h.publish_attempt = i.publish_attempt.
    if (worker.step === 'fetched') world.workers[index] = { ...IDLE }
  }
  // redriveHandoffs names the publish attempt it has seen, and so finds nothing.
  if (world.sweeper.on === on) world.sweeper = { step: 'idle', on: 0 }
}

/** REQUEUE in sweeps.ts. */
export function requeue(world: World, on: number, rules: Rules): void {
  if (CLAIMABLE.has(handoffAt(world, on).state)) nextPublishAttempt(world, on, rules)
}

/** CLAIM in executions.ts; answers whether a row came back. */
export function claim(world: World, on: number): boolean {
  const one = handoffAt(world, on)
  const free = one.status !== 'DONE' && !(isHeld(one) && one.leased)
  if (!CLAIMABLE.has(one.state) || one.due || one.cancel || !free || !earlierEnded(world, on)) {
    return false
  }
  if (isHeld(one)) leaseExpiry(one)
  one.status = 'CLAIMED'
  one.leased = true
  for (const worker of world.workers) if (worker.on === on) worker.holds = false
  return true
}

function leaseExpiry(one: Handoff): void {
  one.leaseExpiries = Math.min(LEASE_EXPIRIES_MAX, one.leaseExpiries + 1)
}

/** EXPIRED in sweeps.ts. */
export function sweepExpiredLeases(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  if (!isHeld(one) || one.leased) return
  one.status = 'ABANDONED'
  leaseExpiry(one)
  requeue(world, on, rules)
}

/** UNDELIVERED in sweeps.ts. */
export function isQuiet(world: World, on: number): boolean {
  const one = handoffAt(world, on)
  return one.state === 'DISPATCHED' && !isHeld(one) && !one.retry && earlierEnded(world, on)
}

/** MARK_EXECUTING in executions.ts; `holds` stands for `e.fencing_token = i.fencing_token`. */
export function start(world: World, on: number, holds: boolean): boolean {
  const one = handoffAt(world, on)
  if (!holds || one.status !== 'CLAIMED' || !one.leased) return false
  if (one.cancel || one.due || !CLAIMABLE.has(one.state)) return false
  one.status = 'EXECUTING'
  one.state = 'EXECUTING'
  return true
}

/** EXTEND in executions.ts: a cancellation leaves the lease its grace, a deadline does not. */
export function extend(world: World, on: number, holds: boolean): boolean {
  const one = handoffAt(world, on)
  if (!holds || !isHeld(one) || one.due) return false
  one.leased = true
  return true
}

/** WAKE_NEXT_IN_TASK in publications.ts. */
function wakeNextInTask(world: World, on: number, rules: Rules): void {
  const next = world.handoffs.findIndex(
    (one, at) => at > on && one.state !== 'UNSENT' && !isEnded(one),
  )
  if (next !== -1 && handoffAt(world, next).state === 'DISPATCHED') {
    nextPublishAttempt(world, next, rules)
  }
}

/** Every statement that sets `ended_at`; an end without effect uses up a release. */
function end(world: World, on: number, state: State, rules: Rules): void {
  const one = handoffAt(world, on)
  one.state = state
  one.unshipped = true
  one.status = 'DONE'
  one.leased = false
  one.released = false
  if (state === 'DEAD_LETTERED') one.letter = 'open'
  wakeNextInTask(world, on, rules)
}

/** COMPLETE in settlements.ts. */
export function complete(world: World, on: number, holds: boolean, rules: Rules): void {
  const one = handoffAt(world, on)
  if (rules.fence && !(holds && one.status === 'EXECUTING' && !one.due)) return
  one.effects += 1
  end(world, on, 'COMPLETED', rules)
}

/** RETRY and END in settlements.ts. */
export function settle(world: World, on: number, holds: boolean, parts: Settling): void {
  const one = handoffAt(world, on)
  if (!holds || !isHeld(one) || one.cancel) return
  if (parts.decision !== 'retry') return end(world, on, parts.decision, parts.rules)
  releaseLease(one)
  one.attempt += 1
}

interface Settling {
  readonly decision: Decision
  readonly rules: Rules
}

/** RELEASE in executions.ts: no attempt is counted. */
export function release(world: World, on: number, holds: boolean): void {
  const one = handoffAt(world, on)
  if (holds && isHeld(one)) releaseLease(one)
}

function releaseLease(one: Handoff): void {
  one.status = 'ABANDONED'
  one.leased = false
  one.state = 'QUEUED'
  one.retry = true
}

/** EXPIRED in expiry.ts, which shuts the execution for good: STOP_DUE in ended-outside.ts. */
export function expire(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  if (one.due && !isEnded(one)) stop(world, on, 'EXPIRED', rules)
}

/** DUE in cancellations.ts: the grace is over, or nobody executes it. */
export function cancel(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  if (one.cancel && !isEnded(one)) stop(world, on, 'CANCELED', rules)
}

/** GRACE and AT_ONCE in cancellations.ts. */
export function requestCancel(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  one.cancel = true
  if (one.status !== 'EXECUTING' || !one.leased) cancel(world, on, rules)
}

function stop(world: World, on: number, state: State, rules: Rules): void {
  const one = handoffAt(world, on)
  one.retry = false
  one.row = false
  one.staleRow = false
  one.status = 'DONE'
  end(world, on, state, rules)
}

/** A release under which the judge passes a safety rejection once; its letter is resolved by it. */
export function releaseLetter(world: World, on: number, rules: Rules): void {
  const one = handoffAt(world, on)
  const waits = one.state === 'DEAD_LETTERED' && one.letter === 'open'
  if (rules.releaseOnce && !waits) return
  one.letter = 'resolved'
  one.released = true
  one.leaseExpiries = 0
  if (one.status !== 'NONE') one.status = 'ABANDONED'
  nextPublishAttempt(world, on, rules)
}
