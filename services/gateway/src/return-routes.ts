// What comes back to senders over HTTP: taking it, correcting it, and taking a rolled-back task up again.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readMessage, refusedRevision, resumeTask, reviseHandoff } from '@baton/engine'
import type {
  ReadingRecorder,
  RequireRoom,
  ResumeChange,
  ReturnParts,
  RevisionOutcome,
} from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { ProtocolError } from '@baton/protocol'
import {
  acknowledgeNotifications,
  findResumeTarget,
  findTaskCheckpoint,
  findTaskTraceparent,
  takeNotifications,
} from '@baton/store'
import type { SenderNotification } from '@baton/store'
import { keyOf, readerOf } from './acting.ts'
import { placeInState } from './message-pointer.ts'
import { invalidHandoff } from './problem.ts'
import { notFound } from './not-found.ts'
import {
  answers,
  LOCATION,
  messageOr,
  only,
  onlyById,
  problems,
  ref,
  requireBody,
  TRACED,
} from './operation.ts'
import type { ById } from './operation.ts'
import { requireOwnAgents } from './own-agents.ts'
import { requireOwnPriority } from './own-priority.ts'
import { scopeMissing } from './request-context.ts'
import { readRevision } from './revision.ts'
import { showNotification } from './views.ts'

interface ReturnRouteOptions extends ReturnParts {
  /** How long a taken return or rollback is the taker's. */
  readonly correctionMs: number
  readonly requireRoom: RequireRoom
  readonly readings: ReadingRecorder
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
}

type Request = FastifyRequest<ById>

/** A key with `handoffs:return` answers for every agent of the installation: senders share one trust. */
export function addReturnRoutes(scope: FastifyInstance, options: ReturnRouteOptions): void {
  const { bounded } = options
  scope.post<Taking>('/returns/take', TAKE_RETURNS, (request) =>
    bounded(() => take(request, options)),
  )
  scope.post<ById>('/returns/:id/acknowledge', ACKNOWLEDGE_RETURN, (request) =>
    acknowledge(request, options),
  )
  scope.post<ById>('/handoffs/:id/revisions', REVISE_HANDOFF, (request, reply) =>
    bounded(() => revise(request, reply, options)),
  )
  scope.get<ById>('/tasks/:id/checkpoint', READ_CHECKPOINT, (request, reply) =>
    sendCheckpoint(request, reply, options),
  )
  scope.post<Resuming>('/tasks/:id/resume', RESUME_TASK, (request, reply) =>
    bounded(() => resume(request, reply, options)),
  )
}

const TAKE_RETURNS = only('handoffs:return', {
  operationId: 'takeReturns',
  summary:
    'Take what has come back to senders: refused handoffs to correct, rolled-back tasks to resume',
  description:
    'Told at least once: what is neither corrected nor acknowledged within the correction time is told again, at most five times. A taken return is not tried again meanwhile. The scope holds for every agent of the installation.',
  ...TRACED,
  body: ref('TakeRequest'),
  response: {
    200: answers('What came back, oldest first; empty where there is nothing', 'Notices'),
    ...problems([415, 422]),
  },
})

const ACKNOWLEDGE_RETURN = onlyById('notice', 'handoffs:return', {
  operationId: 'acknowledgeReturn',
  summary: 'Say that it is dealt with; a return that was not corrected is tried again at once',
  ...TRACED,
  response: { 200: answers('It will not be told again', 'Acknowledged'), ...problems([404]) },
})

const REVISE_HANDOFF = {
  ...onlyById('handoff', 'handoffs:return', {
    operationId: 'reviseHandoff',
    summary: 'Correct a returned handoff; answered once the correction is durable',
    description:
      'Becomes the next revision of the same handoff and is delivered at once. Task, parent, sender, target type, priority, trace, budget and a demand for approval stay as they were. Repeating the same correction answers as the first time.',
    ...TRACED,
    body: messageOr('MessageRevision', 'StateRevision'),
    response: {
      202: answers('The correction is durable', 'Revised', LOCATION),
      ...problems([404, 413, 415, 422], {
        409: 'Corrected by somebody else, being tried at this moment, or waiting for no correction',
      }),
    },
  }),
  preValidation: requireBody,
  config: { takesHandoffs: true },
}

const READ_CHECKPOINT = onlyById('task', 'handoffs:return', {
  operationId: 'readCheckpoint',
  summary: 'The exact bytes the sender of the task saved last',
  ...TRACED,
  response: {
    200: answers(
      'The checkpoint: /schemas/checkpoint/1.json',
      { type: 'object' },
      {
        'Content-Digest': {
          type: 'string',
          description: 'SHA-256 of the body, as RFC 9530 writes it.',
        },
      },
    ),
    ...problems([404]),
  },
})

