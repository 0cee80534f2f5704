// Erasing people over HTTP: one person plans, another confirms, each with a signature. Who is meant stands in bodies only, never
// in a URL or log.
import { DEFAULT_TENANT, tenantOfOperator } from '@baton/ledger'
import type { People } from '@baton/ledger'
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { confirmErasure, planErasure, replayErasures } from '@baton/engine'
import { UUID_PATTERN } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import { findSubjectHandoffs } from '@baton/store'
import type { Pool } from '@baton/store'
import { keyOf, operatorOf } from './acting.ts'
import type { AuditErasures } from './audit-erasures.ts'
import { ProblemError } from '@baton/http/server'
import { countedListOf, CURSOR } from './cursor.ts'
import { answers, listQuery, only, onlyById, onlyList, problemsIn } from './operation.ts'
import type { ById } from './operation.ts'
import { DECIDING, readDecisionHeader, unsignedProblem } from './signed-decision.ts'

export interface ErasureReplayOptions {
  /** Of all tenants. */
  readonly everyPool: Pool
  readonly erasures: AuditErasures
  /** Whose decisions count. */
  readonly people: People
  readonly backupDays: number
  readonly logger: Logger
}

export interface ErasureRouteOptions extends ErasureReplayOptions {
  /** Of the caller's tenant. */
  readonly pool: Pool
}

interface Subject {
  readonly subject: string
}

interface ErasuresQuery {
  Querystring: { limit: number; cursor?: string; state?: string }
}

interface Planning extends Subject {
  readonly basis?: string
  readonly erasureId?: string
}

export function addErasureRoutes(scope: FastifyInstance, options: ErasureRouteOptions): void {
  const { pool, erasures, logger } = options

  /** Throws 404 for one of another tenant too. */
  const findOwn = async ({ id }: ById['Params'], request: FastifyRequest) => {
    const found = await erasures.find(id)
    if (tenantOfOperator(found.requestedBy) !== keyOf(request).tenant) throw ERASURE_UNKNOWN
    return found
  }

  scope.post<{ Body: Planning }>('/erasures', PLAN_ERASURE, async (request, reply) => {
    const { subject, basis = BASIS_DEFAULT, erasureId: id = randomUUID() } = request.body
    const operator = operatorOf(request)
    const signed = readDecisionHeader(request)
    const asked = { id, subject, basis, operator, signed, ...named(request) }
    const outcome = await planErasure(options, asked)
    if (outcome.kind === 'unsigned') throw unsignedProblem(outcome)
    const { erasureId, state } = outcome.plan
    logger.info({ event: 'erasure.planned', erasureId, operator, state })
    return reply.code(201).send(outcome.plan)
  })

  scope.post<ById & { Body: Subject }>(
    '/erasures/:id/confirm',
    CONFIRM_ERASURE,
    async (request) => {
      const planned = await findOwn(request.params, request)
      const operator = operatorOf(request)
      const { subject } = request.body
      const signed = readDecisionHeader(request)
      const confirmed = { subject, operator, signed, ...named(request) }
      const run = await confirmErasure(options, planned, confirmed)
      if (run.kind === 'open') throw stillOpen(run.handoffIds)
      if (run.kind === 'unsigned') throw unsignedProblem(run)
      logger.info({ event: 'erasure.completed', erasureId: planned.id, operator })
      return run.receipt
    },
  )

  scope.get<ErasuresQuery>('/erasures', LIST_ERASURES, (request) =>
    erasures.page({ ...request.query, tenant: keyOf(request).tenant }),
  )

  scope.get<ById>('/erasures/:id', READ_ERASURE, (request) => findOwn(request.params, request))

  scope.post('/erasures/replay', REPLAY_ERASURES, async (request) => {
    if (keyOf(request).tenant !== DEFAULT_TENANT) throw OF_ALL_TENANTS
    const replay = await replayErasures({ ...options, pool: options.everyPool })
    const { completed, unsigned, handoffs } = replay
    const operator = operatorOf(request)
    logger.info({ event: 'erasure.replayed', operator, completed, unsigned, handoffs })
    return replay
  })

  scope.post<{ Body: Subject }>('/subjects/search', SEARCH_SUBJECT, async (request) => {
    const { subject } = request.body
    const operator = operatorOf(request)
    const handoffs = await findSubjectHandoffs(pool, subject)
    const { records } = await erasures.search({ subject, ...named(request) })
    logger.info({ event: 'subject.searched', operator, handoffs: handoffs.length })
    return { handoffs, records }
  })
}

const OF_ALL_TENANTS = new ProblemError({
  status: 403,
  code: 'BATON_TENANT_REFUSED',
  detail: 'what is completed here is of all tenants',
  fix: 'Ask whoever has a key of the default tenant; the gateway also does this by itself, once a minute.',
})

const ERASURE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ERASURE_UNKNOWN',
  detail: 'there is no erasure with this id',
  fix: 'Use the erasureId that POST /v2/erasures answered.',
})

/** Of whose person is spoken: the caller's tenant, which the log does not name where it is the default one. */
function named(request: FastifyRequest): { readonly tenant: string | undefined } {
  const { tenant } = keyOf(request)
  return { tenant: tenant === DEFAULT_TENANT ? undefined : tenant }
}

/** The right to erasure in general; a request that rests on one of its grounds names it by its own code. */
const BASIS_DEFAULT = 'GDPR_ART_17_1'

const SUBJECT = {
  type: 'string',
  pattern: '^[^\\n\\u0000]{1,256}$',
  description: 'The id under which messages name the person in dataSubjects.',
}

const closed = (properties: object) => ({
  type: 'object',
  additionalProperties: false,
  required: ['subject'],
  properties,
})

