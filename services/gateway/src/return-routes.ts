// What comes back to senders over HTTP: taking it, correcting it, and taking a rolled-back task up again.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusedRevision, resumeTask, reviseHandoff } from '@baton/engine'
import type { RequireRoom, ResumeChange, ReturnParts, RevisionOutcome } from '@baton/engine'
import { ProtocolError } from '@baton/protocol'
import { acknowledgeNotices, findResumeTarget, findTaskCheckpoint, takeNotices } from '@baton/store'
import type { SenderNotice } from '@baton/store'
import { bodyOf } from './acting.ts'
import { placeInState } from './message-pointer.ts'
import { ProblemError, invalidHandoff } from './problem.ts'
import { notFound, readUuid } from './read-parameters.ts'
import type { ById } from './read-parameters.ts'
import { requireScope, scopeMissing } from './request-context.ts'
import { RESUME_REQUEST, TAKE_REQUEST } from './return-schema.ts'
import { readRevision } from './revision.ts'
import { showNotice } from './views.ts'

interface ReturnRouteOptions extends ReturnParts {
  /** How long a taken return or rollback is the taker's. */
  readonly correctionMs: number
  readonly requireRoom: RequireRoom
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
}

type Request = FastifyRequest<ById>

/** A key with `handoffs:return` answers for every agent of the installation: senders share one trust. */
export function addReturnRoutes(server: FastifyInstance, options: ReturnRouteOptions): void {
  const { bounded } = options
  const onlySenders = { preParsing: requireScope('handoffs:return') }
  server.post('/v2/returns/take', onlySenders, (request) => bounded(() => take(request, options)))
  server.post<ById>('/v2/returns/:id/acknowledge', onlySenders, (request) =>
    acknowledge(request, options),
  )
  server.post<ById>('/v2/handoffs/:id/revisions', onlySenders, (request, reply) =>
    bounded(() => revise(request, reply, options)),
  )
  server.get<ById>('/v2/tasks/:id/checkpoint', onlySenders, (request, reply) =>
    sendCheckpoint(request, reply, options),
  )
  server.post<ById>(
    '/v2/tasks/:id/resume',
    { preParsing: requireScope('tasks:resume') },
    (request, reply) => bounded(() => resume(request, reply, options)),
  )
}

interface TakeBody {
  readonly agents: readonly string[]
  readonly kinds?: readonly SenderNotice['kind'][]
  readonly limit?: number
}

const TAKE_LIMIT = 10

async function take(request: FastifyRequest, { pool, correctionMs }: ReturnRouteOptions) {
  const { agents, kinds, limit } = bodyOf<TakeBody>(request, TAKE_REQUEST)
  const notices = await takeNotices(pool, {
    agents: [...new Set(agents)],
    kinds: kinds ?? ['return', 'rollback'],
    limit: limit ?? TAKE_LIMIT,
    leaseMs: correctionMs,
    taker: keyOf(request).id,
  })
  return { notices: notices.map(showNotice) }
}

async function acknowledge(request: Request, { pool }: ReturnRouteOptions) {
  const noticeId = readUuid(request.params.id, 'notice')
  const held = await acknowledgeNotices(pool, [noticeId], keyOf(request).id)
  if (!held.has(noticeId)) throw NOTICE_UNKNOWN
  return { noticeId, acknowledged: true }
}

async function revise(request: Request, reply: FastifyReply, options: ReturnRouteOptions) {
  const handoffId = readUuid(request.params.id, 'handoff')
  const { revision, place, correct } = readRevision(request, options.keyRing)
  const { operator } = keyOf(request)
  const call = { handoffId, revision, correct, actor: operator, sentBy: operator }
  const outcome = await inBody(place, () => reviseHandoff(options, call))
  const { state } = takenOrProblem(handoffId, outcome)
  const repeated = outcome.kind === 'duplicate'
  return reply
    .code(202)
    .header('location', `/v2/handoffs/${handoffId}`)
    .send({ handoffId, revision, state, repeated })
}

function takenOrProblem(handoffId: string, outcome: RevisionOutcome) {
  if (outcome.kind === 'revised' || outcome.kind === 'duplicate') return outcome
  throw refusedRevision(handoffId, outcome)
}

async function sendCheckpoint(request: Request, reply: FastifyReply, { pool }: ReturnRouteOptions) {
  const found = await findTaskCheckpoint(pool, readUuid(request.params.id, 'task'))
  if (found === undefined) throw notFound('task')
  return reply
    .header('content-type', 'application/json')
    .header('content-digest', `sha-256=:${found.sha256.toString('base64')}:`)
    .send(found.body)
}

interface ResumeBody extends ResumeChange {
  readonly handoffId?: string
}

async function resume(request: Request, reply: FastifyReply, options: ReturnRouteOptions) {
  const taskId = readUuid(request.params.id, 'task')
  const { handoffId, ...change } = bodyOf<ResumeBody>(request, RESUME_REQUEST)
  const { operator, scopes } = keyOf(request)
  // Whoever changes what is said sends something of their own.
  if (Object.keys(change).length > 0 && !scopes.has('handoffs:send'))
    throw scopeMissing('handoffs:send')
  const standing = await findResumeTarget(options.pool, { taskId, handoffId })
  if (standing !== undefined) {
    const { targetAgentType = standing.agentType, constraints } = change
    await options.requireRoom(targetAgentType, constraints?.priority ?? standing.priority)
  }
  const sent = await inBody(placeInState, () =>
    resumeTask(options, { taskId, handoffId, change, actor: operator, sentBy: operator }),
  )
  const { duplicate: repeated, ...answer } = sent
  return reply
    .code(202)
    .header('location', `/v2/handoffs/${sent.handoffId}`)
    .header('traceparent', sent.traceparent)
    .send({ ...answer, repeated })
}

async function inBody<Result>(
  place: (pointer: string) => string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw invalidHandoff('BATON_HANDOFF_INVALID', error.details, place)
  }
}

// The scope was checked before the body was read, so the key is known.
function keyOf({ identified }: FastifyRequest) {
  if (!identified.ok) throw new Error('no key')
  return identified.key
}

const NOTICE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_NOTICE_UNKNOWN',
  detail: 'There is no such notice, or this key has not taken it',
  fix: 'Acknowledge with the key that took it; what was dealt with is forgotten after an hour.',
})
