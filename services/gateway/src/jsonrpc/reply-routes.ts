// GET /v2/session-replies: what session peers could not be told, for the operator.
import type { FastifyInstance } from 'fastify'
import { listDeadSessionReplies } from '@baton/store'
import type { Pool } from '@baton/store'
import { answers, onlyList, problems } from '../operation.ts'
import type { ListQuery } from '../operation.ts'

export function addSessionReplyRoutes(
  scope: FastifyInstance,
  { pool }: { readonly pool: Pool },
): void {
  scope.get<ListQuery>('/session-replies', LIST, async ({ query }) => ({
    replies: await listDeadSessionReplies(pool, query.limit),
  }))
}

const text = { type: 'string' }
const instant = { type: 'string', format: 'date-time' }

const LIST = onlyList('handoffs:read', {
  operationId: 'listSessionReplies',
  summary: 'Replies that no session peer took until the end of trying, newest first',
  response: {
    200: answers('They are kept for a month', {
      type: 'object',
      properties: {
        replies: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              handoffId: { type: 'string', format: 'uuid' },
              messageId: { type: 'string', format: 'uuid' },
              peer: text,
              contextId: text,
              taskId: text,
              replySchema: text,
              attempts: { type: 'integer' },
              createdAt: instant,
              dueAt: { type: ['string', 'null'], format: 'date-time' },
              deadAt: instant,
              lastError: { type: ['string', 'null'], description: 'A code.' },
            },
          },
        },
      },
    }),
    ...problems([]),
  },
})
