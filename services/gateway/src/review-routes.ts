// Dead letters over HTTP: look at the evidence, and decide as one person. The text needs a scope of its own.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Decider, ReadingRecorder, Redaction, Reviewer, ReviewOutcome } from '@baton/engine'
import { parseMessage } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import {
  CLUSTER_POSITION,
  countDeadLetterClusters,
  countDeadLetters,
  countReleasedDeadLetters,
  findDeadLetter,
  findStoredMessage,
  findTaskTraceparent,
  listDeadLetterClusters,
  listDeadLetters,
  listReleasedDeadLetters,
  listVotes,
} from '@baton/store'
import type { Pool } from '@baton/store'
import { operatorOf, readerOf } from './acting.ts'
import type { AuditReads } from './audit-reads.ts'
import { countedListOf, countedPageOf, FILTERED_CURSOR, readCursor, rowsFor } from './cursor.ts'
import { ProblemError } from '@baton/http/server'
import { answers, listQuery, onlyById, onlyList, problems, problemsIn, ref } from './operation.ts'
import type { ById, PageQuery } from './operation.ts'
import { readRecordedCase } from './recorded-case.ts'
import { FILTER_MAX } from './refused-request.ts'
import { DEAD_LETTER_UNKNOWN, throwRefusal } from './review-problems.ts'
import { VALID_HOURS_DEFAULT } from './review-schema.ts'
import { showCase } from './review-views.ts'
import { DECIDING, readDecisionHeader } from './signed-decision.ts'
import { showDeadLetter } from './views.ts'

interface ReviewRouteOptions {
  readonly pool: Pool
  readonly scanner: Scanner
  readonly reviewer: Reviewer
  readonly audit: Pick<AuditReads, 'trace'>
  readonly readings: ReadingRecorder
  readonly logger: Logger
}

export function addReviewRoutes(scope: FastifyInstance, options: ReviewRouteOptions): void {
  addReadingRoutes(scope, options)
  addMessageRoute(scope, options)
  addDecidingRoutes(scope, options)
}

interface DeadLettersQuery {
  Querystring: { limit: number; cursor?: string; reason?: string; cluster?: string }
}

interface ReleasedQuery {
  Querystring: { limit: number; cursor?: string; since?: string }
}

const CLUSTERS = { list: 'clusters' }

function addReadingRoutes(scope: FastifyInstance, options: ReviewRouteOptions): void {
  const { pool, scanner, audit } = options
  scope.get<DeadLettersQuery>('/dead-letters', LIST_DEAD_LETTERS, async ({ query }) => {
    const { limit, cursor, reason, cluster } = query
    const filter = { reason, cluster }
    const [rows, count] = await Promise.all([
      listDeadLetters(pool, {
        ...filter,
        limit: rowsFor(limit),
        cursor: readCursor(cursor, filter),
      }),
      countDeadLetters(pool, filter),
    ])
    const { page, shown } = countedPageOf(rows, { limit, filter, count })
    return { deadLetters: page.map(showDeadLetter), ...shown }
  })

  scope.get<PageQuery>('/dead-letters/clusters', LIST_CLUSTERS, async ({ query }) => {
    const { limit } = query
    const cursor = readCursor(query.cursor, CLUSTERS, CLUSTER_POSITION)
    const [clusters, count] = await Promise.all([
      listDeadLetterClusters(pool, { limit: rowsFor(limit), cursor }),
      countDeadLetterClusters(pool),
    ])
    const { page, shown } = countedPageOf(clusters, { limit, filter: CLUSTERS, count })
    return { clusters: page, ...shown }
  })

  scope.get<ReleasedQuery>('/dead-letters/released', LIST_RELEASED, async ({ query }) => {
    const { limit, cursor, since } = query
    const filter = { since }
    const [released, count] = await Promise.all([
      listReleasedDeadLetters(pool, {
        ...filter,
        limit: rowsFor(limit),
        cursor: readCursor(cursor, filter),
      }),
      countReleasedDeadLetters(pool, filter),
    ])
    const { page, shown } = countedPageOf(released, { limit, filter, count })
    return {
      deadLetters: page.map(({ rulesetVersion, ...rest }) => ({
        ...showDeadLetter(rest),
        artefactId: rulesetVersion,
      })),
      ...shown,
    }
  })

  scope.get<ById>('/dead-letters/:id', GET_DEAD_LETTER, async (request) => {
    const handoffId = request.params.id
    const deadLetter = await findDeadLetter(pool, handoffId)
    if (deadLetter === undefined) throw DEAD_LETTER_UNKNOWN
    const votes = await listVotes(pool, handoffId, deadLetter.quarantineAttempt)
    const { rulesetVersion } = scanner
    const recorded = await readRecordedCase(audit, deadLetter, votes)
    return showCase(deadLetter, { votes, operator: operatorOf(request), rulesetVersion, recorded })
  })
}

