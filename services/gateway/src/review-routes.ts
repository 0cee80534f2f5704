// Dead letters over HTTP: look at the evidence, and decide as one person. The text needs a scope of its own.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Redaction, Reviewer, ReviewOutcome } from '@baton/engine'
import { parseMessage } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import {
  findDeadLetter,
  findStoredMessage,
  listDeadLetterClusters,
  listDeadLetters,
  listVotes,
} from '@baton/store'
import type { Pool } from '@baton/store'
import { bodyOf, operatorOf } from './acting.ts'
import { ProblemError } from './problem.ts'
import { readFilterText, readLimit, readUuid } from './read-parameters.ts'
import type { ById, ListQuery } from './read-parameters.ts'
import { requireScope } from './request-context.ts'
import { DEAD_LETTER_UNKNOWN, throwRefusal } from './review-problems.ts'
import {
  EMPTY_REQUEST,
  REDACT_REQUEST,
  RELEASE_REQUEST,
  VALID_HOURS_DEFAULT,
} from './review-schema.ts'
import { showCase } from './review-views.ts'
import { showDeadLetter } from './views.ts'

interface ReviewRouteOptions {
  readonly pool: Pool
  readonly scanner: Scanner
  readonly reviewer: Reviewer
  readonly logger: Logger
}

export function addReviewRoutes(server: FastifyInstance, options: ReviewRouteOptions): void {
  addReadingRoutes(server, options)
  addMessageRoute(server, options)
  addDecidingRoutes(server, options)
}

function addReadingRoutes(server: FastifyInstance, { pool, scanner }: ReviewRouteOptions): void {
  const onlyReaders = { preParsing: requireScope('handoffs:read') }

  server.get<ListQuery>('/v2/dead-letters', onlyReaders, async ({ query }) => {
    const letters = await listDeadLetters(pool, {
      limit: readLimit(query['limit']),
      reason: readFilterText(query['reason'], 'reason'),
      cluster: readFilterText(query['cluster'], 'cluster'),
    })
    return { deadLetters: letters.map(showDeadLetter) }
  })

  server.get<ListQuery>('/v2/dead-letters/clusters', onlyReaders, async ({ query }) => ({
    clusters: await listDeadLetterClusters(pool, readLimit(query['limit'])),
  }))

  server.get<ById>('/v2/dead-letters/:id', onlyReaders, async (request) => {
    const handoffId = readUuid(request.params.id, 'handoff')
    const letter = await findDeadLetter(pool, handoffId)
    if (letter === undefined) throw DEAD_LETTER_UNKNOWN
    const votes = await listVotes(pool, handoffId, letter.round)
    const { artefactId } = scanner
    return showCase(letter, { votes, operator: operatorOf(request), artefactId })
  })
}

// Whoever reads what was quarantined is in the log by name; the text is not.
function addMessageRoute(server: FastifyInstance, { pool, logger }: ReviewRouteOptions): void {
  const onlyReviewers = { preParsing: requireScope('dead-letters:review') }
  server.get<ById>('/v2/dead-letters/:id/message', onlyReviewers, async (request) => {
    const handoffId = readUuid(request.params.id, 'handoff')
    const letter = await findDeadLetter(pool, handoffId)
    const stored = await findStoredMessage(pool, handoffId)
    if (letter === undefined || stored === undefined) throw DEAD_LETTER_UNKNOWN
    const operator = operatorOf(request)
    logger.info({ event: 'review.read', handoffId, operator })
    const parsed = parseMessage(stored.body)
    const { body, keyId, signature } = stored
    return {
      handoffId,
      keyId,
      signature,
      message: parsed.ok ? parsed.value : null,
      bytesBase64: parsed.ok ? null : Buffer.from(body).toString('base64'),
    }
  })
}

function addDecidingRoutes(server: FastifyInstance, options: ReviewRouteOptions): void {
  const { reviewer, logger } = options
  const onlyReviewers = { preParsing: requireScope('dead-letters:review') }
  const decide = (
    action: string,
    work: (request: FastifyRequest, decider: Decider) => Promise<ReviewOutcome>,
  ) =>
    server.post<ById>(`/v2/dead-letters/:id/${action}`, onlyReviewers, async (request, reply) => {
      const handoffId = readUuid(request.params.id, 'handoff')
      const decider = { handoffId, reviewer: operatorOf(request) }
      const outcome = await work(request, decider)
      if (outcome.kind === 'refused') throwRefusal(outcome)
      const { reviewer: operator } = decider
      logger.info({ event: 'review.decided', handoffId, operator, action, kind: outcome.kind })
      return answer(reply, handoffId, outcome)
    })

  decide('release', (request, decider) => {
    const body = bodyOf<{ validHours?: number }>(request, RELEASE_REQUEST)
    return reviewer.release(decider, body.validHours ?? VALID_HOURS_DEFAULT)
  })
  decide('redact', (request, decider) => reviewer.redact(decider, readRedactions(request)))
  decide('discard', (request, decider) => {
    bodyOf(request, EMPTY_REQUEST)
    return reviewer.discard(decider)
  })
  decide('ask-sender', (request, decider) => {
    bodyOf(request, EMPTY_REQUEST)
    return reviewer.askSender(decider)
  })
}

interface Decider {
  readonly handoffId: string
  readonly reviewer: string
}

function answer(
  reply: FastifyReply,
  handoffId: string,
  outcome: Exclude<ReviewOutcome, { kind: 'refused' }>,
) {
  const { kind, ...rest } = outcome
  const links = { self: `/v2/dead-letters/${handoffId}`, handoff: `/v2/handoffs/${handoffId}` }
  return reply
    .code(kind === 'waiting' ? 202 : 200)
    .send({ handoffId, outcome: kind, ...rest, links })
}

function readRedactions(request: FastifyRequest): readonly Redaction[] | string {
  const body = bodyOf<{ redactions?: readonly Redaction[]; proposal?: string }>(
    request,
    REDACT_REQUEST,
  )
  const asked = body.redactions ?? body.proposal
  if (asked !== undefined && (body.redactions === undefined || body.proposal === undefined))
    return asked
  throw new ProblemError({
    status: 422,
    code: 'BATON_REQUEST_INVALID',
    detail: 'Either redactions or a proposal says what is taken out',
    fix: 'Send one of the two.',
  })
}
