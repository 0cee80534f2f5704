// Erasure over HTTP, for the gateway alone: it knows which people ask and confirm, and names them.
import { COUNTED_MAX, withSigners } from '@baton/audit'
import type { Eraser, Erasure, ErasurePlan, ErasureState } from '@baton/audit'
import type { CompleteRequest, ConfirmRequest, SubjectRequest } from './erasure-shapes.ts'
import {
  COMPLETE,
  CONFIRM,
  ERASURE_STATES,
  LIMIT_DEFAULT,
  LIST,
  PLAN,
  SEARCH,
  WITHOUT_BODY,
} from './erasure-shapes.ts'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { RequireToken } from '@baton/http/server'
import { ERASURE_UNKNOWN } from './erasure-shapes.ts'
import { readDecisionHeader, unsigned } from './signed-decision.ts'

export interface ErasureRoutes {
  /** Undefined where this auditor has no eraser's role. */
  readonly eraser: Eraser | undefined
  readonly mayErase: RequireToken
  readonly sign: (content: object) => object
  readonly ended: Metrics['auditErasuresTotal']
  readonly logger: Logger
}

interface ById {
  Params: { readonly id: string }
}

interface ListQuery {
  Querystring: {
    readonly state?: ErasureState
    readonly tenant?: string
    readonly cursor?: string
    readonly limit?: string
  }
}

export function addErasureRoutes(server: FastifyInstance, options: ErasureRoutes): void {
  const { mayErase, logger } = options
  const guard = {
    onRequest: async ({ headers }: FastifyRequest) => mayErase(headers.authorization),
  }
  const eraser = (): Eraser => {
    if (options.eraser === undefined) throw ERASURE_OFF
    return options.eraser
  }
  const countFailure = (error: unknown): never => {
    options.ended.failed.inc()
    throw error
  }

  addDecidingRoutes(server, options, { guard, eraser, countFailure })

  server.post<ById & { Body: CompleteRequest }>(
    '/v1/erasures/:id/complete',
    { ...guard, ...COMPLETE },
    async ({ params: { id }, body }) => {
      const known = await eraser().find(id)
      if (known === undefined) throw ERASURE_UNKNOWN
      if (!known.proven) throw REFUSALS.unproven
      if (known.confirmedBy === null) throw ERASURE_UNCONFIRMED
      if (known.receipt !== null) return known.receipt
      const receipt = await complete(options, id, body).catch(countFailure)
      options.ended.completed.inc()
      logger.info({ event: 'erasure.completed', erasureId: id })
      return receipt
    },
  )

  server.get<ById>('/v1/erasures/:id', { ...guard, ...WITHOUT_BODY }, async ({ params }) => {
    const erasure = await eraser().find(params.id)
    if (erasure === undefined) throw ERASURE_UNKNOWN
    return show(erasure)
  })

  server.get<ListQuery>('/v1/erasures', { ...guard, ...LIST }, async ({ query }) => {
    const { state, tenant, cursor, limit = LIMIT_DEFAULT } = query
    const filter = { states: state === undefined ? ERASURE_STATES : [state], tenant }
    const [found, count] = await Promise.all([
      eraser().list({ ...filter, cursor, limit: Number(limit) + 1 }),
      eraser().count(filter),
    ])
    const page = found.slice(0, Number(limit))
    return {
      erasures: page.map(show),
      nextCursor: found.length > page.length ? (page.at(-1)?.position ?? null) : null,
      total: Math.min(count, COUNTED_MAX),
      totalIsExact: count <= COUNTED_MAX,
    }
  })

  server.post('/v1/erasures/replay', guard, () => eraser().replay())

  server.post<{ Body: SubjectRequest }>(
    '/v1/subjects/search',
    { ...guard, ...SEARCH },
    async ({ body }) => ({
      records: await eraser().search(body),
    }),
  )
}

interface Deciding {
  readonly guard: { readonly onRequest: (request: FastifyRequest) => Promise<void> }
  readonly eraser: () => Eraser
  readonly countFailure: (error: unknown) => never
}

/** What people decide and sign: the plan, and its confirmation. */
function addDecidingRoutes(
  server: FastifyInstance,
  { logger }: ErasureRoutes,
  { guard, eraser, countFailure }: Deciding,
): void {
  server.post<{ Body: Omit<ErasurePlan, 'signedDecision'> }>(
    '/v1/erasures',
    { ...guard, ...PLAN },
    async (request) => {
      const signedDecision = readDecisionHeader(request)
      const outcome = await eraser().plan({ ...request.body, signedDecision })
      if (outcome.kind === 'unsigned') throw unsigned(outcome, UNSIGNED_ERASURE)
      if (outcome.kind === 'taken') throw ERASURE_TAKEN
      const { kind: _, ...planned } = outcome
      const { id, requestedBy } = request.body
      logger.info({
        event: 'erasure.planned',
        erasureId: id,
        operator: requestedBy,
        state: planned.state,
      })
      return planned
    },
  )

  server.post<ById & { Body: ConfirmRequest }>(
    '/v1/erasures/:id/confirm',
    { ...guard, ...CONFIRM },
    async (request) => {
      const { body } = request
      const { id } = request.params
      const signedDecision = readDecisionHeader(request)
      const confirmed = await eraser()
        .confirm({ ...body, id, signedDecision })
        .catch(countFailure)
      if (confirmed.kind === 'unsigned') throw unsigned(confirmed, UNSIGNED_ERASURE)
      if (confirmed.kind === 'refused') throw REFUSALS[confirmed.why]
      logger.info({ event: 'erasure.confirmed', erasureId: id, operator: body.confirmedBy })
      return show(confirmed.erasure)
    },
  )
}