const FILTER = { type: 'string', maxLength: FILTER_MAX, pattern: String.raw`^\P{Cc}*$` }

const LIST_DEAD_LETTERS = onlyList('handoffs:read', {
  operationId: 'listDeadLetters',
  summary: 'Dead letters that wait for a person, oldest first',
  querystring: listQuery({ reason: FILTER, cluster: FILTER, cursor: FILTERED_CURSOR }),
  response: {
    200: answers(
      'The dead letters; [] where there is none',
      countedListOf('deadLetters', ref('DeadLetter')),
    ),
    ...problems([]),
  },
})

/** The problems of everything that reviewers do. */
export const reviewProblems = problemsIn({
  404: 'There is no such dead letter',
  422: 'The body has another form',
  429: 'Too many requests; see Retry-After',
  503: 'A database does not answer; see Retry-After',
})

const LIST_CLUSTERS = onlyList('handoffs:read', {
  operationId: 'listDeadLetterClusters',
  summary: 'Waiting dead letters by what they have in common, the largest cluster first',
  querystring: listQuery({ cursor: FILTERED_CURSOR }),
  response: {
    200: answers('The clusters', countedListOf('clusters', ref('DeadLetterCluster'))),
    ...reviewProblems([]),
  },
})

const SINCE = {
  type: 'string',
  format: 'date-time',
  description: 'Only what was decided at this moment or later.',
}

const LIST_RELEASED = onlyList('handoffs:read', {
  operationId: 'listReleasedDeadLetters',
  summary: 'What the scanner stopped and people released as it was, oldest decision first',
  querystring: listQuery({ since: SINCE, cursor: FILTERED_CURSOR }),
  response: {
    200: answers('The dead letters', countedListOf('deadLetters', ref('ReleasedDeadLetter'))),
    ...reviewProblems([]),
  },
})

const GET_DEAD_LETTER = onlyById('handoff', 'handoffs:read', {
  operationId: 'getDeadLetter',
  summary: 'One dead letter: evidence, proposals, and what is still needed; never the text',
  response: { 200: answers('The dead letter', 'DeadLetterCase'), ...reviewProblems([404]) },
})

