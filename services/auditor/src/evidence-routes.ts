// GET and POST /v1/evidence/{taskId}, GET /v1/policy, POST /v1/drills: for regulators, behind a token of their own.
import type { HeldTaskReceipt } from '@baton/audit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { RequireToken } from '@baton/http/server'
import type { DrillReport } from './drill.ts'
import type { EvidenceService } from './evidence.ts'
import { refusing } from './problem.ts'
import { BY_TASK, COUNT, HASH, record } from './schemas.ts'
import type { ByTask } from './schemas.ts'

interface EvidenceRoutes {
  readonly evidence: EvidenceService
  readonly policyText: string
  readonly drill: (seed: number | undefined) => Promise<DrillReport | undefined>
  readonly mayExport: RequireToken
  /** Checks the second token, which shows what was said; undefined where nobody may. */
  readonly mayReadTexts: RequireToken | undefined
}

interface ReceiptsBody {
  readonly receipts: readonly HeldTaskReceipt[]
}

const RECEIPTS_MAX = 10_000

export function addEvidenceRoutes(server: FastifyInstance, routes: EvidenceRoutes): void {
  const onRequest = async (request: FastifyRequest) =>
    routes.mayExport(request.headers.authorization)
  server.get<ByTask>('/v1/evidence/:taskId', { onRequest, ...EXPORT }, (request, reply) =>
    answer(routes, { request, reply, receipts: [] }),
  )
  // The receipts stand in another database, to which the auditor has no access: who can read both gives them.
  server.post<ByTask & { Body: ReceiptsBody }>(
    '/v1/evidence/:taskId',
    { onRequest, ...EXPORT_WITH_RECEIPTS },
    (request, reply) => {
      const receipts = request.body.receipts.map(({ origin, seq, recordHash }) => ({
        origin,
        seq,
        recordHash,
      }))
      return answer(routes, { request, reply, receipts })
    },
  )
  server.get('/v1/policy', {
    onRequest,
    handler: (_, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send(routes.policyText),
  })
  server.post<{ Body: { readonly seed?: number } | null }>(
    '/v1/drills',
    { onRequest, ...DRILL },
    async ({ body }) => {
      const report = await routes.drill(body?.seed)
      if (report === undefined) throw NOTHING_RECORDED
      return report
    },
  )
}

interface Exchange {
  readonly request: FastifyRequest<ByTask>
  readonly reply: FastifyReply
  readonly receipts: readonly HeldTaskReceipt[]
}

async function answer(
  { evidence, mayReadTexts }: EvidenceRoutes,
  { request, reply, receipts }: Exchange,
) {
  const { taskId } = request.params
  const second = request.headers['baton-payload-authorization']
  if (second !== undefined) {
    if (mayReadTexts === undefined) throw TEXTS_REFUSED
    mayReadTexts(String(second))
  }
  const made = await evidence.export({ taskId, receipts, withTexts: second !== undefined })
  if (made === undefined) throw NO_SUCH_TASK
  return reply
    .header('content-type', 'application/x-tar')
    .header('content-disposition', `attachment; filename="evidence-${taskId}.tar"`)
    .header('cache-control', 'no-store')
    .header('baton-verdict', made.verdict)
    .send(Buffer.from(made.bundle))
}

const NOT_A_TASK_ID = new ProblemError({
  status: 400,
  code: 'BATON_TASK_ID_INVALID',
  detail: 'the task id is not a lower-case UUID',
  fix: 'Give the whole id of the task.',
})
const NO_SUCH_TASK = new ProblemError({
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record of this task',
  fix: 'Check the id; a task is recorded when its first handoff is decided.',
})
const NOTHING_RECORDED = new ProblemError({
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record yet',
  fix: 'Send a handoff first.',
})
const TEXTS_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_TOKEN_REFUSED',
  detail: 'this auditor shows nobody what was said',
  fix: 'Set BATON_AUDIT_PAYLOAD_TOKEN in the auditor, or export without payloads.',
})
const RECEIPTS_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_RECEIPTS_INVALID',
  detail: 'the body is not a list of receipts',
  fix: `Give {"receipts": [{"origin", "seq", "recordHash"}, …]} with at most ${RECEIPTS_MAX} of them.`,
  pointer: '/receipts',
})
const SEED_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_SEED_INVALID',
  detail: 'the seed is not a whole number',
  fix: 'Give a whole number from 0, or leave it out.',
  pointer: '/seed',
})

const EXPORT = {
  schema: { params: BY_TASK },
  schemaErrorFormatter: refusing({ params: NOT_A_TASK_ID }),
}

const EXPORT_WITH_RECEIPTS = {
  schema: {
    params: BY_TASK,
    body: record({
      receipts: {
        type: 'array',
        maxItems: RECEIPTS_MAX,
        items: record({
          origin: { type: 'string', minLength: 1, maxLength: 256 },
          seq: COUNT,
          recordHash: HASH,
        }),
      },
    }),
  },
  schemaErrorFormatter: refusing({ params: NOT_A_TASK_ID, body: RECEIPTS_INVALID }),
}

const DRILL = {
  schema: { body: { type: ['object', 'null'], properties: { seed: COUNT } } },
  schemaErrorFormatter: refusing({ body: SEED_INVALID }),
}
