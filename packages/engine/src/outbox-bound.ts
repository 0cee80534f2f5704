// Says no to new work early, while more waits for delivery than may or the oldest waits too long (I12).
import type { OutboxDepth } from '@baton/store'
import { transient } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

interface OutboxBoundDeps {
  /** How much waits from a sequence number on; starting late keeps the count off dead rows. */
  readDepth(fromSeq: number): Promise<OutboxDepth>
  readonly depthMax: number
  readonly ageMaxMs: number
  readonly metrics: Pick<Metrics, 'outboxDepth' | 'outboxOldestAgeSeconds'>
  readonly now?: () => number
}

/** The defaults of both bounds. */
export const OUTBOX_BOUNDS = { depthMax: 50_000, ageMaxMs: 30_000 } as const

const CRITICAL = 0
const FRESH_MS = 250
/** Older than this, a reading says nothing any more and a caller waits for the next. */
const STALE_MS = 1_000
const HINT_SLACK = 5_000
const FULL_COUNT_MS = 5_000

/**
 * Returns a check whether a new handoff of this priority must wait. The outbox is counted at most
 * every 250 ms; critical handoffs (priority 0) always pass. Where it cannot be counted the answer
 * is no, and the send itself tells why.
 */
export function createOutboxBound(deps: OutboxBoundDeps): (priority: number) => Promise<boolean> {
  const { readDepth, depthMax, ageMaxMs, metrics, now = () => performance.now() } = deps
  let latest: { readonly depth: OutboxDepth; readonly at: number } | undefined
  let reading: Promise<void> | undefined
  let countedAllAt = -Infinity

  async function read(): Promise<void> {
    const countAll = now() - countedAllAt > FULL_COUNT_MS
    const fromSeq = countAll ? 0 : Math.max(0, (latest?.depth.oldestSeq ?? 0) - HINT_SLACK)
    const depth = await readDepth(fromSeq)
    if (countAll) countedAllAt = now()
    latest = { depth, at: now() }
    metrics.outboxDepth.set(depth.depth)
    metrics.outboxOldestAgeSeconds.set(depth.oldestAgeSeconds)
  }

  function refresh(): Promise<void> {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return async (priority) => {
    if (priority === CRITICAL) return false
    const ageMs = now() - (latest?.at ?? -Infinity)
    if (ageMs > STALE_MS) await refresh()
    else if (ageMs > FRESH_MS) void refresh()
    if (latest === undefined || now() - latest.at > STALE_MS) return false
    const { depth, oldestAgeSeconds } = latest.depth
    return depth > depthMax || (depth > 0 && oldestAgeSeconds * 1_000 > ageMaxMs)
  }
}

/** What a sender is told while the outbox is full; repeating the same handoff later is safe. */
export const outboxFull = (): BatonError =>
  transient('BATON_OUTBOX_FULL', 'more handoffs wait for delivery than may, or wait too long', {
    fix: 'Send it again in a while; handoffs of priority 0 are always taken. Add relays or receivers if it lasts.',
  })