// Whoever reads what was quarantined is on record before it is shown; the text is not.
function addMessageRoute(scope: FastifyInstance, options: ReviewRouteOptions): void {
  const { pool, readings, logger } = options
  scope.get<ById>('/dead-letters/:id/message', GET_MESSAGE, async (request) => {
    const handoffId = request.params.id
    const deadLetter = await findDeadLetter(pool, handoffId)
    const stored = await findStoredMessage(pool, handoffId)
    if (deadLetter === undefined || stored === undefined) throw DEAD_LETTER_UNKNOWN
    const { taskId } = deadLetter
    const traceparent = await findTaskTraceparent(pool, taskId)
    if (traceparent === undefined) throw DEAD_LETTER_UNKNOWN
    const reading = { text: 'quarantined-message', taskId, handoffId, traceparent } as const
    await readings.read(readerOf(request), [reading])
    logger.info({ event: 'review.read', handoffId, operator: operatorOf(request) })
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

const GET_MESSAGE = onlyById('handoff', 'dead-letters:review', {
  operationId: 'getDeadLetterMessage',
  summary: 'The quarantined message itself; who reads it is on record',
  response: {
    200: answers('The message; bytesBase64 where it is not JSON', {
      type: 'object',
      properties: {
        handoffId: { type: 'string', format: 'uuid' },
        keyId: { type: 'string' },
        signature: { type: 'string' },
        message: {},
        bytesBase64: { type: ['string', 'null'] },
      },
    }),
    ...reviewProblems([404]),
  },
})

interface Decision {
  readonly path: string
  readonly operation: {
    readonly operationId: string
    readonly summary: string
    readonly body: object
    readonly 'x-optional-body'?: true
  }
  /** Whether one vote may not be enough. */
  readonly needsVotes: boolean
  readonly decide: (
    reviewer: Reviewer,
    decider: Decider,
    body: DecisionBody,
  ) => Promise<ReviewOutcome>
}

interface DecisionBody {
  readonly validHours?: number
  readonly redactions?: readonly Redaction[]
  readonly proposal?: string
}

const DECISIONS: readonly Decision[] = [
  {
    path: 'release',
    operation: {
      operationId: 'releaseDeadLetter',
      summary: 'Vote to let it go on as it is; a safety violation needs two people',
      body: ref('ReleaseRequest'),
    },
    needsVotes: true,
    decide: (reviewer, decider, { validHours = VALID_HOURS_DEFAULT }) =>
      reviewer.release(decider, validHours),
  },
  {
    path: 'redact',
    operation: {
      operationId: 'redactDeadLetter',
      summary: 'Vote to let it go on with texts taken out and signed anew',
      body: ref('RedactRequest'),
    },
    needsVotes: true,
    decide: async (reviewer, decider, body) => reviewer.redact(decider, readRedactions(body)),
  },
  {
    path: 'discard',
    operation: {
      operationId: 'discardDeadLetter',
      summary: 'Give it up for good; its task fails where nothing else of it is open',
      'x-optional-body': true,
      body: ref('EmptyRequest'),
    },
    needsVotes: false,
    decide: (reviewer, decider) => reviewer.discard(decider),
  },
  {
    path: 'ask-sender',
    operation: {
      operationId: 'askSender',
      summary: 'Hand it back to its sender, whose correction takes its place',
      'x-optional-body': true,
      body: ref('EmptyRequest'),
    },
    needsVotes: false,
    decide: (reviewer, decider) => reviewer.askSender(decider),
  },
]

function addDecidingRoutes(scope: FastifyInstance, { reviewer, logger }: ReviewRouteOptions): void {
  for (const { path: action, operation, needsVotes, decide } of DECISIONS) {
    const response = {
      200: answers('Decided; repeated says that it had been decided so before', 'ReviewOutcome'),
      ...(needsVotes ? { 202: answers('Voted; more people are needed', 'ReviewOutcome') } : {}),
      ...reviewProblems([404], {
        403: "The key lacks the scope, the signature is missing or does not count, or the handoff is one's own",
        409: 'It was decided otherwise, or cannot be decided so',
        422: 'The body has another form, or names places that are not there',
      }),
    }
    const signing = action === 'ask-sender' ? {} : DECIDING
    const described = { ...operation, ...signing, response }
    const options = onlyById('handoff', 'dead-letters:review', described)
    scope.post<ById & { Body: DecisionBody }>(
      `/dead-letters/:id/${action}`,
      options,
      async (request, reply) => {
        const handoffId = request.params.id
        const operator = operatorOf(request)
        const decider = { handoffId, reviewer: operator, signed: readDecisionHeader(request) }
        const outcome = await decide(reviewer, decider, request.body)
        if (outcome.kind === 'refused') throwRefusal(outcome)
        logger.info({ event: 'review.decided', handoffId, operator, action, kind: outcome.kind })
        return answer(reply, handoffId, outcome)
      },
    )
  }
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

function readRedactions(body: DecisionBody): readonly Redaction[] | string {
  const asked = body.redactions ?? body.proposal
  if (asked !== undefined && (body.redactions === undefined || body.proposal === undefined))
    return asked
  throw new ProblemError({
    status: 422,
    code: 'BATON_REQUEST_INVALID',
    detail: 'either redactions or a proposal says what is taken out',
    fix: 'Send one of the two.',
  })
}
