// What people decide about handoffs under way: approvals and cancellations. Every decision names who made it.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from '@baton/runtime'
import { answerApproval, requestCancel } from '@baton/engine'
import type { ApprovalRequest, Canceled, Decided } from '@baton/engine'
import { listApprovals, listLiveAgents } from '@baton/store'
import type { CancelTarget, Pool } from '@baton/store'
import { ProblemError } from './problem.ts'
import { notFound, readLimit, readUuid } from './read-parameters.ts'
import type { ById, ListQuery } from './read-parameters.ts'
import type { RequestBody } from './request-body.ts'
import { requireScope } from './request-context.ts'
import { requireShape } from './shape.ts'
import { showApproval, showDecidedApproval } from './views.ts'

interface SteeringRouteOptions {
  readonly pool: Pool
  readonly logger: Logger
}

const onlyReaders = { preParsing: requireScope('handoffs:read') }

export function addSteeringRoutes(server: FastifyInstance, options: SteeringRouteOptions): void {
  const { pool } = options
  server.get<ListQuery>('/v2/approvals', onlyReaders, async ({ query }) => {
    const approvals = await listApprovals(pool, readLimit(query['limit']))
    return { approvals: approvals.map(showApproval) }
  })

  server.get<ListQuery>('/v2/agents', onlyReaders, async ({ query }) => ({
    agents: await listLiveAgents(pool, readLimit(query['limit'])),
  }))

  server.post<ById>(
    '/v2/approvals/:id',
    { preParsing: requireScope('approvals:decide') },
    async (request) => decide(request, readUuid(request.params.id, 'handoff'), options),
  )

  const onlyCancelers = { preParsing: requireScope('handoffs:cancel') }
  server.post<ById>('/v2/handoffs/:id/cancel', onlyCancelers, (request) =>
    cancel(request, { handoffId: readUuid(request.params.id, 'handoff') }, options),
  )
  server.post<ById>('/v2/tasks/:id/cancel', onlyCancelers, (request) =>
    cancel(request, { taskId: readUuid(request.params.id, 'task') }, options),
  )
}

type Request = FastifyRequest<ById>

const DECISION = {
  type: 'object',
  additionalProperties: false,
  required: ['decision'],
  properties: {
    decision: { enum: ['approve', 'reject'] },
    reasonCode: { type: 'string', pattern: '^[A-Z][A-Z0-9_]{0,63}$' },
  },
}

async function decide(request: Request, handoffId: string, options: SteeringRouteOptions) {
  const value = valueOf(request)
  requireShape(request, DECISION, value)
  const { decision, reasonCode = null } = value as unknown as Pick<ApprovalRequest, 'decision'> & {
    readonly reasonCode?: string
  }
  const actor = actorOf(request)
  const decided = await answerApproval(options.pool, { handoffId, decision, reasonCode, actor })
  const approval = decidedOrProblem(decided)
  const { repeated } = decided as Decided & { kind: 'decided' }
  options.logger.info({ event: 'approval.decided', handoffId, decision, actor, repeated })
  return { ...showDecidedApproval(approval), repeated }
}

function decidedOrProblem(decided: Decided) {
  if (decided.kind === 'decided') return decided.approval
  if (decided.kind === 'unknown') throw APPROVAL_UNKNOWN
  const { decision, state } = decided.approval
  const why = decision === null ? `is ${state}` : `was decided before: ${decision}`
  throw new ProblemError({
    status: 409,
    code: 'BATON_APPROVAL_CLOSED',
    detail: `The handoff waits for no approval any more: it ${why}`,
    fix: 'GET /v2/handoffs/{id} says how it stands; the first decision is final.',
  })
}

const GRACE_MS_MAX = 3_600_000
const GRACE_MS_DEFAULT = 5_000

const CANCELLATION = {
  type: 'object',
  additionalProperties: false,
  properties: { graceMs: { type: 'integer', minimum: 0, maximum: GRACE_MS_MAX } },
}

async function cancel(request: Request, target: CancelTarget, options: SteeringRouteOptions) {
  const value = valueOf(request) ?? {}
  requireShape(request, CANCELLATION, value)
  const { graceMs = GRACE_MS_DEFAULT } = value as { readonly graceMs?: number }
  const actor = actorOf(request)
  const outcome = await requestCancel(options.pool, { ...target, graceMs, actor })
  if (outcome.kind === 'unknown')
    throw notFound(target.handoffId === undefined ? 'task' : 'handoff')
  if (outcome.kind === 'ended') throw endedBefore(target, outcome)
  const { kind: _, ...answer } = outcome
  options.logger.info({
    event: 'cancel.requested',
    ...target,
    actor,
    ended: answer.ended.length,
    stopping: answer.stopping.length,
    repeated: answer.repeated,
  })
  return answer
}

function endedBefore(target: CancelTarget, { state }: Canceled & { kind: 'ended' }) {
  const what = target.handoffId === undefined ? 'task' : 'handoff'
  return new ProblemError({
    status: 409,
    code: what === 'task' ? 'BATON_TASK_ENDED' : 'BATON_HANDOFF_ENDED',
    detail: `The ${what} had ended before: it is ${state}`,
    fix: 'Nothing of it executes any more; there is nothing to cancel.',
  })
}

// Nothing was parsed where nothing was sent.
const valueOf = (request: Request) => (request.body as RequestBody | undefined)?.value ?? null

// The scope was checked before the body was read, so the key is known.
function actorOf({ identified }: Request): string {
  if (!identified.ok) throw new Error('no key')
  return identified.key.operator
}

const APPROVAL_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_APPROVAL_UNKNOWN',
  detail: 'No handoff with this id was ever held for approval',
  fix: 'GET /v2/approvals lists those that wait.',
})
