// What people decide about handoffs under way: approvals and cancellations. Every decision names who made it.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { People } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import { answerApproval, requestCancel } from '@baton/engine'
import type { ApprovalRequest, Canceled, Decided } from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { countApprovals, countLiveAgents, listApprovals, listLiveAgents } from '@baton/store'
import type { CancelTarget, Pool } from '@baton/store'
import { operatorOf } from './acting.ts'
import {
  countedListOf,
  countedPageOf,
  CURSOR,
  FILTERED_CURSOR,
  NAME_POSITION,
  pageOf,
  readCursor,
  rowsFor,
  totalOf,
} from './cursor.ts'
import { notFound } from './not-found.ts'
import { answers, listQuery, onlyById, onlyList, problems, ref } from './operation.ts'
import type { ById, PageQuery } from './operation.ts'
import { DECIDING, readDecisionHeader, unsignedProblem } from './signed-decision.ts'
import { showApproval, showDecidedApproval } from './views.ts'

interface ControlRouteOptions {
  readonly pool: Pool
  /** Whose decisions count. */
  readonly people: People
  readonly logger: Logger
}

export function addControlRoutes(scope: FastifyInstance, options: ControlRouteOptions): void {
  const { pool } = options
  scope.get<PageQuery>('/approvals', LIST_APPROVALS, async ({ query: { limit, cursor } }) => {
    const [approvals, count] = await Promise.all([
      listApprovals(pool, { limit: rowsFor(limit), cursor }),
      countApprovals(pool),
    ])
    const { page, nextCursor } = pageOf(approvals, limit)
    return {
      // Where a list goes on is said once, by nextCursor.
      approvals: page.map((one) => ({ ...showApproval(one), position: undefined })),
      nextCursor,
      ...totalOf(count),
    }
  })

  scope.get<PageQuery>('/agents', LIST_AGENTS, async ({ query: { limit, cursor } }) => {
    const position = readCursor(cursor, AGENTS, NAME_POSITION)
    const [agents, count] = await Promise.all([
      listLiveAgents(pool, { limit: rowsFor(limit), cursor: position }),
      countLiveAgents(pool),
    ])
    const { page, shown } = countedPageOf(agents, { limit, filter: AGENTS, count })
    return { agents: page, ...shown }
  })

  scope.post<Deciding>('/approvals/:id', DECIDE_APPROVAL, (request) => decide(request, options))
  scope.post<Canceling>('/handoffs/:id/cancel', CANCEL_HANDOFF, (request) =>
    cancel(request, { handoffId: request.params.id }, options),
  )
  scope.post<Canceling>('/tasks/:id/cancel', CANCEL_TASK, (request) =>
    cancel(request, { taskId: request.params.id }, options),
  )
}

const AGENTS = { list: 'agents' }

const LIST_APPROVALS = onlyList('handoffs:read', {
  operationId: 'listApprovals',
  summary: 'Handoffs that wait for an approval, oldest first',
  querystring: listQuery({ cursor: CURSOR }),
  response: {
    200: answers('The handoffs; [] where none waits', countedListOf('approvals', ref('Approval'))),
    ...problems([]),
  },
})

const LIST_AGENTS = onlyList('handoffs:read', {
  operationId: 'listAgents',
  summary: 'Agent types with a live worker, by name',
  querystring: listQuery({ cursor: FILTERED_CURSOR }),
  response: {
    200: answers('The agent types; [] where none is live', countedListOf('agents', ref('Agent'))),
    ...problems([]),
  },
})

interface Deciding extends ById {
  Body: Pick<ApprovalRequest, 'decision'> & { readonly reasonCode?: string }
}

