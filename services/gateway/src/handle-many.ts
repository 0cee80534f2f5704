// Alerts and escalations handled many at once: a filter says which, a dry run how many that are, and no call handles more than
// a thousand.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from '@baton/runtime'
import {
  countMeantAlerts,
  countMeantEscalations,
  handleAlerts,
  HANDLED_MAX,
  handleEscalations,
} from '@baton/store'
import type { AlertSelection, Database, Handling, Pool } from '@baton/store'
import { operatorOf } from './acting.ts'
import { answers, only, problemsIn, ref } from './operation.ts'

interface HandleManyOptions {
  readonly pool: Pool
  readonly logger: Logger
}

interface Many {
  Body: { readonly filter: AlertSelection; readonly why?: string; readonly dryRun?: boolean }
}

interface Kind {
  readonly what: 'alerts' | 'escalations'
  count(db: Database, filter: AlertSelection, act: Handling['act']): Promise<number>
  handle(db: Database, filter: AlertSelection, handling: Handling): Promise<number>
}

const ALERTS: Kind = { what: 'alerts', count: countMeantAlerts, handle: handleAlerts }
const ESCALATIONS: Kind = {
  what: 'escalations',
  count: countMeantEscalations,
  handle: handleEscalations,
}

export function addHandleManyRoutes(
  scope: FastifyInstance,
  { pool, logger }: HandleManyOptions,
): void {
  const handling =
    ({ what, count, handle }: Kind, act: Handling['act']) =>
    async (request: FastifyRequest<Many>) => {
      const { filter, why = '', dryRun = false } = request.body
      const operator = operatorOf(request)
      const matching = await count(pool, filter, act)
      const handled = dryRun ? 0 : await handle(pool, filter, { act, actor: operator, why })
      if (handled > 0) logger.info({ event: 'alerts.handled', what, act, handled, operator })
      return { matching, handled, left: Math.max(0, matching - handled) }
    }
  scope.post<Many>('/alerts/acknowledge', ACKNOWLEDGE_ALERTS, handling(ALERTS, 'acknowledge'))
  scope.post<Many>('/alerts/close', CLOSE_ALERTS, handling(ALERTS, 'close'))
  scope.post<Many>(
    '/escalations/acknowledge',
    ACKNOWLEDGE_ESCALATIONS,
    handling(ESCALATIONS, 'acknowledge'),
  )
  scope.post<Many>('/escalations/resolve', RESOLVE_ESCALATIONS, handling(ESCALATIONS, 'close'))
}

const problems = problemsIn({
  422: 'The body has another form',
  429: 'Too many requests; see Retry-After',
  503: 'The database does not answer; see Retry-After',
})

const many = (operation: { operationId: string; summary: string }, request: string) =>
  only('tasks:resume', {
    ...operation,
    description: `At most ${HANDLED_MAX} at once: say it again while any are left. With dryRun nothing is changed, and the answer says how many are meant.`,
    body: ref(request),
    response: { 200: answers('How many were handled', 'HandledMany'), ...problems([422]) },
  })

const ACKNOWLEDGE_ALERTS = many(
  {
    operationId: 'acknowledgeAlerts',
    summary: 'Say that one looks after all open alerts that a filter means',
  },
  'AlertsRequest',
)
const CLOSE_ALERTS = many(
  {
    operationId: 'closeAlerts',
    summary: 'Say of all alerts that a filter means that they are over',
  },
  'AlertsWhyRequest',
)
const ACKNOWLEDGE_ESCALATIONS = many(
  {
    operationId: 'acknowledgeEscalations',
    summary: 'Say that one looks after all open escalations that a filter means',
  },
  'EscalationsRequest',
)
const RESOLVE_ESCALATIONS = many(
  {
    operationId: 'resolveEscalations',
    summary: 'Say of all escalations that a filter means that their tasks need nobody any more',
  },
  'EscalationsWhyRequest',
)
