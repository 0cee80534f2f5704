// GET /v2/session-replies: what session peers could not be told, for the operator.
import type { FastifyInstance } from 'fastify'
import { countDeadSessionReplies, listDeadSessionReplies } from '@baton/store'
import type { Pool } from '@baton/store'
import { countedListOf, countedPageOf, FILTERED_CURSOR, readCursor, rowsFor } from '../cursor.ts'
import { answers, listQuery, onlyList, problems } from '../operation.ts'
import type { PageQuery } from '../operation.ts'

export function addSessionReplyRoutes(
  scope: FastifyInstance,
  { pool }: { readonly pool: Pool },
): void {
  scope.get<PageQuery>('/session-replies', LIST, async ({ query: { limit, cursor } }) => {
    const position = readCursor(cursor, REPLIES)
    const [replies, count] = await Promise.all([
      listDeadSessionReplies(pool, { limit: rowsFor(limit), cursor: position }),
      countDeadSessionReplies(pool),
    ])
    const { page, shown } = countedPageOf(replies, { limit, filter: REPLIES, count })
    return { replies: page, ...shown }
  })
}

const REPLIES = { list: 'session replies' }

const text = { type: 'string' }
const instant = { type: 'string', format: 'date-time' }

const REPLY = {
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
}

const LIST = onlyList('handoffs:read', {
  operationId: 'listSessionReplies',
  summary: 'Replies that no session peer took until the end of trying, newest first',
  querystring: listQuery({ cursor: FILTERED_CURSOR }),
  response: {
    200: answers('They are kept for a month', countedListOf('replies', REPLY)),
    ...problems([]),
  },
})
