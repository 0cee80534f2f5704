// Concurrent callers share one call: the first goes at once, the rest wait for it and go together.
import { defect, transient } from './errors.ts'

interface BatcherOptions<Item, Result> {
  /** Names the batch in errors. */
  readonly name: string
  /** Handles the whole set; result i answers item i. A throw rejects every item of the set. */
  readonly flush: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Most items in one flush. */
  readonly maxItems: number
  /** Most items waiting; beyond it `add` rejects with BATON_OVERLOADED. */
  readonly maxQueued: number
  /** Most flushes under way at once; more than one only where order between sets is of no matter. */
  readonly flushesMax?: number
  /** Under load, least time between the starts of two flushes; 0 by default. A lone item never waits. */
  readonly batchingDelayMs?: number
}

/** A flush of this many items says that callers come in crowds, and that the next crowd is worth a wait. */
const BATCH_THRESHOLD = 4

export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>
  /** Resolves when everything added so far has been answered. */
  drain(): Promise<void>
  readonly queued: number
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

const answersMissing = (name: string) =>
  defect('BATON_BATCH_ANSWERS_MISSING', `${name}: a flush must answer every item of its set`)

/**
 * Group commit: flushes at once when idle, otherwise when a flush in progress returns, or, where a
 * batching delay is set and callers come in crowds, that long after the previous flush began. Small sets
 * cost a statement as much as large ones, so the batching delay buys throughput only when there is a load.
 */
export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): Batcher<Item, Result> {
  const { name, flush, maxItems, maxQueued, flushesMax = 1, batchingDelayMs = 0 } = options
  let waiting: Waiting<Item, Result>[] = []
  let flushing = 0
  let scheduled = false
  let isBusy = false
  let flushedAt = 0
  let idle: (() => void)[] = []

  async function flushOnce(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await flush(batch.map((entry) => entry.item))
      if (results.length !== batch.length) throw answersMissing(name)
      batch.forEach((entry, index) => entry.resolve(results[index] as Result))
    } catch (error) {
      for (const entry of batch) entry.reject(error)
    } finally {
      flushing -= 1
      schedule()
    }
  }

  function pump(): void {
    scheduled = false
    while (waiting.length > 0 && flushing < flushesMax) {
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      flushing += 1
      isBusy = batch.length >= BATCH_THRESHOLD
      flushedAt = performance.now()
      void flushOnce(batch)
    }
    if (waiting.length === 0 && flushing === 0) {
      for (const resolve of idle) resolve()
      idle = []
    }
  }

  // Callers that add within one turn of the event loop travel together.
  function schedule(): void {
    if (scheduled || flushing >= flushesMax) return
    scheduled = true
    const waitMs =
      isBusy && waiting.length < maxItems ? flushedAt + batchingDelayMs - performance.now() : 0
    if (waitMs < 1) setImmediate(pump)
    else setTimeout(pump, waitMs)
  }

  return {
    get queued() {
      return waiting.length
    },
    add(item) {
      if (waiting.length >= maxQueued) {
        return Promise.reject(
          transient('BATON_OVERLOADED', `${name}: ${maxQueued} items are waiting already`, {
            fix: 'Slow down and try again after a short wait.',
          }),
        )
      }
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        schedule()
      })
    },
    drain() {
      if (waiting.length === 0 && flushing === 0) return Promise.resolve()
      return new Promise((resolve) => idle.push(resolve))
    },
  }
}