const DECIDE_APPROVAL = onlyById('handoff', 'approvals:decide', {
  operationId: 'decideApproval',
  summary: 'Approve or refuse a handoff; the first decision is final and repeating it is safe',
  ...DECIDING,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['decision'],
    properties: {
      decision: { enum: ['approve', 'reject'] },
      reasonCode: {
        type: 'string',
        pattern: '^[A-Z][A-Z0-9_]{0,63}$',
        description: 'Goes into the audit record, so it is a code and never text.',
      },
    },
  },
  response: {
    200: answers('The decision that stands', 'DecidedApproval'),
    ...problems([404], {
      403: "The key lacks the scope, the signature is missing or does not count, or the handoff is one's own",
      409: 'It was decided otherwise before, has expired, was canceled or changed meanwhile',
      422: 'The body has another form',
    }),
  },
})

interface Canceling extends ById {
  Body: { readonly graceMs?: number }
}

const GRACE_MS_MAX = 3_600_000
const GRACE_MS_DEFAULT = 5_000

const CANCELLATION = {
  'x-optional-body': true,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      graceMs: {
        type: 'integer',
        minimum: 0,
        maximum: GRACE_MS_MAX,
        default: GRACE_MS_DEFAULT,
        description: 'How long a result of a running execution still counts; 0 ends it at once.',
      },
    },
  },
} as const

const canceled = (ended: string) => ({
  200: answers('What was ended and what is stopping', 'Cancellation'),
  ...problems([404], { 409: ended, 422: 'The body has another form' }),
})

const CANCEL_HANDOFF = onlyById('handoff', 'handoffs:cancel', {
  operationId: 'cancelHandoff',
  summary: 'Cancel a handoff; a running execution is told and gets a grace',
  description:
    'One that came back, expired, was refused or blocked in a branch ends its branch: what joins it goes on without.',
  ...CANCELLATION,
  response: canceled('The handoff had ended before'),
})

const CANCEL_TASK = onlyById('task', 'handoffs:cancel', {
  operationId: 'cancelTask',
  summary: 'Cancel a task: everything open in it; it takes no further handoffs',
  ...CANCELLATION,
  response: canceled('The task had ended before'),
})

async function decide(request: FastifyRequest<Deciding>, options: ControlRouteOptions) {
  const handoffId = request.params.id
  const { decision, reasonCode = null } = request.body
  const actor = operatorOf(request)
  const signed = readDecisionHeader(request)
  const asked = { handoffId, decision, reasonCode, actor, signed }
  const decided = await answerApproval(options, asked)
  const approval = decidedOrProblem(decided)
  const { repeated } = decided as Decided & { kind: 'decided' }
  options.logger.info({ event: 'approval.decided', handoffId, decision, actor, repeated })
  return { ...showDecidedApproval(approval), repeated }
}

function decidedOrProblem(decided: Decided) {
  if (decided.kind === 'decided') return decided.approval
  if (decided.kind === 'unknown') throw APPROVAL_UNKNOWN
  if (decided.kind === 'own') throw APPROVAL_OWN
  if (decided.kind === 'unsigned') throw unsignedProblem(decided)
  const { decision, state } = decided.approval
  const standing = state === 'AWAITING_APPROVAL' ? 'was changed meanwhile' : `is ${state}`
  const why = decision === null ? standing : `was decided before: ${decision}`
  throw new ProblemError({
    status: 409,
    code: 'BATON_APPROVAL_CLOSED',
    detail: `the handoff waits for no approval any more: it ${why}`,
    fix: 'GET /v2/handoffs/{id} says how it stands; the first decision is final.',
  })
}

async function cancel(
  request: FastifyRequest<Canceling>,
  target: CancelTarget,
  options: ControlRouteOptions,
) {
  const { graceMs = GRACE_MS_DEFAULT } = request.body
  const actor = operatorOf(request)
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
    detail: `the ${what} had ended before: it is ${state}`,
    fix: 'Nothing of it executes any more; there is nothing to cancel.',
  })
}

export const APPROVAL_OWN = new ProblemError({
  status: 403,
  code: 'BATON_APPROVAL_OWN',
  detail: 'this handoff was sent with a key of the same operator; nobody approves their own',
  fix: 'Have somebody else decide.',
})

const APPROVAL_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_APPROVAL_UNKNOWN',
  detail: 'no handoff with this id was ever held for approval',
  fix: 'GET /v2/approvals lists those that wait.',
})
