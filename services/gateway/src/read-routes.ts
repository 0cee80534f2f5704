// Reading one handoff, one task, a task's trace, and the list of tasks. Nothing here changes anything.
import type { FastifyInstance } from 'fastify'
import { findHandoff, findTask, listReturns, listTaskHandoffs, listTasks } from '@baton/store'
import type { HandoffView, Pool, TaskView } from '@baton/store'
import type { AuditReads } from './audit-reads.ts'
import { notFound, readLimit, readStatus, readUuid } from './read-parameters.ts'
import type { ById, ListQuery } from './read-parameters.ts'
import { requireScope } from './request-context.ts'
import { readTaskTrace } from './task-trace.ts'
import { showHandoff, showReturn, showTask } from './views.ts'

interface ReadRouteOptions {
  readonly pool: Pool
  readonly audit: AuditReads
}

export function addReadRoutes(server: FastifyInstance, { pool, audit }: ReadRouteOptions): void {
  const onlyReaders = { preParsing: requireScope('handoffs:read') }

  server.get<ById>('/v2/handoffs/:id', onlyReaders, async ({ params }) => {
    const handoffId = readUuid(params.id, 'handoff')
    const handoff = await findHandoff(pool, handoffId)
    if (handoff === undefined) throw notFound('handoff')
    const returns = await listReturns(pool, handoffId)
    return { ...showHandoff(handoff), returns: returns.map(showReturn) }
  })

  server.get<ById>('/v2/tasks/:id', onlyReaders, async ({ params }) =>
    showWhole(await readWhole(pool, params.id)),
  )

  server.get<ById>('/v2/tasks/:id/trace', onlyReaders, async ({ params }) => {
    const whole = await readWhole(pool, params.id)
    const recorded = await readTaskTrace(audit, params.id, whole.handoffs)
    return { ...showWhole(whole), audit: recorded }
  })

  server.get<ListQuery>('/v2/tasks', onlyReaders, async ({ query }) => {
    const status = readStatus(query['status'])
    const limit = readLimit(query['limit'])
    const tasks = await listTasks(pool, status === undefined ? { limit } : { status, limit })
    return { tasks: tasks.map(showTask) }
  })
}

interface WholeTask {
  readonly task: TaskView
  readonly handoffs: readonly HandoffView[]
}

async function readWhole(pool: Pool, id: string): Promise<WholeTask> {
  const taskId = readUuid(id, 'task')
  const [task, handoffs] = await Promise.all([
    findTask(pool, taskId),
    listTaskHandoffs(pool, taskId),
  ])
  if (task === undefined) throw notFound('task')
  return { task, handoffs }
}

const showWhole = ({ task, handoffs }: WholeTask) => ({
  task: showTask(task),
  handoffs: handoffs.map(showHandoff),
})