/** Ends it with a signed receipt; throws where anything of the person is still there. */
async function complete(
  { eraser, sign }: ErasureRoutes,
  id: string,
  { stores, storage = [], backupDays = null }: CompleteRequest,
): Promise<object> {
  if (eraser === undefined) throw ERASURE_OFF
  if (stores.some((store) => store.after > 0)) throw ERASURE_INCOMPLETE
  const outcome = await eraser.complete(id)
  const all = [...stores, ...outcome.stores]
  const { missing, mismatch } = outcome.verdicts
  if (all.some((store) => store.after > 0) || missing + mismatch > 0) {
    throw ERASURE_INCOMPLETE
  }
  const { erasure, verdicts, records } = outcome
  const { basis, requestedBy, confirmedBy, requestedAt, confirmedAt } = erasure
  const { requestedSigned, confirmedSigned } = withSigners(erasure)
  const receipt = sign({
    receiptVersion: 1,
    erasureId: id,
    basis,
    requestedBy,
    requestedAt,
    confirmedBy,
    confirmedAt,
    requestedSigned,
    confirmedSigned,
    tasks: erasure.taskIds,
    handoffs: erasure.handoffIds,
    stores: all,
    storage: [...storage, ...outcome.storage],
    backupDays,
    segments: verdicts,
    records,
  })
  await eraser.file(id, receipt)
  return receipt
}

/** What the auditor signed of it is the auditor's to check; what people signed, everybody's. */
const show = (erasure: Erasure) => ({
  ...withSigners(erasure),
  signed: undefined,
  // Where a list goes on is said once, by nextCursor.
  position: undefined,
})

const UNSIGNED_ERASURE = {
  detail:
    'an erasure takes the signatures of who plans and of who confirms it, with keys and the role compliance that count here',
  fix: 'Sign what Baton-Decision-Needed names and send it as Baton-Decision; `baton erase` does it by itself. Give the auditor the BATON_PEOPLE of the gateways.',
}

const ERASURE_TAKEN = new ProblemError({
  status: 409,
  code: 'BATON_ERASURE_TAKEN',
  detail: 'another erasure has this id, or what was planned under it has gone on',
  fix: 'Plan it with an id of its own, or confirm what is planned.',
})

const ERASURE_OFF = new ProblemError({
  status: 503,
  code: 'BATON_ERASURE_OFF',
  detail: 'this auditor does not hold the role that erases',
  fix: 'Set BATON_AUDIT_ERASER_URL and BATON_AUDIT_ERASE_TOKEN for the auditor.',
})

const ERASURE_UNCONFIRMED = new ProblemError({
  status: 409,
  code: 'BATON_ERASURE_UNCONFIRMED',
  detail: 'the erasure is planned, and no second person has confirmed it: nothing was erased',
  fix: 'Have another person confirm it with a key of their own.',
})

const ERASURE_INCOMPLETE = new ProblemError({
  status: 409,
  code: 'BATON_ERASURE_INCOMPLETE',
  detail: 'something of the person is still stored, or a segment is missing that no erasure names',
  fix: 'Run the erasure again; if it stays, run `baton verify`: a missing segment is tampering.',
})

const REFUSALS = {
  unknown: ERASURE_UNKNOWN,
  own: new ProblemError({
    status: 403,
    code: 'BATON_ERASURE_OWN',
    detail: 'who planned an erasure does not confirm it',
    fix: 'Have another person confirm it with a key of their own.',
  }),
  other_subject: new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_OTHER_SUBJECT',
    detail: 'the erasure was planned for somebody else',
    fix: 'Name the person whom the plan is about.',
  }),
  held: new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_DEFERRED',
    detail: 'a legal hold stands on a task of this person',
    fix: 'Have the hold lifted, then plan the erasure again.',
  }),
  unproven: new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_UNPROVEN',
    detail: 'what the table says of this erasure is not what an auditor signed',
    fix: 'Plan it again, and run `baton verify`, which names what was changed.',
  }),
  unsigned_plan: new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_PLAN_UNSIGNED',
    detail: 'nobody whose decisions count here has signed the plan',
    fix: 'Plan it again: plans of earlier versions are not signed, and a key can have been taken out of BATON_PEOPLE.',
  }),
  state: new ProblemError({
    status: 409,
    code: 'BATON_ERASURE_DEFERRED',
    detail: 'the erasure was deferred because of a legal hold',
    fix: 'Plan it again once the hold is lifted.',
  }),
}
