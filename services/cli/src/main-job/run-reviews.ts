// Sends reviews as tasks, a bounded number at a time, and waits until each has ended.
import { randomUUID } from 'node:crypto'
import type { ReviewRequest } from '@baton/contract-review'
import { kindOf, transient } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import type { Sender } from '@baton/sdk'
import { findEndedTasks } from '@baton/store'
import type { Pool } from '@baton/store'
import { interrupted } from '../commands/follow.ts'

export interface RunParts {
  readonly sender: Sender
  /** The operational database. */
  readonly pool: Pool
  /** Tasks under way at once: enough to keep the services busy, few enough that none waits in line. */
  readonly underWayMax: number
  readonly onProgress: (ended: number, sent: number) => void
  /** Called with BATON_MAIN_JOB_STALLED when no task has ended for a minute, and each minute again; what it throws ends the run. */
  readonly onStalled: (error: BatonError) => void
  readonly interrupt: AbortSignal
}

const LOOK_EVERY_MS = 40
/** What is away is not asked again at once. */
const AGAIN_MS = 1_000
const COLD_UNDER_WAY_MAX = 2
const STALLED_MS = 60_000

/**
 * Resolves when no handoff of any task is under way. What is away meanwhile is waited for: what could not be sent is sent again. Throws
 * BATON_INTERRUPTED on Ctrl-C; what was sent stays safe.
 */
export async function runReviews(
  requests: Iterable<ReviewRequest>,
  parts: RunParts,
): Promise<void> {
  const sending = createSending(requests, parts)
  const { open } = sending
  let ended = 0
  let movedAt = performance.now()
  for (;;) {
    // Slow start: the first handoffs meet cold processes, so only a few of them have to wait for those.
    const room = Math.min(parts.underWayMax, COLD_UNDER_WAY_MAX + ended)
    const problem = await outage(() => sending.fill(room))
    if (open.size === 0) return
    await pause(problem === undefined ? LOOK_EVERY_MS : AGAIN_MS, parts.interrupt)
    const done = await findEnded(parts.pool, open)
    for (const taskId of done.ended) open.delete(taskId)
    ended += done.ended.size
    parts.onProgress(ended, ended + open.size)
    if (done.ended.size > 0) movedAt = performance.now()
    else if (performance.now() - movedAt > STALLED_MS) {
      movedAt = performance.now()
      parts.onStalled(stalled(open, problem ?? done.problem))
    }
  }
}

/** What keeps the work from being done now and may be gone soon; everything else is thrown. */
async function outage(work: () => Promise<void>): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (kindOf(error) !== 'transient') throw error
    return error
  }
}

async function findEnded(pool: Pool, open: ReadonlySet<string>) {
  let ended: ReadonlySet<string> = new Set()
  const problem = await outage(async () => {
    ended = await findEndedTasks(pool, [...open])
  })
  return { ended, problem }
}

interface Sending {
  /** Tasks that were sent and have not ended, as far as is known. */
  readonly open: Set<string>
  /** Sends until so many are open. Throws what one of the sends threw; its request is sent again next time. */
  fill(openMax: number): Promise<void>
}

function createSending(requests: Iterable<ReviewRequest>, { sender }: RunParts): Sending {
  const waiting = requests[Symbol.iterator]()
  const open = new Set<string>()
  let unsent: ReviewRequest[] = []

  function next(openMax: number): ReviewRequest | undefined {
    if (open.size >= openMax) return undefined
    const { done, value } = waiting.next()
    if (done === true) return undefined
    const { agentState } = value
    open.add(agentState.taskId)
    // Under one id, so that what was sent although nobody heard so is not sent twice.
    return { ...value, agentState: { ...agentState, handoffId: randomUUID() } }
  }

  return {
    open,
    async fill(openMax) {
      const batch = unsent
      for (let one = next(openMax); one !== undefined; one = next(openMax)) batch.push(one)
      const sent = await Promise.allSettled(
        batch.map(({ agentState, targetAgentType, constraints }) =>
          sender.send(agentState, targetAgentType, constraints),
        ),
      )
      unsent = batch.filter((_, index) => sent[index]?.status === 'rejected')
      const failed = sent.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  }
}

async function pause(ms: number, interrupt: AbortSignal): Promise<void> {
  if (interrupt.aborted) throw interrupted()
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(interrupted())
    }
    const timer = setTimeout(() => {
      interrupt.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    interrupt.addEventListener('abort', onAbort, { once: true })
  })
}

function stalled(open: ReadonlySet<string>, cause: unknown) {
  const [first = ''] = open
  const message = `no task has ended for ${STALLED_MS / 1000} s; ${open.size} are under way, such as ${first}`
  return transient('BATON_MAIN_JOB_STALLED', message, {
    cause,
    fix: 'Read the logs in .baton/logs, and run `npm run baton -- doctor`.',
  })
}
