// POST /v2/handoffs: answered with 202 only once the handoff is durable.
import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRing } from '@baton/protocol'
import type { RequireRoom } from '@baton/engine'
import type { Logger } from '@baton/runtime'
import { readIdempotencyKey } from './idempotency-key.ts'
import { requiredBody } from './request-body.ts'
import { requireScope } from './request-context.ts'
import { readSubmission } from './submission.ts'
import type { RequestKey, Submitter } from './submit.ts'

interface HandoffRouteOptions {
  readonly keyRing: KeyRing
  readonly findTaskTraceparent: (taskId: string) => Promise<string | undefined>
  readonly submitter: Submitter
  readonly requireRoom: RequireRoom
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly logger: Logger
}

export function addHandoffRoutes(server: FastifyInstance, options: HandoffRouteOptions): void {
  server.post('/v2/handoffs', {
    preParsing: requireScope('handoffs:send'),
    handler: (request, reply) => options.bounded(() => accept(request, reply, options)),
  })
}

async function accept(request: FastifyRequest, reply: FastifyReply, options: HandoffRouteOptions) {
  const key = requestKey(request)
  const submission = readSubmission(request, options)
  await options.requireRoom(submission.agentType, submission.priority)
  const { repeated, ...answer } = await options.submitter.submit(submission, key)
  const { handoffId, taskId, traceparent } = answer
  options.logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
  if (repeated) reply.header('idempotency-replayed', 'true')
  return reply
    .code(202)
    .header('location', `/v2/handoffs/${handoffId}`)
    .header('traceparent', traceparent)
    .send(answer)
}

function requestKey(request: FastifyRequest): RequestKey | undefined {
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  const { identified } = request
  if (key === undefined || !identified.ok) return undefined
  const { bytes } = requiredBody(request)
  return { apiKeyId: identified.key.id, key, requestSha256: hash('sha256', bytes, 'buffer') }
}
