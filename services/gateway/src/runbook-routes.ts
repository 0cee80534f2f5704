// The runbooks of the alerts, for whoever follows the link of one: public text, and no other file.
import type { FastifyInstance } from 'fastify'
import { ProblemError } from '@baton/http/server'
import { readRunbook } from '@baton/infra/read-runbook'
import { open, problem } from './operation.ts'

export function addRunbookRoutes(scope: FastifyInstance): void {
  scope.get<{ Params: { name: string } }>(
    '/runbooks/:name',
    { ...READ_RUNBOOK, exposeHeadRoute: true },
    async ({ params: { name } }, reply) => {
      const page = await readRunbook(name)
      if (page === undefined) throw NO_SUCH_RUNBOOK
      reply.header('cache-control', 'public, max-age=300').type('text/markdown; charset=utf-8')
      return page
    },
  )
}

const READ_RUNBOOK = open({
  operationId: 'readRunbook',
  summary: 'What to do about an alert, for people',
  params: {
    type: 'object',
    properties: {
      name: {
        type: 'string',
        description: 'The alert’s name in lower case with hyphens, without Baton before it.',
        examples: ['outbox-stale.md'],
      },
    },
    required: ['name'],
  },
  response: {
    200: {
      description: 'The runbook',
      content: { 'text/markdown': { schema: { type: 'string' } } },
    },
    404: problem('There is no such thing'),
    429: problem('Too many requests, or too much waits for delivery; see Retry-After'),
  },
})

const NO_SUCH_RUNBOOK = new ProblemError({
  status: 404,
  code: 'BATON_RUNBOOK_UNKNOWN',
  detail: 'no alert has a runbook of this name',
  fix: 'infra/alerts.md lists every alert with its runbook.',
})
