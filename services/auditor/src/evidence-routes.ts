// GET and POST /v1/evidence/{taskId}, GET /v1/policy, POST /v1/drills: for regulators, behind a token of their own.
import type { HeldTaskReceipt } from '@baton/audit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequireToken } from './access.ts'
import type { DrillReport } from './drill.ts'
import type { EvidenceService } from './evidence.ts'
import { ProblemError } from './problem.ts'

interface EvidenceRoutes {
  readonly evidence: EvidenceService
  readonly policyText: string
  readonly drill: (seed: number | undefined) => Promise<DrillReport | undefined>
  readonly mayExport: RequireToken
  /** Checks the second token, which shows what was said; undefined where nobody may. */
  readonly mayReadTexts: RequireToken | undefined
}

interface Parameters {
  readonly Params: { readonly taskId: string }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const HASH = /^[0-9a-f]{64}$/
const RECEIPTS_MAX = 10_000

export function addEvidenceRoutes(server: FastifyInstance, routes: EvidenceRoutes): void {
  const onRequest = async (request: FastifyRequest) =>
    routes.mayExport(request.headers.authorization)
  server.get<Parameters>('/v1/evidence/:taskId', {
    onRequest,
    handler: (request, reply) => answer(routes, { request, reply, receipts: [] }),
  })
  // The receipts stand in another database, to which the auditor has no access: who can read both gives them.
  server.post<Parameters>('/v1/evidence/:taskId', {
    onRequest,
    handler: (request, reply) =>
      answer(routes, { request, reply, receipts: readReceipts(request.body) }),
  })
  server.get('/v1/policy', {
    onRequest,
    handler: (_, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send(routes.policyText),
  })
  server.post('/v1/drills', {
    onRequest,
    handler: async (request) => {
      const report = await routes.drill(readSeed(request.body))
      if (report === undefined) throw new ProblemError(NOTHING_RECORDED)
      return report
    },
  })
}

interface Exchange {
  readonly request: FastifyRequest<Parameters>
  readonly reply: FastifyReply
  readonly receipts: readonly HeldTaskReceipt[]
}

async function answer(
  { evidence, mayReadTexts }: EvidenceRoutes,
  { request, reply, receipts }: Exchange,
) {
  const { taskId } = request.params
  if (!UUID.test(taskId)) throw new ProblemError(NOT_A_TASK_ID)
  const second = request.headers['baton-payload-authorization']
  if (second !== undefined) {
    if (mayReadTexts === undefined) throw new ProblemError(TEXTS_REFUSED)
    mayReadTexts(String(second))
  }
  const made = await evidence.export({ taskId, receipts, withTexts: second !== undefined })
  if (made === undefined) throw new ProblemError(NO_SUCH_TASK)
  return reply
    .header('content-type', 'application/x-tar')
    .header('content-disposition', `attachment; filename="evidence-${taskId}.tar"`)
    .header('cache-control', 'no-store')
    .header('baton-verdict', made.verdict)
    .send(Buffer.from(made.bundle))
}

function readReceipts(body: unknown): readonly HeldTaskReceipt[] {
  const receipts: unknown = (body as { receipts?: unknown } | null)?.receipts
  const isList = Array.isArray(receipts) && receipts.length <= RECEIPTS_MAX
  if (!isList || !receipts.every(isReceipt)) throw new ProblemError(RECEIPTS_INVALID)
  return receipts.map(({ origin, seq, recordHash }) => ({ origin, seq, recordHash }))
}

function isReceipt(value: unknown): value is HeldTaskReceipt {
  const { origin, seq, recordHash } = (value ?? {}) as Record<string, unknown>
  const isNamed = typeof origin === 'string' && origin !== '' && origin.length <= 256
  const isHash = typeof recordHash === 'string' && HASH.test(recordHash)
  return isNamed && isHash && Number.isSafeInteger(seq) && (seq as number) >= 0
}

function readSeed(body: unknown): number | undefined {
  const seed: unknown = (body as { seed?: unknown } | null)?.seed
  if (seed === undefined) return undefined
  if (Number.isSafeInteger(seed) && (seed as number) >= 0) return seed as number
  throw new ProblemError(SEED_INVALID)
}

const NOT_A_TASK_ID = {
  status: 400,
  code: 'BATON_TASK_ID_INVALID',
  detail: 'the task id is not a lower-case UUID',
  fix: 'Give the whole id of the task.',
}
const NO_SUCH_TASK = {
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record of this task',
  fix: 'Check the id; a task is recorded when its first handoff is decided.',
}
const NOTHING_RECORDED = {
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record yet',
  fix: 'Send a handoff first.',
}
const TEXTS_REFUSED = {
  status: 403,
  code: 'BATON_TOKEN_REFUSED',
  detail: 'this auditor shows nobody what was said',
  fix: 'Set BATON_AUDIT_PAYLOAD_TOKEN in the auditor, or export without payloads.',
}
const RECEIPTS_INVALID = {
  status: 400,
  code: 'BATON_RECEIPTS_INVALID',
  detail: 'the body is not a list of receipts',
  fix: `Give {"receipts": [{"origin", "seq", "recordHash"}, …]} with at most ${RECEIPTS_MAX} of them.`,
  pointer: '/receipts',
}
const SEED_INVALID = {
  status: 400,
  code: 'BATON_SEED_INVALID',
  detail: 'the seed is not a whole number',
  fix: 'Give a whole number from 0, or leave it out.',
  pointer: '/seed',
}
