// How a protocol speaks to the gateway: a scope of its own, in which nothing of another one holds.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { RefusalRecorder, RequireRoom } from '@baton/engine'
import { limitArrival, PROBLEM_TYPE, problemBody, readBodies } from '@baton/http/server'
import type { ProblemError } from '@baton/http/server'
import type { Logger } from '@baton/runtime'
import { keyOf } from './acting.ts'
import type { Identified } from './api-keys.ts'
import { requireOwnPriority } from './own-priority.ts'
import { parseStrictly } from './request-body.ts'
import { requireScope } from './request-context.ts'
import type { Submission } from './submission.ts'
import type { RequestKey, Submitted, Submitter } from './submit.ts'

/** A part of the gateway with its own way to be called. */
export interface Face {
  /** Below which path it stands; '' is the root. */
  readonly path: string
  /** What bodies it takes, and how each is read; another content type is refused. */
  readonly contentTypes: Readonly<Record<string, (bytes: Buffer) => unknown>>
  /** Whose request it is. */
  readonly authentication: (request: FastifyRequest) => Identified | Promise<Identified>
  /** A problem as its callers read it. The body of the request may be unread by then. */
  readonly errorEnvelope: (
    problem: ProblemError,
    traceId: string | undefined,
    request: Pick<FastifyRequest, 'headers' | 'body'>,
  ) => Envelope
  /** How long a request may take to arrive; at most as long as the server waits. */
  readonly requestMs: number
  readonly addRoutes: (scope: FastifyInstance) => void
}

export interface Envelope {
  /** That of the problem, unless this protocol has another one. */
  readonly status?: number
  readonly contentType: string
  readonly body: string | Buffer
}

/** A face through which handoffs are sent. */
export interface Dialect extends Omit<Face, 'addRoutes'> {
  /** Where those who have the scope `handoffs:send` post handoffs, below its path, and what a body must be. */
  readonly post: { readonly path: string; readonly options: RouteShorthandOptions }
  /** What a body asks to be sent. Throws problems. */
  readonly toSubmission: (request: FastifyRequest) => Submission | Promise<Submission>
  /** Says that a repetition of this request is one; undefined where it says nothing about that. */
  readonly requestKey?: (request: FastifyRequest) => RequestKey | undefined
  /** Answers what was sent; by then it is durable. */
  readonly fromOutcome: (reply: FastifyReply, submitted: Submitted) => unknown
  /** What else it has. */
  readonly addRoutes?: (scope: FastifyInstance) => void
}

export interface Sending {
  readonly submitter: Submitter
  readonly requireRoom: RequireRoom
  /** Where refusals at the door are recorded. */
  readonly refusals: RefusalRecorder
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly logger: Logger
}

/** The face of a dialect: what it is sent becomes handoffs, in the bounds and on the record of all others. */
export function faceOf(dialect: Dialect, sending: Sending): Face {
  const { post, addRoutes } = dialect
  return {
    ...dialect,
    addRoutes(scope) {
      const config = { ...post.options.config, takesHandoffs: true }
      const options = { ...post.options, config, preParsing: requireScope('handoffs:send') }
      scope.post(post.path, options, async (request, reply) => {
        const submitted = await sending.bounded(() => send(request, { dialect, ...sending }))
        return dialect.fromOutcome(reply, submitted)
      })
      addRoutes?.(scope)
    },
  }
}

async function send(
  request: FastifyRequest,
  { dialect, submitter, requireRoom, logger }: Sending & { readonly dialect: Dialect },
): Promise<Submitted> {
  const submission = await dialect.toSubmission(request)
  const { agentType, priority } = submission
  requireOwnPriority(keyOf(request), priority)
  await requireRoom({ agentType, priority, tenant: keyOf(request).tenant })
  const submitted = await submitter.submit(submission, dialect.requestKey?.(request))
  const { handoffId, taskId, traceparent, repeated } = submitted
  logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
  return submitted
}

/** What the gateway's own faces have in common: strict JSON in, RFC 9457 problems out. */
export const JSON_FACE = {
  contentTypes: { 'application/json': (bytes: Buffer) => parseStrictly(bytes) },
  errorEnvelope: (problem: ProblemError, traceId: string | undefined) => ({
    contentType: PROBLEM_TYPE,
    body: problemBody(problem, traceId),
  }),
}

/** Makes a scope read and wait as its face does. */
export function readAs(scope: FastifyInstance, face: Face, serverMs: number): void {
  for (const [contentType, parse] of Object.entries(face.contentTypes))
    readBodies(scope, contentType, parse)
  if (face.requestMs < serverMs) limitArrival(scope, face.requestMs)
}
