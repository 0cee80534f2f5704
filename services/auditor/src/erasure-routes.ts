// Erasure over HTTP, for the gateway alone: it knows which people ask and confirm, and names them.
import type { Eraser, ErasedStore, Erasure } from '@baton/audit'
import { readBody } from './erasure-shapes.ts'
import type {
  CompleteRequest,
  ConfirmRequest,
  PlanRequest,
  SubjectRequest,
} from './erasure-shapes.ts'
import type { Logger } from '@baton/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RequireToken } from './access.ts'
import { ProblemError } from './problem.ts'
import type { Problem } from './problem.ts'

export interface ErasureRoutes {
  /** Undefined where this auditor has no eraser's role. */
  readonly eraser: Eraser | undefined
  readonly mayErase: RequireToken
  readonly sign: (content: object) => object
  readonly logger: Logger
}

interface ById {
  readonly Params: { readonly id: string }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function addErasureRoutes(server: FastifyInstance, options: ErasureRoutes): void {
  const { mayErase, logger } = options
  const guard = {
    onRequest: async ({ headers }: FastifyRequest) => mayErase(headers.authorization),
  }
  const eraser = (): Eraser => {
    if (options.eraser === undefined) throw new ProblemError(ERASURE_OFF)
    return options.eraser
  }

  server.post('/v1/erasures', guard, async ({ body }) => {
    const plan = readBody<PlanRequest>(body, 'plan')
    const planned = await eraser().plan(plan)
    const { id, requestedBy } = plan
    logger.info({
      event: 'erasure.planned',
      erasureId: id,
      operator: requestedBy,
      state: planned.state,
    })
    return planned
  })

  server.post<ById>('/v1/erasures/:id/confirm', guard, async ({ params, body }) => {
    const id = idOf(params.id)
    const request = readBody<ConfirmRequest>(body, 'confirm')
    const confirmed = await eraser().confirm({ ...request, id })
    if (confirmed.kind === 'refused') throw new ProblemError(REFUSALS[confirmed.why])
    logger.info({ event: 'erasure.confirmed', erasureId: id, operator: request.confirmedBy })
    return show(confirmed.erasure)
  })

  server.post<ById>('/v1/erasures/:id/complete', guard, async ({ params, body }) => {
    const id = idOf(params.id)
    const { stores } = readBody<CompleteRequest>(body, 'complete')
    const known = await eraser().find(id)
    if (known === undefined) throw new ProblemError(REFUSALS.unknown)
    if (known.receipt !== null) return known.receipt
    const receipt = await complete(options, { id, stores })
    logger.info({ event: 'erasure.completed', erasureId: id })
    return receipt
  })

  server.get<ById>('/v1/erasures/:id', guard, async ({ params }) => {
    const erasure = await eraser().find(idOf(params.id))
    if (erasure === undefined) throw new ProblemError(REFUSALS.unknown)
    return show(erasure)
  })

  server.get('/v1/erasures', guard, async () => {
    const found = await eraser().list(['PLANNED', 'CONFIRMED', 'ERASED', 'COMPLETED'])
    return { erasures: found.map(show) }
  })

  server.post('/v1/erasures/replay', guard, () => eraser().replay())

  server.post('/v1/subjects/search', guard, async ({ body }) => {
    const { subject } = readBody<SubjectRequest>(body, 'subject')
    return { records: await eraser().search(subject) }
  })
}

/** Ends it with a signed receipt; throws where anything of the person is still there. */
async function complete(
  { eraser, sign }: ErasureRoutes,
  { id, stores }: { readonly id: string; readonly stores: readonly ErasedStore[] },
): Promise<object> {
  if (eraser === undefined) throw new ProblemError(ERASURE_OFF)
  if (stores.some((store) => store.after > 0)) throw new ProblemError(ERASURE_INCOMPLETE)
  const outcome = await eraser.complete(id)
  const all = [...stores, ...outcome.stores]
  const { missing, mismatch } = outcome.verdicts
  if (all.some((store) => store.after > 0) || missing + mismatch > 0) {
    throw new ProblemError(ERASURE_INCOMPLETE)
  }
  const { erasure, verdicts, records } = outcome
  const { basis, requestedBy, confirmedBy, requestedAt, confirmedAt } = erasure
  const receipt = sign({
    receiptVersion: 1,
    erasureId: id,
    basis,
    requestedBy,
    requestedAt,
    confirmedBy,
    confirmedAt,
    tasks: erasure.taskIds,
    handoffs: erasure.handoffIds,
    stores: all,
    segments: verdicts,
    records,
  })
  await eraser.file(id, receipt)
  return receipt
}

function idOf(text: string): string {
  if (UUID.test(text)) return text
  throw new ProblemError(REFUSALS.unknown)
}

const show = ({ receipt, ...erasure }: Erasure) => ({ ...erasure, receipt })

const ERASURE_OFF: Problem = {
  status: 503,
  code: 'BATON_ERASURE_OFF',
  detail: 'this auditor does not hold the role that erases',
  fix: 'Set BATON_AUDIT_ERASER_URL and BATON_AUDIT_ERASE_TOKEN for the auditor.',
}

const ERASURE_INCOMPLETE: Problem = {
  status: 409,
  code: 'BATON_ERASURE_INCOMPLETE',
  detail: 'something of the person is still stored, or a segment is missing that no erasure names',
  fix: 'Run the erasure again; if it stays, run `baton verify`: a missing segment is tampering.',
}

const REFUSALS = {
  unknown: {
    status: 404,
    code: 'BATON_ERASURE_UNKNOWN',
    detail: 'there is no erasure with this id',
    fix: 'Plan one first.',
  },
  own: {
    status: 403,
    code: 'BATON_ERASURE_OWN',
    detail: 'who planned an erasure does not confirm it',
    fix: 'Have another person confirm it with a key of their own.',
  },
  other_subject: {
    status: 409,
    code: 'BATON_ERASURE_OTHER_SUBJECT',
    detail: 'the erasure was planned for somebody else',
    fix: 'Name the person whom the plan is about.',
  },
  held: {
    status: 409,
    code: 'BATON_ERASURE_DEFERRED',
    detail: 'a legal hold stands on a task of this person',
    fix: 'Have the hold lifted, then plan the erasure again.',
  },
  state: {
    status: 409,
    code: 'BATON_ERASURE_DEFERRED',
    detail: 'the erasure was deferred because of a legal hold',
    fix: 'Plan it again once the hold is lifted.',
  },
} as const satisfies Record<string, Problem>
