// Reading one handoff, one task, a task's trace, and the list of tasks. Nothing here changes anything.
import { DEFAULT_TENANT } from '@baton/ledger'
import { TASK_STATUSES } from '@baton/protocol'
import type { FastifyInstance } from 'fastify'
import {
  countTasks,
  findHandoff,
  findJoinedBranch,
  findTask,
  listReturns,
  listTaskHandoffs,
  listTaskReceipts,
  listTasks,
} from '@baton/store'
import type { HandoffView, Pool, TaskReceipt, TaskView } from '@baton/store'
import { ProblemError } from '@baton/http/server'
import { keyOf } from './acting.ts'
import type { AuditReads } from './audit-reads.ts'
import { notFound } from './not-found.ts'
import { refusedRequest } from './refused-request.ts'
import {
  answers,
  BY_ID,
  listQuery,
  only,
  onlyById,
  onlyList,
  problems,
  ref,
  TRACED,
} from './operation.ts'
import type { ById } from './operation.ts'
import { countedListOf, countedPageOf, FILTERED_CURSOR, readCursor, rowsFor } from './cursor.ts'
import { ownTrace } from './own-records.ts'
import { readTaskTrace } from './task-trace.ts'
import { showHandoff, showReturn, showTask } from './views.ts'

interface ReadRouteOptions {
  readonly pool: Pool
  readonly audit: AuditReads
}

export function addReadRoutes(scope: FastifyInstance, { pool, audit }: ReadRouteOptions): void {
  scope.get<ById>('/handoffs/:id', READ_HANDOFF, async ({ params }) => {
    const handoff = await findHandoff(pool, params.id)
    if (handoff === undefined) throw notFound('handoff')
    const returns = await listReturns(pool, params.id)
    return { ...showHandoff(handoff), returns: returns.map(showReturn) }
  })

  scope.get<{ Params: { id: string; branch: string } }>(
    '/handoffs/:id/branches/:branch',
    READ_BRANCH,
    async ({ params: { id, branch } }) => {
      const found = await findJoinedBranch(pool, id, { position: Number(branch) })
      if (found === undefined) throw NO_BRANCH
      return found
    },
  )

  scope.get<ById>('/tasks/:id', READ_TASK, async ({ params }) =>
    showWhole(await readWhole(pool, params.id)),
  )

  scope.get<ById>('/tasks/:id/trace', TRACE_TASK, async (request) => {
    const { params } = request
    const whole = await findWhole(pool, params.id)
    const { tenant } = keyOf(request)
    const found = await readTaskTrace({ audit, pool }, params.id, {
      handoffs: whole?.handoffs ?? [],
      receipts: await listTaskReceipts(pool, params.id),
    })
    const recorded = ownTrace(found, { tenant, isOwner: whole !== undefined })
    if (whole !== undefined) return { ...showWhole(whole), audit: recorded }
    // Only the default tenant's are told whether the log ever knew a task that nobody sent.
    if (recorded.records.length === 0 && (tenant !== DEFAULT_TENANT || found.records.length > 0))
      throw notFound('task')
    if (recorded.verified && recorded.records.length === 0 && !recorded['expired']) {
      throw recorded.isAbsent ? notFound('task') : UNPROVEN
    }
    // The log outlives this database: it may know a task that was lost here.
    return { task: null, handoffs: [], audit: recorded }
  })

  scope.get<ById>('/tasks/:id/receipts', LIST_RECEIPTS, async ({ params }) => ({
    receipts: (await listTaskReceipts(pool, params.id)).map(showReceipt),
  }))

  scope.get<TasksQuery>('/tasks', LIST_TASKS, async ({ query }) => {
    const { limit, cursor, status, idPrefix } = query
    const filter = { status, idPrefix }
    const [rows, count] = await Promise.all([
      listTasks(pool, { ...filter, limit: rowsFor(limit), cursor: readCursor(cursor, filter) }),
      countTasks(pool, filter),
    ])
    const { page, shown } = countedPageOf(rows, { limit, filter, count })
    return { tasks: page.map(showTask), ...shown }
  })
}

/** As evidence takes them. */
const showReceipt = ({ origin, seq, recordHash }: TaskReceipt) => ({ origin, seq, recordHash })

const UNPROVEN = new ProblemError({
  status: 404,
  code: 'BATON_TASK_UNPROVEN',
  detail:
    'nothing is stored of this task, and that the log never had a record of it cannot be proven now',
  fix: 'Check the task id. If it is right, ask the operator for `verify`: a seal that commits to the map of tasks would prove it.',
})

