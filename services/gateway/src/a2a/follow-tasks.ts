// Who waits for a task to move, and who is told of everything in it: from one look at the database for all of them.
import { listA2aStandings } from '@baton/store'
import type { A2aStanding, Pool } from '@baton/store'
import { taskStateOf } from '@baton/protocol/dialects/a2a'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'

export interface TaskFollowers extends Service {
  /** Resolves with how the task stands once that is otherwise than `mark`; with nothing where it takes long, or `signal` aborts. */
  moved(taskId: string, mark: string, wait: Wait): Promise<A2aStanding | undefined>
}

interface Wait {
  readonly signal: AbortSignal
  readonly withinMs: number
}

interface Waiting {
  readonly taskId: string
  readonly mark: string
  readonly tell: (standing?: A2aStanding) => void
}

const LOOK_MS = 100

/** Two standings with one mark are told once. */
export const markOf = (standing: A2aStanding): string =>
  `${taskStateOf(standing)} ${standing.chunks} ${standing.handoffId}`

/** `pool` is that of all tenants: whoever waits was shown the task before. */
export function createTaskFollowers({
  pool,
  logger,
}: {
  readonly pool: Pool
  readonly logger: Logger
}): TaskFollowers {
  const waiting = new Set<Waiting>()
  const looks = every({
    name: 'task followers',
    everyMs: LOOK_MS,
    async run() {
      if (waiting.size === 0) return Infinity
      const found = await listA2aStandings(pool, [
        ...new Set([...waiting].map((one) => one.taskId)),
      ])
      const byId = new Map(found.map((one) => [one.taskId, one]))
      for (const { taskId, mark, tell } of waiting) {
        const standing = byId.get(taskId)
        if (standing !== undefined && markOf(standing) !== mark) tell(standing)
      }
      return undefined
    },
    failed: (error) => logger.warn({ event: 'a2a.unread', code: codeOf(error) }),
  })
  return {
    name: 'task followers',
    start: looks.start,
    stop: looks.stop,
    moved: (taskId, mark, { signal, withinMs }) =>
      new Promise((resolve) => {
        const one: Waiting = { taskId, mark, tell }
        const timer = setTimeout(tell, withinMs)
        const gone = () => tell()
        function tell(standing?: A2aStanding): void {
          clearTimeout(timer)
          signal.removeEventListener('abort', gone)
          waiting.delete(one)
          resolve(standing)
        }
        waiting.add(one)
        signal.addEventListener('abort', gone)
        if (signal.aborted) tell()
        else if (waiting.size === 1) looks.wake()
      }),
  }
}
