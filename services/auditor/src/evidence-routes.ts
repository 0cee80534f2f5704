// GET and POST /v1/evidence/{taskId}, POST /v1/evidence, GET /v1/policy, POST /v1/drills: for regulators, behind a token of their own.
import type { HeldTaskReceipt } from '@baton/audit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { Guard } from './callers.ts'
import type { DrillReport } from './drill.ts'
import type { EvidenceService } from './evidence.ts'
import { refusing } from './problem.ts'
import { BY_TASK, COUNT, HASH, record, UUID } from './schemas.ts'
import type { ByTask } from './schemas.ts'

interface EvidenceRoutes {
  readonly evidence: EvidenceService
  /** What to answer where no record of a task is stored. */
  readonly nothingOf: (taskId: string) => Promise<ProblemError>
  readonly policyText: () => Promise<string>
  readonly drill: (seed: number | undefined, actor: string) => Promise<DrillReport | undefined>
  readonly mayExport: Guard
  /** Checks the second token, which shows what was said; undefined where nobody may. */
  readonly mayReadTexts: Guard | undefined
}

interface ReceiptsBody {
  readonly receipts: readonly HeldTaskReceipt[]
}

const RECEIPTS_MAX = 10_000

export function addEvidenceRoutes(server: FastifyInstance, routes: EvidenceRoutes): void {
  const callerOf = ({ headers }: FastifyRequest) => routes.mayExport(headers.authorization)
  const onRequest = async (request: FastifyRequest) => void (await callerOf(request))
  server.get<ByTask>('/v1/evidence/:taskId', { onRequest, ...EXPORT }, (request, reply) => {
    const { taskId } = request.params
    return answer(routes, { request, reply, name: taskId, taskIds: [taskId], receipts: [] })
  })
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
      const { taskId } = request.params
      return answer(routes, { request, reply, name: taskId, taskIds: [taskId], receipts })
    },
  )
  server.post<{ Body: TasksBody }>(
    '/v1/evidence',
    { onRequest, ...EXPORT_TASKS },
    (request, reply) => {
      const { taskIds } = request.body
      return answer(routes, { request, reply, name: 'tasks', taskIds, receipts: [] })
    },
  )
  server.get('/v1/policy', {
    onRequest,
    handler: async (_, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send(await routes.policyText()),
  })
  server.post<{ Body: { readonly seed?: number } | null }>(
    '/v1/drills',
    { onRequest, ...DRILL },
    async (request) => {
      const { name } = await callerOf(request)
      const report = await routes.drill(request.body?.seed, name)
      if (report === undefined) throw NOTHING_RECORDED
      return report
    },
  )
}

interface TasksBody {
  readonly taskIds: readonly string[]
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** What the file is called. */
  readonly name: string
  readonly taskIds: readonly string[]
  readonly receipts: readonly HeldTaskReceipt[]
}

async function answer(
  { evidence, nothingOf, mayExport, mayReadTexts }: EvidenceRoutes,
  { request, reply, name, taskIds, receipts }: Exchange,
) {
  const { authorization, 'baton-payload-authorization': second } = request.headers
  const withTexts = second !== undefined
  if (withTexts && mayReadTexts === undefined) throw TEXTS_REFUSED
  const exporter = await mayExport(authorization)
  const reader = withTexts ? await mayReadTexts?.(String(second)) : undefined
  const shared = withTexts ? BOTH_TOKENS : exporter.name
  const actor = reader?.operator ?? exporter.operator ?? shared
  const { ip: address } = request
  const made = await evidence.export({ taskIds, receipts, withTexts, actor, address })
  if (made === undefined) throw await nothingOf(taskIds[0] ?? '')
  for (const { rule, origin, message } of made.findings) {
    reply.header('baton-finding', `${rule}: ${origin}: ${message}`)
  }
  return reply
    .header('content-type', 'application/x-tar')
    .header('content-disposition', `attachment; filename="evidence-${name}.tar"`)
    .header('cache-control', 'no-store')
    .header('baton-verdict', made.verdict)
    .send(Buffer.from(made.bundle))
}

/** Who exports with texts by two fixed tokens: whoever has both. */
const BOTH_TOKENS = 'evidence-and-payload-token'

const NOT_A_TASK_ID = new ProblemError({
  status: 400,
  code: 'BATON_TASK_ID_INVALID',
  detail: 'the task id is not a lower-case UUID',
  fix: 'Give the whole id of the task.',
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

export const EXPORT_WITH_RECEIPTS = {
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

/** One bundle holds so many tasks: it is made and verified in memory. */
const TASKS_MAX = 1_000

export const EXPORT_TASKS = {
  schema: {
    body: {
      type: 'object',
      additionalProperties: false,
      required: ['taskIds'],
      properties: {
        taskIds: {
          type: 'array',
          minItems: 1,
          maxItems: TASKS_MAX,
          uniqueItems: true,
          items: UUID,
        },
      },
    },
  },
  schemaErrorFormatter: refusing({
    body: new ProblemError({
      status: 400,
      code: 'BATON_TASK_ID_INVALID',
      detail: 'the body is not a list of task ids',
      fix: `Give {"taskIds": […]} with 1 to ${TASKS_MAX} lower-case UUIDs, each once.`,
      pointer: '/taskIds',
    }),
  }),
}

export const DRILL = {
  schema: { body: { type: ['object', 'null'], properties: { seed: COUNT } } },
  schemaErrorFormatter: refusing({ body: SEED_INVALID }),
}
