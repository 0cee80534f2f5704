// Messages of the Handoffs API: listed, read one by one, and decided about.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answerApproval } from '@baton/engine'
import { isUuid } from '@baton/protocol'
import type { JsonValue } from '@baton/protocol'
import {
  fromHandoff,
  HANDOFFS_API,
  LIST_MAX,
  readDecision,
  statesOf,
  statusIn,
} from '@baton/protocol/dialects/handoffs-api'
import type { ApiMessage, Status } from '@baton/protocol/dialects/handoffs-api'
import type { People } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import { findHandoffAs, listForeignHandoffs } from '@baton/store'
import type { ForeignHandoff, Pool } from '@baton/store'
import { operatorOf } from '../acting.ts'
import { APPROVAL_OWN } from '../control-routes.ts'
import { readDecisionHeader, unsignedProblem } from '../signed-decision.ts'
import type { Profiles } from './profiles.ts'
import { alreadyDecided, MESSAGE_UNKNOWN, orRefuse, PROFILE_NOT_FOUND } from './refusals.ts'
import { DECIDE_MESSAGE, LIST_MESSAGES, LIST_OF_PROFILE, READ_MESSAGE } from './schema.ts'

interface MessageRouteOptions {
  readonly pool: Pool
  readonly people: People
  readonly profiles: Profiles
  readonly logger: Logger
}

interface ById {
  Params: { readonly id: string }
}

interface Filtered {
  Querystring: { readonly status?: Status; readonly profileId?: string }
}

interface OfProfile extends ById {
  Querystring: Pick<Filtered['Querystring'], 'status'>
}

export function addMessageRoutes(scope: FastifyInstance, options: MessageRouteOptions): void {
  const { pool, profiles } = options
  scope.get<Filtered>('/handoffs', LIST_MESSAGES, ({ query: { status, profileId } }) =>
    list(pool, { status, recipient: profileId }),
  )
  scope.get<ById>('/handoffs/:id', READ_MESSAGE, async ({ params }) =>
    fromHandoff(await find(pool, params.id)),
  )
  scope.patch<ById>('/handoffs/:id', DECIDE_MESSAGE, (request) => decide(request, options))
  for (const [box, end] of [
    ['inbox', 'recipient'],
    ['sent', 'sender'],
  ] as const)
    scope.get<OfProfile>(
      `/profiles/:id/handoffs/${box}`,
      LIST_OF_PROFILE[box],
      async ({ params: { id }, query: { status } }) => {
        if (!(await profiles.find([id])).has(id)) throw PROFILE_NOT_FOUND
        return list(pool, { status, [end]: id })
      },
    )
}

interface Filter {
  readonly status: Status | undefined
  readonly recipient?: string | undefined
  readonly sender?: string | undefined
}

async function list(pool: Pool, { status, ...ends }: Filter): Promise<ApiMessage[]> {
  const states = status === undefined ? {} : statesOf(status)
  const filter = { ...ends, ...states, limit: LIST_MAX }
  return (await listForeignHandoffs(pool, HANDOFFS_API, filter)).map(fromHandoff)
}

// Any handoff is read and decided about by its id, so that whatever waits for a person can be approved here.
async function find(pool: Pool, given: string): Promise<ForeignHandoff> {
  const id = given.toLowerCase()
  const found = isUuid(id) ? await findHandoffAs(pool, HANDOFFS_API, id) : undefined
  if (found === undefined) throw MESSAGE_UNKNOWN
  return found
}

// The message is looked for before the action is read. Of many decisions at once one is made, and told to one.
async function decide(
  request: FastifyRequest<ById>,
  { pool, people, logger }: MessageRouteOptions,
): Promise<ApiMessage> {
  const waiting = await find(pool, request.params.id)
  const { action, approvedBy } = orRefuse(readDecision(request.body as JsonValue))
  const { handoffId } = waiting
  const actor = operatorOf(request)
  const signed = readDecisionHeader(request)
  const act = {
    handoffId,
    decision: action,
    reasonCode: null,
    actor,
    decidedAs: approvedBy,
    signed,
  }
  const decided = await answerApproval({ pool, people }, act)
  if (decided.kind === 'own') throw APPROVAL_OWN
  if (decided.kind === 'unsigned') throw unsignedProblem(decided)
  if (decided.kind !== 'decided' || decided.repeated)
    throw alreadyDecided(action, statusNow(await find(pool, handoffId)))
  logger.info({ event: 'approval.decided', handoffId, decision: action, actor, repeated: false })
  const { decision, decidedBy, decidedAt } = decided.approval
  return fromHandoff({
    ...waiting,
    state: action === 'approve' ? 'QUEUED' : 'REJECTED',
    reason: action === 'approve' ? null : 'APPROVAL_REFUSED',
    approval: {
      decision,
      decidedBy,
      decidedAs: approvedBy,
      decidedAt: decidedAt?.getTime() ?? null,
    },
  })
}

// What is overdue cannot be decided any more, also before the sweeper has ended it.
function statusNow(message: ForeignHandoff): Status {
  const { expiresAt, endedAt } = message
  const isOverdue = endedAt === null && expiresAt !== null && expiresAt.getTime() <= Date.now()
  return isOverdue ? 'expired' : statusIn(message)
}