const RESUME_TASK = onlyById('task', 'tasks:resume', {
  operationId: 'resumeTask',
  summary: 'Take a task up again after a rollback or an expiry',
  description:
    'Sends the latest rolled-back or expired handoff as a new one, as it stood or with changes; a change needs the scope handoffs:send too. A deadline that has passed is left out. At most one handoff takes up each: repeating it answers the first. Where that one may have come back meanwhile, name handoffId.',
  ...TRACED,
  'x-optional-body': true,
  body: ref('ResumeRequest'),
  response: {
    202: answers('The new handoff is durable', 'Resumed', LOCATION),
    ...problems([404, 413, 415, 422], {
      409: 'The task has ended, or nothing of it was rolled back or has expired',
    }),
  },
})

interface Taking {
  Body: TakeBody
}

interface TakeBody {
  readonly agents: readonly string[]
  readonly kinds?: readonly SenderNotification['kind'][]
  readonly limit?: number
}

const TAKE_LIMIT = 10

// What was taken and could not be recorded is told again when its lease ends.
async function take(request: FastifyRequest<Taking>, options: ReturnRouteOptions) {
  const { pool, correctionMs, readings } = options
  const { agents, kinds, limit } = request.body
  requireOwnAgents(keyOf(request), ...agents)
  const notices = await takeNotifications(pool, {
    agents: [...new Set(agents)],
    kinds: kinds ?? ['return', 'rollback'],
    limit: limit ?? TAKE_LIMIT,
    leaseMs: correctionMs,
    taker: keyOf(request).id,
  })
  const shown = notices.map(({ taskId, handoffId, traceparent }) => ({
    text: 'returned-message' as const,
    taskId,
    handoffId,
    traceparent,
  }))
  await readings.read(readerOf(request), shown)
  return { notices: notices.map(showNotification) }
}

async function acknowledge(request: Request, { pool }: ReturnRouteOptions) {
  const noticeId = request.params.id
  const held = await acknowledgeNotifications(pool, [noticeId], keyOf(request).id)
  if (!held.has(noticeId)) throw NOTICE_UNKNOWN
  return { noticeId, acknowledged: true }
}

async function revise(request: Request, reply: FastifyReply, options: ReturnRouteOptions) {
  const handoffId = request.params.id
  const { revision, place, correct: correctly } = readRevision(request, options.keyRing)
  const key = keyOf(request)
  const { operator } = key
  const correct: typeof correctly = (base) => {
    requireOwnAgents(key, readMessage(base.body).fromAgent.agentId)
    return correctly(base)
  }
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

async function sendCheckpoint(request: Request, reply: FastifyReply, options: ReturnRouteOptions) {
  const { pool, readings } = options
  const taskId = request.params.id
  const found = await findTaskCheckpoint(pool, taskId)
  const traceparent = await findTaskTraceparent(pool, taskId)
  if (found === undefined || traceparent === undefined) throw notFound('task')
  await readings.read(readerOf(request), [{ text: 'checkpoint', taskId, traceparent }])
  return reply
    .header('content-type', 'application/json')
    .header('content-digest', `sha-256=:${found.sha256.toString('base64')}:`)
    .send(found.body)
}

interface Resuming extends ById {
  Body: ResumeBody
}

interface ResumeBody extends ResumeChange {
  readonly handoffId?: string
}

async function resume(
  request: FastifyRequest<Resuming>,
  reply: FastifyReply,
  options: ReturnRouteOptions,
) {
  const taskId = request.params.id
  const { handoffId, ...change } = request.body
  const key = keyOf(request)
  const { operator, scopes, tenant } = key
  // Whoever changes what is said sends something of their own.
  if (Object.keys(change).length > 0 && !scopes.has('handoffs:send'))
    throw scopeMissing('handoffs:send')
  const standing = await findResumeTarget(options.pool, { taskId, handoffId })
  if (standing !== undefined) {
    requireOwnAgents(key, standing.fromAgent)
    const { targetAgentType = standing.agentType, constraints } = change
    const priority = constraints?.priority ?? standing.priority
    requireOwnPriority(key, constraints?.priority)
    await options.requireRoom({ agentType: targetAgentType, priority, tenant })
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

const NOTICE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_NOTICE_UNKNOWN',
  detail: 'there is no such notice, or this key has not taken it',
  fix: 'Acknowledge with the key that took it; what was dealt with is forgotten after an hour.',
})
