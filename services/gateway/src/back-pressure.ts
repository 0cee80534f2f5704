// Says no early: a full outbox answers 429, too many requests at once answer 503 (I12).
import type { Metrics } from '@baton/telemetry'
import { ProblemError } from './problem.ts'

interface OutboxDepth {
  readonly depth: number
  readonly oldestAgeSeconds: number
}

interface OutboxOptions {
  readonly read: () => Promise<OutboxDepth>
  readonly depthMax: number
  readonly metrics: Pick<Metrics, 'outboxDepth' | 'outboxOldestAgeSeconds'>
}

const CRITICAL = 0
const FRESH_MS = 250

/**
 * Returns a check that throws 429 BATON_OUTBOX_FULL while more than `depthMax` handoffs wait for a
 * relay. The depth is read at most every 250 ms; critical handoffs (priority 0) always pass.
 */
export function createOutboxBound({ read, depthMax, metrics }: OutboxOptions) {
  let readAtMs = Number.NEGATIVE_INFINITY
  let latest: Promise<OutboxDepth> | undefined

  function depth(): Promise<OutboxDepth> {
    const nowMs = performance.now()
    if (latest === undefined || nowMs - readAtMs >= FRESH_MS) {
      readAtMs = nowMs
      latest = readAndShow()
    }
    return latest
  }

  async function readAndShow(): Promise<OutboxDepth> {
    const found = await read()
    metrics.outboxDepth.set(found.depth)
    metrics.outboxOldestAgeSeconds.set(found.oldestAgeSeconds)
    return found
  }

  return async (priority: number): Promise<void> => {
    if (priority === CRITICAL) return
    if ((await depth()).depth > depthMax) throw OUTBOX_FULL
  }
}

const OUTBOX_FULL = new ProblemError({
  status: 429,
  code: 'BATON_OUTBOX_FULL',
  detail: 'More handoffs wait for delivery than may',
  fix: 'Send again after the time in Retry-After; handoffs of priority 0 are always taken.',
  headers: { 'retry-after': '1' },
})

/** Runs `work` unless `runningMax` are under way already: then throws 503 BATON_OVERLOADED. */
export function createRunningBound(runningMax: number) {
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= runningMax) throw OVERLOADED
    running += 1
    try {
      return await work()
    } finally {
      running -= 1
    }
  }
}

const OVERLOADED = new ProblemError({
  status: 503,
  code: 'BATON_OVERLOADED',
  detail: 'The gateway has as many requests under way as it takes',
  fix: 'Try again after the time in Retry-After, and spread requests over time.',
  headers: { 'retry-after': '1' },
})
