// Notices within a second that a queue lost its tail, and publishes from Postgres what was in it.
import type { LostMark, LostTail } from '@baton/store'
import type { QueueMark } from '@baton/protocol'
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'

export interface LossDeps {
  /** The newest mark of each relay in each queue, as Postgres knows them. */
  listMarks(): Promise<readonly QueueMark[]>
  /** What the queue's server still knows of each. */
  readMarks(marks: readonly QueueMark[]): Promise<readonly (number | null)[]>
  /** Takes what was lost, so that no other detector does, and forgets its marks. */
  takeLostTails(lost: readonly LostMark[]): Promise<readonly LostTail[]>
  /** Publishes again at most `limit` unclaimed handoffs of a lost tail; answers how many. */
  redriveTail(tail: LostTail, limit: number): Promise<number>
  forgetOldMarks(): Promise<void>
  wakeRelays(): void
  readonly logger: Logger
}

const INTERVAL_MS = 500
const SET_MAX = 500
const FORGET_EVERY_MS = 60_000

/**
 * Compares marks twice a second. A queue's server loses from the end (a dump is older, a log is cut,
 * a replica lags), so where a mark survived, what was published before it did too. Any number may run.
 */
export function createLossDetector(deps: LossDeps): Service {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopping = false
  let forgottenAt = performance.now()

  async function look(): Promise<void> {
    try {
      const lost = await findLost(deps)
      const tails = lost.length === 0 ? [] : await deps.takeLostTails(lost)
      for (const tail of tails) await redriveAll(deps, tail)
      if (performance.now() - forgottenAt < FORGET_EVERY_MS) return
      forgottenAt = performance.now()
      await deps.forgetOldMarks()
    } catch (error) {
      // A server that is away has lost nothing yet: it is asked again.
      deps.logger.debug({ event: 'marks.unread', code: codeOf(error) })
    }
  }

  function schedule(): void {
    if (stopping) return
    timer = setTimeout(() => {
      running = look().finally(schedule)
    }, INTERVAL_MS)
  }

  return {
    name: 'loss-detector',
    async start() {
      running = look().finally(schedule)
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      await running
    },
  }
}

// Postgres first: a mark is in the queue before it commits, so the queue's is never the older one.
async function findLost(deps: LossDeps): Promise<readonly LostMark[]> {
  const known = await deps.listMarks()
  if (known.length === 0) return []
  const survived = await deps.readMarks(known)
  return known.flatMap((one, index) => {
    const mark = survived[index] ?? null
    return mark === null || mark < one.mark ? [{ ...one, survived: mark }] : []
  })
}

// Whoever dies in between leaves the rest to the sweeper, which finds it by its age.
async function redriveAll(deps: LossDeps, tail: LostTail): Promise<void> {
  let redriven = 0
  let count = SET_MAX
  while (count === SET_MAX) {
    count = await deps.redriveTail(tail, SET_MAX)
    redriven += count
    if (count > 0) deps.wakeRelays()
  }
  deps.logger.warn({ event: 'queue.tail_lost', queue: tail.queue, redriven })
}
