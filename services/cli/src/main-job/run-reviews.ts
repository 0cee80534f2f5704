// Sends reviews as tasks, a bounded number at a time, and waits until each has ended.
import type { ReviewRequest } from '@baton/contract-review'
import { transient } from '@baton/runtime'
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
  readonly interrupt: AbortSignal
}

const LOOK_EVERY_MS = 40
const COLD_UNDER_WAY_MAX = 2
const STALLED_MS = 60_000

/**
 * Resolves when no handoff of any task is under way. Throws BATON_MAIN_JOB_STALLED when no task has
 * ended for a minute, BATON_INTERRUPTED on Ctrl-C; what was sent stays safe in both cases.
 */
export async function runReviews(
  requests: Iterable<ReviewRequest>,
  parts: RunParts,
): Promise<void> {
  const waiting = requests[Symbol.iterator]()
  const open = new Set<string>()
  let sent = 0
  let ended = 0
  let movedAt = performance.now()
  for (;;) {
    // Slow start: the first handoffs meet cold processes, so only a few of them have to wait for those.
    const room = Math.min(parts.underWayMax, COLD_UNDER_WAY_MAX + ended)
    sent += await fill(waiting, open, { ...parts, underWayMax: room })
    if (open.size === 0) return
    await pause(LOOK_EVERY_MS, parts.interrupt)
    const done = await findEndedTasks(parts.pool, [...open])
    for (const taskId of done) open.delete(taskId)
    ended += done.size
    parts.onProgress(ended, sent)
    if (done.size > 0) movedAt = performance.now()
    else if (performance.now() - movedAt > STALLED_MS) throw stalled(open)
  }
}

async function fill(
  waiting: Iterator<ReviewRequest>,
  open: Set<string>,
  { sender, underWayMax }: RunParts,
): Promise<number> {
  const sending: Promise<unknown>[] = []
  while (open.size < underWayMax) {
    const next = waiting.next()
    if (next.done === true) break
    const { agentState, targetAgentType, constraints } = next.value
    open.add(agentState.taskId)
    sending.push(sender.send(agentState, targetAgentType, constraints))
  }
  await Promise.all(sending)
  return sending.length
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

function stalled(open: ReadonlySet<string>) {
  const [first = ''] = open
  const message = `no task has ended for ${STALLED_MS / 1000} s; ${open.size} are under way, such as ${first}`
  return transient('BATON_MAIN_JOB_STALLED', message, {
    fix: 'Read the logs in .baton/logs, and run `npm run baton -- doctor`.',
  })
}
