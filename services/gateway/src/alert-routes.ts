// Alerts over HTTP: what is open, who looks after it, why it is over, and whether webhooks answer. Whoever was first stands;
// saying the same again is safe.
import type { FastifyInstance } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { Logger } from '@baton/runtime'
import {
  acknowledgeAlert,
  ALERT_STATES,
  closeAlertById,
  countListedAlerts,
  findAlert,
  findAlertWebhookTest,
  listAlertChanges,
  listAlerts,
  testAlertWebhooks,
} from '@baton/store'
import type { AlertFilter, AlertView, Pool } from '@baton/store'
import { operatorOf } from './acting.ts'
import { ALERT_SELECTION } from './alert-selection-schema.ts'
import { CURSOR, pageOf, rowsFor, totalOf } from './cursor.ts'
import { answers, listQuery, only, onlyById, onlyList, problemsIn, ref } from './operation.ts'
import type { ById } from './operation.ts'

interface AlertRouteOptions {
  readonly pool: Pool
  readonly logger: Logger
}

export function addAlertRoutes(scope: FastifyInstance, options: AlertRouteOptions): void {
  addAlerts(scope, options)
  addTests(scope, options)
}

// Where a list goes on is said once, by nextCursor.
const showAlert = (alert: AlertView) => ({
  ...alert,
  position: undefined,
  links: { self: `/v2/alerts/${alert.alertId}` },
})

interface Explained extends ById {
  Body: { readonly why: string }
}

function addAlerts(scope: FastifyInstance, { pool, logger }: AlertRouteOptions): void {
  scope.get<{ Querystring: AlertFilter }>('/alerts', LIST_ALERTS, async ({ query }) => {
    const { limit, cursor, ...meant } = query
    const [alerts, count] = await Promise.all([
      listAlerts(pool, { ...meant, cursor, limit: rowsFor(limit) }),
      countListedAlerts(pool, meant),
    ])
    const { page, nextCursor } = pageOf(alerts, limit)
    return { alerts: page.map(showAlert), nextCursor, ...totalOf(count) }
  })

  scope.get<ById>('/alerts/:id', GET_ALERT, async ({ params }) => ({
    ...showAlert(await alertOf(params.id)),
    history: await listAlertChanges(pool, params.id),
  }))

  scope.post<ById>('/alerts/:id/acknowledge', ACKNOWLEDGE_ALERT, async (request) => {
    const { id: alertId } = request.params
    const operator = operatorOf(request)
    const isDone = await acknowledgeAlert(pool, alertId, operator)
    const alert = await alertOf(alertId)
    if (!isDone && alert.state === 'closed') throw alertClosed(alert)
    if (isDone) logger.info({ event: 'alert.acknowledged', alertId, operator })
    return { ...showAlert(alert), repeated: !isDone }
  })

  scope.post<Explained>('/alerts/:id/close', CLOSE_ALERT, async (request) => {
    const { id: alertId } = request.params
    const { why } = request.body
    const operator = operatorOf(request)
    const isDone = await closeAlertById(pool, { alertId, actor: operator, why })
    const alert = await alertOf(alertId)
    const isSame = alert.closedBy === operator && alert.closedWhy === why
    if (!isDone && !isSame) throw alertClosed(alert)
    if (isDone) logger.info({ event: 'alert.closed', alertId, operator })
    return { ...showAlert(alert), repeated: !isDone }
  })

  async function alertOf(alertId: string): Promise<AlertView> {
    const alert = await findAlert(pool, alertId)
    if (alert === undefined) throw ALERT_UNKNOWN
    return alert
  }
}

function addTests(scope: FastifyInstance, { pool, logger }: AlertRouteOptions): void {
  scope.post('/alerts/tests', TEST_WEBHOOKS, async (request, reply) => {
    const operator = operatorOf(request)
    const testId = await testAlertWebhooks(pool, operator)
    logger.info({ event: 'alert.test', testId, operator })
    return reply.code(202).send({ testId, isPlanned: false, webhooks: [] })
  })

  scope.get<ById>('/alerts/tests/:id', GET_TEST, async ({ params }) => {
    const test = await findAlertWebhookTest(pool, params.id)
    if (test === undefined) throw TEST_UNKNOWN
    return test
  })
}

const problems = problemsIn({
  404: 'There is no such alert',
  422: 'The body has another form',
  429: 'Too many requests; see Retry-After',
  503: 'The database does not answer; see Retry-After',
})

const LIST_ALERTS = onlyList('handoffs:read', {
  operationId: 'listAlerts',
  summary: 'Alerts that are not closed, or of one state; the newest first',
  querystring: listQuery({
    state: { enum: ALERT_STATES },
    ...ALERT_SELECTION,
    cursor: CURSOR,
  }),
  response: { 200: answers('The alerts; [] where there is none', 'Alerts'), ...problems([]) },
})

const GET_ALERT = onlyById('alert', 'handoffs:read', {
  operationId: 'getAlert',
  summary: 'One alert with its history',
  response: { 200: answers('The alert', 'AlertWithHistory'), ...problems([404]) },
})

const ACKNOWLEDGE_ALERT = onlyById('alert', 'tasks:resume', {
  operationId: 'acknowledgeAlert',
  summary: 'Say that one looks after it; the first who does stands',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: {
    200: answers('Who looks after it', 'HandledAlert'),
    ...problems([404], { 409: 'It was closed before', 422: 'The body has another form' }),
  },
})

const CLOSE_ALERT = onlyById('alert', 'tasks:resume', {
  operationId: 'closeAlert',
  summary: 'Say that it is over, and why; what comes after it is another alert',
  body: ref('WhyRequest'),
  response: {
    200: answers('It is closed', 'HandledAlert'),
    ...problems([404], {
      409: 'It was closed before, by somebody else or for another reason',
      422: 'The body has another form',
    }),
  },
})

const TEST_WEBHOOKS = only('tasks:resume', {
  operationId: 'testAlertWebhooks',
  summary: 'Have every webhook of alerts told something that is no alert',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: {
    202: answers('It is told within seconds; ask for the test by its id', 'AlertWebhookTest'),
    ...problems([], { 422: 'The body has another form' }),
  },
})

const GET_TEST = onlyById('test', 'handoffs:read', {
  operationId: 'getAlertWebhookTest',
  summary: 'How a test of the webhooks stands; kept for a week',
  response: {
    200: answers('Each webhook, and whether it has it', 'AlertWebhookTest'),
    ...problems([], { 404: 'There is no such test' }),
  },
})

const ALERT_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ALERT_UNKNOWN',
  detail: 'there is no alert with this id',
  fix: 'GET /v2/alerts lists those that are open; what was closed is forgotten after 90 days.',
})
const TEST_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ALERT_TEST_UNKNOWN',
  detail: 'there is no test with this id',
  fix: 'Use the testId that POST /v2/alerts/tests answered within a week.',
})

const alertClosed = ({ closedBy }: AlertView) =>
  new ProblemError({
    status: 409,
    code: 'BATON_ALERT_CLOSED',
    detail: `this alert was closed before, ${closedBy === null ? 'by itself' : `by ${closedBy}`}`,
    fix: 'Read it to see why. What came since is another alert; GET /v2/alerts lists it.',
  })
