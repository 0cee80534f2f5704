// Erasing people over HTTP: one person plans, another confirms. Who is meant stands in bodies only, never in a URL or log.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { confirmErasure, planErasure, replayErasures } from '@baton/engine'
import type { Logger } from '@baton/runtime'
import { findSubjectHandoffs } from '@baton/store'
import type { Pool } from '@baton/store'
import { bodyOf, operatorOf } from './acting.ts'
import type { AuditErasures } from './audit-erasures.ts'
import { ProblemError } from './problem.ts'
import { readUuid } from './read-parameters.ts'
import type { ById } from './read-parameters.ts'
import { requireScope } from './request-context.ts'

export interface ErasureRouteOptions {
  readonly pool: Pool
  readonly erasures: AuditErasures
  readonly logger: Logger
}

const SUBJECT = { type: 'string', pattern: '^[^\\n]{1,256}$' }
const PLAN_REQUEST = {
  type: 'object',
  additionalProperties: false,
  required: ['subject'],
  properties: {
    subject: SUBJECT,
    basis: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' },
  },
}
const SUBJECT_REQUEST = {
  type: 'object',
  additionalProperties: false,
  required: ['subject'],
  properties: { subject: SUBJECT },
}

/** The right to erasure in general; a request that rests on one of its grounds names it by its own code. */
const BASIS_DEFAULT = 'GDPR_ART_17_1'

interface Subject {
  readonly subject: string
}

export function addErasureRoutes(server: FastifyInstance, options: ErasureRouteOptions): void {
  const { pool, erasures, logger } = options
  const onlyPlanners = { preParsing: requireScope('erasures:plan') }
  const onlyApprovers = { preParsing: requireScope('erasures:approve') }

  server.post('/v2/erasures', onlyPlanners, async (request, reply) => {
    const { subject, basis = BASIS_DEFAULT } = bodyOf<Subject & { readonly basis?: string }>(
      request,
      PLAN_REQUEST,
    )
    const operator = operatorOf(request)
    const plan = await planErasure(options, { id: randomUUID(), subject, basis, operator })
    const { erasureId, state } = plan
    logger.info({ event: 'erasure.planned', erasureId, operator, state })
    return reply.code(201).send(plan)
  })

  server.post<ById>('/v2/erasures/:id/confirm', onlyApprovers, async (request) => {
    const id = readUuid(request.params.id, 'erasure')
    const { subject } = bodyOf<Subject>(request, SUBJECT_REQUEST)
    const operator = operatorOf(request)
    const run = await confirmErasure(options, { id, subject, operator })
    if (run.kind === 'open') throw stillOpen(run.handoffIds)
    logger.info({ event: 'erasure.completed', erasureId: id, operator })
    return run.receipt
  })

  server.get<ById>('/v2/erasures/:id', onlyPlanners, (request) =>
    erasures.find(readUuid(request.params.id, 'erasure')),
  )

  server.post('/v2/erasures/replay', onlyApprovers, async (request) => {
    const replay = await replayErasures(options)
    const { completed, handoffs } = replay
    const operator = operatorOf(request)
    logger.info({ event: 'erasure.replayed', operator, completed, handoffs })
    return replay
  })

  server.post('/v2/subjects/search', onlyPlanners, async (request) => {
    const { subject } = bodyOf<Subject>(request, SUBJECT_REQUEST)
    const operator = operatorOf(request)
    const handoffs = await findSubjectHandoffs(pool, subject)
    const { records } = await erasures.search(subject)
    logger.info({ event: 'subject.searched', operator, handoffs: handoffs.length })
    return { handoffs, records }
  })
}

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
