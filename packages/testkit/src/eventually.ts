// Waiting for a condition instead of sleeping: returns as soon as it holds, fails with words when it never does.
import { setTimeout as delay } from 'node:timers/promises'

/** It asks again after a tenth of what it has waited so far: what looks takes the processor from what it waits for. */
const POLL_MIN_MS = 10
const POLL_MAX_MS = 100

export const pollAfterMs = (waitedMs: number): number =>
  Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, waitedMs / 10))

interface EventuallyOptions {
  /** How long the condition may take to become true. */
  readonly deadlineMs: number
  /** What was awaited and, as a function, what was seen instead. */
  readonly describe: string | (() => string)
}

/**
 * Polls `condition` until it returns something truthy and returns that. A condition that throws counts as
 * not yet true; its last error becomes the cause when the deadline passes.
 */
export async function eventually<Value>(
  condition: () => Value | Promise<Value>,
  { deadlineMs, describe }: EventuallyOptions,
): Promise<Exclude<Value, false | null | undefined | 0 | ''>> {
  const begun = performance.now()
  for (;;) {
    let cause: unknown
    try {
      const value = await condition()
      if (value) return value as Exclude<Value, false | null | undefined | 0 | ''>
    } catch (error) {
      cause = error
    }
    const waitedMs = performance.now() - begun
    if (waitedMs > deadlineMs) {
      const what = typeof describe === 'string' ? describe : describe()
      throw new Error(`not within ${deadlineMs} ms: ${what}`, { cause })
    }
    await delay(pollAfterMs(waitedMs))
  }
}
