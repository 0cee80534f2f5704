// Escalations over HTTP: tasks that wait for a person, who looks after one, and why it waits no more. Whoever was first
// stands; saying the same again is safe.
import type { FastifyInstance } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { Logger } from '@baton/runtime'
import {
  acknowledgeEscalation,
  countEscalations,
  ESCALATION_STATES,
  findEscalation,
  listEscalations,
  resolveEscalation,
} from '@baton/store'
import type { EscalationFilter, EscalationView, Pool } from '@baton/store'
import { operatorOf } from './acting.ts'
import { ESCALATION_SELECTION } from './alert-selection-schema.ts'
import { CURSOR, pageOf, rowsFor, totalOf } from './cursor.ts'
import { answers, listQuery, onlyById, onlyList, problemsIn, ref } from './operation.ts'
import type { ById } from './operation.ts'

// Where a list goes on is said once, by nextCursor.
const showEscalation = (escalation: EscalationView) => ({
  ...escalation,
  position: undefined,
  links: {
    self: `/v2/escalations/${escalation.handoffId}`,
    handoff: `/v2/handoffs/${escalation.handoffId}`,
    task: `/v2/tasks/${escalation.taskId}`,
  },
})

interface EscalationRouteOptions {
  readonly pool: Pool
  readonly logger: Logger
}

interface Explained extends ById {
  Body: { readonly why: string }
}

export function addEscalationRoutes(
  scope: FastifyInstance,
  { pool, logger }: EscalationRouteOptions,
): void {
  scope.get<{ Querystring: EscalationFilter }>(
    '/escalations',
    LIST_ESCALATIONS,
    async ({ query }) => {
      const { limit, cursor, ...meant } = query
      const [escalations, count] = await Promise.all([
        listEscalations(pool, { ...meant, cursor, limit: rowsFor(limit) }),
        countEscalations(pool, meant),
      ])
      const { page, nextCursor } = pageOf(escalations, limit)
      return { escalations: page.map(showEscalation), nextCursor, ...totalOf(count) }
    },
  )

  scope.get<ById>('/escalations/:id', GET_ESCALATION, async ({ params }) =>
    showEscalation(await escalationOf(params.id)),
  )

  scope.post<ById>('/escalations/:id/acknowledge', ACKNOWLEDGE_ESCALATION, async (request) => {
    const { id: handoffId } = request.params
    const operator = operatorOf(request)
    const isDone = await acknowledgeEscalation(pool, handoffId, operator)
    const escalation = await escalationOf(handoffId)
    if (!isDone && escalation.state === 'resolved') throw escalationResolved(escalation)
    if (isDone) logger.info({ event: 'escalation.acknowledged', handoffId, operator })
    return { ...showEscalation(escalation), repeated: !isDone }
  })

  scope.post<Explained>('/escalations/:id/resolve', RESOLVE_ESCALATION, async (request) => {
    const { id: handoffId } = request.params
    const { why } = request.body
    const operator = operatorOf(request)
    const isDone = await resolveEscalation(pool, { handoffId, actor: operator, why })
    const escalation = await escalationOf(handoffId)
    const isSame = escalation.resolvedBy === operator && escalation.resolvedWhy === why
    if (!isDone && !isSame) throw escalationResolved(escalation)
    if (isDone) logger.info({ event: 'escalation.resolved', handoffId, operator })
    return { ...showEscalation(escalation), repeated: !isDone }
  })

  async function escalationOf(handoffId: string): Promise<EscalationView> {
    const escalation = await findEscalation(pool, handoffId)
    if (escalation === undefined) throw ESCALATION_UNKNOWN
    return escalation
  }
}

const escalationProblems = problemsIn({
  404: 'There is no such escalation',
  422: 'The body has another form',
  429: 'Too many requests; see Retry-After',
  503: 'The database does not answer; see Retry-After',
})

const LIST_ESCALATIONS = onlyList('handoffs:read', {
  operationId: 'listEscalations',
  summary: 'Tasks that wait for a person, or escalations of one state; oldest first',
  querystring: listQuery({
    state: { enum: ESCALATION_STATES },
    ...ESCALATION_SELECTION,
    cursor: CURSOR,
  }),
  response: {
    200: answers('The escalations; [] where there is none', 'Escalations'),
    ...escalationProblems([]),
  },
})

const GET_ESCALATION = onlyById('handoff', 'handoffs:read', {
  operationId: 'getEscalation',
  summary: 'One escalation, by the id of its handoff',
  response: { 200: answers('The escalation', 'Escalation'), ...escalationProblems([404]) },
})

const ACKNOWLEDGE_ESCALATION = onlyById('handoff', 'tasks:resume', {
  operationId: 'acknowledgeEscalation',
  summary: 'Say that one looks after it; the first who does stands',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: {
    200: answers('Who looks after it', 'HandledEscalation'),
    ...escalationProblems([404], {
      409: 'It was resolved before',
      422: 'The body has another form',
    }),
  },
})

const RESOLVE_ESCALATION = onlyById('handoff', 'tasks:resume', {
  operationId: 'resolveEscalation',
  summary: 'Say that its task needs nobody any more, and why; the task stays as it is',
  body: ref('WhyRequest'),
  response: {
    200: answers('It is resolved', 'HandledEscalation'),
    ...escalationProblems([404], {
      409: 'It was resolved before, by somebody else or for another reason',
      422: 'The body has another form',
    }),
  },
})

const ESCALATION_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ESCALATION_UNKNOWN',
  detail: 'there is no escalation with this id',
  fix: 'GET /v2/escalations lists those that wait; use the id of the handoff.',
})

const escalationResolved = ({ resolvedBy }: EscalationView) =>
  new ProblemError({
    status: 409,
    code: 'BATON_ESCALATION_RESOLVED',
    detail:
      resolvedBy === null
        ? 'this escalation was resolved before: its task went on or was canceled'
        : `this escalation was resolved before, by ${resolvedBy}`,
    fix: 'Read its task to see how it stands.',
  })