const READ_HANDOFF = onlyById('handoff', 'handoffs:read', {
  operationId: 'readHandoff',
  summary: 'One handoff: its state, attempts, returns, cost and result',
  ...TRACED,
  response: { 200: answers('The handoff', 'Handoff'), ...problems([404]) },
})

const NO_BRANCH = new ProblemError({
  status: 404,
  code: 'BATON_BRANCH_UNKNOWN',
  detail: 'there is no handoff with this id that joins a branch of this place',
  fix: 'Use `href` as it stands beside `cut` in currentState.branches of the handoff that joins.',
})

const READ_BRANCH = {
  ...only('handoffs:read', {
    operationId: 'readBranch',
    summary: 'What came out of a branch that a handoff joins, whole',
    description:
      'Where the message of the join has no room for a result, its `currentState.branches` says `cut`: how many bytes its RFC 8785 form takes, its SHA-256, and this address.',
    ...TRACED,
    params: {
      ...BY_ID,
      properties: {
        ...BY_ID.properties,
        branch: {
          type: 'string',
          pattern: '^(0|[1-9][0-9]{0,3})$',
          description: 'Its place, from 0.',
        },
      },
      required: [...BY_ID.required, 'branch'],
    },
    response: { 200: answers('What came out of the branch', 'JoinedBranch'), ...problems([404]) },
  }),
  schemaErrorFormatter: refusedRequest('handoff'),
}

const READ_TASK = onlyById('task', 'handoffs:read', {
  operationId: 'readTask',
  summary: 'One task and its handoffs in the order they were sent',
  ...TRACED,
  response: { 200: answers('The task', 'TaskWithHandoffs'), ...problems([404]) },
})

const TRACE_TASK = onlyById('task', 'handoffs:read', {
  operationId: 'traceTask',
  summary: 'One task with its records in the tamper-evident audit log',
  description:
    "Answers 503 while the audit log cannot be read: half a trace would look like all of it. The task is null where only the log knows it any more. Answers 502 where trying again does not help until an operator corrects the gateway's settings.",
  ...TRACED,
  response: {
    200: answers('The task, its handoffs, and what the audit log says', 'TaskTrace'),
    ...problems([404], {
      502: 'The auditor refuses the gateway; an operator must correct its settings',
    }),
  },
})

const LIST_RECEIPTS = onlyById('task', 'handoffs:read', {
  operationId: 'listTaskReceipts',
  summary: "The receipts of the audit log that the task's executions hold",
  description:
    'A request for evidence gives them to the auditor: every record that one of them names must then be in the log.',
  response: {
    200: answers('The receipts; [] where nothing was executed', {
      type: 'object',
      properties: { receipts: { type: 'array', items: ref('Receipt') } },
    }),
    ...problems([]),
  },
})

const LIST_TASKS = onlyList('handoffs:read', {
  operationId: 'listTasks',
  summary: 'Tasks, newest first',
  querystring: listQuery({
    status: { enum: TASK_STATUSES },
    idPrefix: {
      type: 'string',
      pattern: '^(?:[0-9a-f]-?){4,32}$',
      description: 'Only tasks whose id begins with these digits.',
    },
    cursor: FILTERED_CURSOR,
  }),
  response: {
    200: answers('The tasks; [] where there is none', countedListOf('tasks', ref('Task'))),
    ...problems([]),
  },
})

interface TasksQuery {
  Querystring: { limit: number; cursor?: string; status?: string; idPrefix?: string }
}

interface WholeTask {
  readonly task: TaskView
  readonly handoffs: readonly HandoffView[]
}

// The task is read after its handoffs: where all of them have ended, it says so too. The other way round somebody who
// waits for the end could see the last handoff's and, beside it, a task that is still under way.
async function findWhole(pool: Pool, taskId: string): Promise<WholeTask | undefined> {
  const handoffs = await listTaskHandoffs(pool, taskId)
  const task = await findTask(pool, taskId)
  return task === undefined ? undefined : { task, handoffs }
}

async function readWhole(pool: Pool, taskId: string): Promise<WholeTask> {
  const whole = await findWhole(pool, taskId)
  if (whole === undefined) throw notFound('task')
  return whole
}

const showWhole = ({ task, handoffs }: WholeTask) => ({
  task: showTask(task),
  handoffs: handoffs.map(showHandoff),
})