const text = { type: 'string' }
const integer = { type: 'integer' }
const uuid = { type: 'string', format: 'uuid' }
const uuids = { type: 'array', items: uuid }
const objects = { type: 'array', items: { type: 'object' } }

/** An answer in which these members always stand, and perhaps others. */
const answer = (required: Record<string, object>, others: object = {}) => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...others },
})

const STORES = {
  type: 'array',
  items: answer({ name: text, before: integer, after: integer }, { note: text }),
}

const SIGNED = {
  type: ['object', 'null'],
  description:
    'What this person signed, as it stands in the record; null before people signed erasures.',
  required: ['keyId', 'signedAt', 'content', 'signature'],
  properties: { keyId: text, signedAt: text, content: text, signature: text },
}

const problems = problemsIn({
  403: 'The key lacks the scope, the signature is missing or does not count, or who planned an erasure confirms it',
  422: 'The body does not have this form',
  429: 'Too many requests',
  503: 'The database or the auditor does not answer, or nobody can be erased here',
})

const PLAN_ERASURE = only('erasures:plan', {
  operationId: 'planErasure',
  summary: 'Plan the erasure of a person; nothing is erased yet',
  ...DECIDING,
  body: closed({
    subject: SUBJECT,
    erasureId: {
      type: 'string',
      pattern: UUID_PATTERN,
      description:
        'Chosen by who plans it, as it is signed. Where it is missing, Baton-Decision-Needed names one: send that.',
    },
    basis: {
      type: 'string',
      pattern: '^[A-Z][A-Z0-9_]{0,63}$',
      default: BASIS_DEFAULT,
      description: 'The legal ground as a code; it stands in the audit record.',
    },
  }),
  response: {
    201: answers(
      'What would be erased, and what stands against it',
      answer({
        erasureId: uuid,
        state: { enum: ['PLANNED', 'DEFERRED'] },
        handoffs: integer,
        taskIds: uuids,
        openHandoffIds: uuids,
        heldTaskIds: uuids,
        stores: STORES,
      }),
    ),
    ...problems([422], { 409: 'Another erasure has this id' }),
  },
})

const CONFIRM_ERASURE = onlyById('erasure', 'erasures:approve', {
  operationId: 'confirmErasure',
  summary: 'Confirm as a second person, and erase; repeating it is safe',
  ...DECIDING,
  body: closed({ subject: SUBJECT }),
  response: {
    200: answers(
      'The signed receipt: every store with its counts, what the files under them can still hold, and the records that prove it',
      answer(
        {
          erasureId: uuid,
          stores: STORES,
          segments: { type: 'object' },
          records: objects,
          sha256: text,
          signature: text,
        },
        { storage: objects, backupDays: { type: ['integer', 'null'] } },
      ),
    ),
    ...problems([404, 422], {
      409: 'A handoff of the person is open, a legal hold stands, or the plan is about somebody else',
    }),
  },
})

const STATE = { enum: ['PLANNED', 'DEFERRED', 'CONFIRMED', 'ERASED', 'COMPLETED'] }

const ERASURE = answer(
  {
    id: uuid,
    state: STATE,
    basis: text,
    requestedBy: text,
    receipt: { type: ['object', 'null'] },
  },
  {
    requestedAt: { type: 'string', format: 'date-time' },
    confirmedBy: { type: ['string', 'null'] },
    confirmedAt: { type: ['string', 'null'], format: 'date-time' },
    completedAt: { type: ['string', 'null'], format: 'date-time' },
    requestedSigned: SIGNED,
    confirmedSigned: SIGNED,
    handoffIds: uuids,
    taskIds: uuids,
    proven: {
      type: 'boolean',
      description: 'Whether all of it is what the auditor signed; else somebody changed the table.',
    },
  },
)

const LIST_ERASURES = onlyList('erasures:plan', {
  operationId: 'listErasures',
  summary: "Erasures that people of the caller's tenant asked for, newest first",
  querystring: listQuery({ state: STATE, cursor: CURSOR }),
  response: {
    200: answers('The erasures; they name no person', countedListOf('erasures', ERASURE)),
    ...problems([]),
  },
})

const READ_ERASURE = onlyById('erasure', 'erasures:plan', {
  operationId: 'readErasure',
  summary: 'How far an erasure has come, with its receipt',
  response: { 200: answers('The erasure; it names no person', ERASURE), ...problems([404]) },
})

const REPLAY_ERASURES = only('erasures:approve', {
  operationId: 'replayErasures',
  summary: 'Complete interrupted erasures, and erase again what a restored database brought back',
  response: {
    200: answers(
      'What there was to do; nothing in the ordinary case',
      answer({ completed: uuids, unsigned: uuids, handoffs: integer, audit: { type: 'object' } }),
    ),
    ...problems([], { 409: 'Something of a person is still stored' }),
  },
})

const SEARCH_SUBJECT = only('erasures:plan', {
  operationId: 'searchSubject',
  summary: 'The tasks, handoffs and records that name a person, without any text',
  body: closed({ subject: SUBJECT }),
  response: {
    200: answers('Where the person stands', answer({ handoffs: objects, records: objects })),
    ...problems([422]),
  },
})

const SHOWN_MAX = 20

function stillOpen(handoffIds: readonly string[]): ProblemError {
  const shown = handoffIds.slice(0, SHOWN_MAX).join(', ')
  return new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_TASK_OPEN',
    detail: `${handoffIds.length} handoffs of this person are open, wait for a decision or wait to be recorded: ${shown}`,
    fix: 'Let them end, cancel them, or decide their dead letters; then confirm again.',
  })
}
