// POST /v2/handoffs: Baton's own dialect. Answered with 202 only once the handoff is durable.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DeliverDirectly } from '@baton/engine'
import { hasHandoffEnded } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import { ProblemError } from '@baton/http/server'
import { JSON_FACE } from './dialect.ts'
import type { Dialect, Face } from './dialect.ts'
import { KEY_HEADER, requestKey, requireKey } from './idempotency-key.ts'
import {
  answers,
  LOCATION,
  messageOr,
  only,
  problems,
  requireBody,
  TRACE_HEADERS,
} from './operation.ts'
import { readSubmission } from './submission.ts'
import type { Submitted } from './submit.ts'
import { showHandoff } from './views.ts'

interface V2Options {
  readonly authentication: Face['authentication']
  readonly keyRing: KeyRing
  /** What the task's first handoff was sent under; undefined where it has none. */
  readonly findTaskTraceparent: (taskId: string) => Promise<string | undefined>
  /** Waits for the outcome of what was sent with mode=sync. */
  readonly deliverDirectly: DeliverDirectly
  /** Everything beside sending. */
  readonly addRoutes: (scope: FastifyInstance) => void
}

/** How long a request may take to arrive. */
export const REQUEST_MS = 15_000

export const createV2 = (options: V2Options): Dialect => ({
  ...JSON_FACE,
  path: '/v2',
  authentication: options.authentication,
  requestMs: REQUEST_MS,
  post: {
    path: '/handoffs',
    options: {
      ...only('handoffs:send', SEND_HANDOFF),
      preValidation: [requireKey, requireBody, requireCheckpoint],
    },
  },
  toSubmission: (request) => readSubmission(request, options),
  requestKey,
  fromOutcome: (reply, submitted) =>
    (reply.request.query as Mode).mode === 'sync'
      ? answerDelivered(reply, submitted, options.deliverDirectly)
      : answerSent(reply, submitted),
  addRoutes: options.addRoutes,
})

interface Mode {
  readonly mode?: 'async' | 'sync'
}

const SENT_HEADERS = {
  ...LOCATION,
  traceparent: { type: 'string', description: 'The trace context the handoff carries.' },
  'Idempotency-Replayed': {
    const: 'true',
    description: 'Present where an earlier request had sent it.',
  },
}

const SEND_HANDOFF = {
  operationId: 'sendHandoff',
  summary: 'Send a handoff; answered once it is durable',
  description:
    "Takes what an agent knows at the end of its execution, or a message that was built elsewhere together with the sender's checkpoint. The receiver judges whether the state has what its agent needs, budget and safety; a handoff it refuses is on record and shows up under its id. Where nothing is completed and the description is not INITIAL, it is refused at once.",
  headers: { type: 'object', properties: { ...KEY_HEADER, ...TRACE_HEADERS } },
  querystring: {
    type: 'object',
    properties: {
      mode: {
        type: 'string',
        enum: ['async', 'sync'],
        default: 'async',
        description:
          'sync also calls the receiver at once and waits for the outcome: 200 with it, or 202 where it is not known in time. It is durable either way.',
      },
    },
  },
  body: {
    ...messageOr('MessageSubmission', 'StateSubmission'),
    'x-examples': {
      agentState: {
        summary: 'The first handoff of a task',
        value: {
          agentState: {
            taskId: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11',
            agent: { agentId: 'intake-agent', agentVersion: '1.0.0' },
            currentState: { document: '...' },
            cost: {
              spentSoFarUSD: 0,
              budgetRemainingUSD: 0.4,
              ownCostUSD: 0,
              tokenSpent: { prompt: 0, completion: 0 },
            },
          },
          targetAgentType: 'clause-extraction',
          constraints: { priority: 2, list: ['language:en'] },
        },
      },
    },
  },
  response: {
    200: answers(
      'With mode=sync: the handoff has ended; what became of it, and which way it went.',
      'Delivered',
      SENT_HEADERS,
    ),
    202: answers(
      'The handoff is durable; Location names it. The same answer for a repeated Idempotency-Key. With mode=sync also how it stands.',
      'Sent',
      SENT_HEADERS,
    ),
    ...problems([413, 415, 422, 500], { 409: 'It conflicts with what was sent before' }),
  },
}

function answerSent(reply: FastifyReply, submitted: Submitted): FastifyReply {
  const { repeated: _, ...answer } = submitted
  return withSentHeaders(reply, submitted).code(202).send(answer)
}

function withSentHeaders(
  reply: FastifyReply,
  { handoffId, traceparent, repeated }: Submitted,
): FastifyReply {
  if (repeated) reply.header('idempotency-replayed', 'true')
  return reply.header('location', `/v2/handoffs/${handoffId}`).header('traceparent', traceparent)
}

/** 200 where it has ended. Nothing of this can undo the send: who is told 202 asks later. */
async function answerDelivered(
  reply: FastifyReply,
  submitted: Submitted,
  deliverDirectly: DeliverDirectly,
): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  if (reply.raw.closed) gone.abort()
  const delivered = await deliverDirectly(submitted, gone.signal)
  if (delivered === undefined) return answerSent(reply, submitted)
  const { repeated: _, ...answer } = submitted
  const { deliveredBy, handoff } = delivered
  return withSentHeaders(reply, submitted)
    .code(hasHandoffEnded(handoff.state) ? 200 : 202)
    .send({ ...answer, deliveredBy, handoff: showHandoff(handoff) })
}

async function requireCheckpoint({ body }: FastifyRequest): Promise<void> {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'message')) return
  if (((body as { checkpoint?: unknown }).checkpoint ?? null) === null) throw CHECKPOINT_MISSING
}

const CHECKPOINT_MISSING = new ProblemError({
  status: 422,
  code: 'BATON_CHECKPOINT_MISSING',
  detail: 'a ready message needs the checkpoint its sender resumes from after a rollback',
  fix: 'Add "checkpoint": { ... }, the state of the sending agent; {} where it keeps none.',
  pointer: '/checkpoint',
})
