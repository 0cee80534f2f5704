// Who waits for a task to move, and who is told of everything in it: from one look at the database for all of them.
import { listA2aStandings } from '@baton/store'
import type { A2aStanding, Pool } from '@baton/store'
import { taskStateOf } from '@baton/protocol/dialects/a2a'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createSharedLook } from '../shared-look.ts'
import type { SharedLook } from '../shared-look.ts'

/** Resolves with how the task stands once that is otherwise than `mark`. */
export type TaskFollowers = SharedLook<Asked, A2aStanding>

interface Asked {
  readonly taskId: string
  readonly mark: string
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
  return createSharedLook({
    name: 'task followers',
    everyMs: LOOK_MS,
    async look(all: readonly Asked[]) {
      const found = await listA2aStandings(pool, [...new Set(all.map((one) => one.taskId))])
      const byId = new Map(found.map((one) => [one.taskId, one]))
      return ({ taskId, mark }) => {
        const standing = byId.get(taskId)
        return standing !== undefined && markOf(standing) !== mark ? standing : undefined
      }
    },
    failed: (error) => logger.warn({ event: 'a2a.unread', code: codeOf(error) }),
  })
}
