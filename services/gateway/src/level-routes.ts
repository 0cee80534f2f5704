// How the service stands against what it promises, for who has no Prometheus: read from the database, changes nothing.
import type { FastifyInstance } from 'fastify'
import type { LevelReporter } from '@baton/engine'
import { TRANSPORTS } from './level-schema.ts'
import { answers, only, problems } from './operation.ts'
import { FILTER_MAX, refusedRequest } from './refused-request.ts'

interface LevelQuery {
  Querystring: {
    readonly transport?: string
    readonly from?: string
    readonly to?: string
  }
}

export function addLevelRoutes(scope: FastifyInstance, { report }: LevelReporter): void {
  scope.get<LevelQuery>('/slo', READ_LEVELS, ({ query: { transport, from, to } }) =>
    report({ transport, fromAgent: from, toAgent: to }),
  )
}

const AGENT = { type: 'string', minLength: 1, maxLength: FILTER_MAX }

const READ_LEVELS = {
  ...only('metrics:read', {
    operationId: 'readServiceLevels',
    summary: 'Objectives, their budgets and how fast they burn, slow pairs, rates, and what waits',
    description:
      'Computed from counters that every process writes to the database each ten seconds, so that no Prometheus is needed; a process that is killed loses the last ten.',
    querystring: {
      type: 'object',
      properties: {
        transport: {
          enum: TRANSPORTS,
          description: 'Only objectives and pairs of this transport.',
        },
        from: { ...AGENT, description: 'Only pairs that this agent type hands on from.' },
        to: { ...AGENT, description: 'Only pairs that hand on to this agent type.' },
      },
    },
    response: { 200: answers('How the service stands', 'ServiceLevels'), ...problems([]) },
  }),
  schemaErrorFormatter: refusedRequest('query'),
}
