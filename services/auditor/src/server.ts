// The auditor's HTTP interface: append, trace, verify, health, metrics.
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { limitConnections } from '@baton/http/connections'
import type { ConnectionBounds } from '@baton/http/connections'
import { BatonError, codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { TaskTrace, VerifyReport } from '@baton/audit'
import type { Receipt } from '@baton/ledger'
import type { Metrics } from '@baton/telemetry'
import type { Appender, RequireToken } from './access.ts'
import { ProblemError, problemBody } from './problem.ts'
import type { Problem } from './problem.ts'
import type { ScrubStatus } from './scrubber.ts'

export interface AuditorRoutes {
  readonly append: (body: unknown, appender: Appender) => Promise<readonly Receipt[]>
  readonly checkReceipts: (body: unknown) => Promise<readonly string[]>
  readonly trace: (taskId: string) => Promise<TaskTrace>
  readonly scrub: () => ScrubStatus
  readonly verify: () => Promise<VerifyReport>
  readonly ready: () => Promise<boolean>
}

interface ServerOptions {
  readonly routes: AuditorRoutes
  readonly appenderOf: (authorization: string | undefined) => Appender
  readonly mayRead: RequireToken
  readonly metrics: Pick<Metrics, 'auditAppendSeconds' | 'expose'>
  readonly bodyBytesMax: number
  readonly connections: ConnectionBounds
  readonly logger: Logger
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const HEADERS_MS = 5_000
/** For callers that are known; others have less time. */
const IDLE_MS = 60_000

export function createServer(options: ServerOptions): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: options.bodyBytesMax,
    requestTimeout: 30_000,
    keepAliveTimeout: IDLE_MS,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: 1_000 },
  })
  boundConnections(server, options.connections)
  readJsonStrictly(server)
  answerProblems(server, options.logger)
  addRecordRoutes(server, options)
  addHealthRoutes(server, options)
  return server
}

// Who has passed a route's own check is known; routes for everybody have none.
function boundConnections(server: FastifyInstance, bounds: ConnectionBounds): void {
  const { authenticated } = limitConnections(server.server, bounds)
  server.addHook('onRoute', (route) => {
    if (route.onRequest === undefined) return
    route.preParsing = async (_, reply) => authenticated(reply.raw)
  })
}

// Bytes that are not UTF-8 are refused instead of being replaced, so that what is hashed was sent.
function readJsonStrictly(server: FastifyInstance): void {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => {
    try {
      done(null, JSON.parse(decoder.decode(body as Buffer)))
    } catch {
      done(new ProblemError(NOT_JSON))
    }
  })
}

function addRecordRoutes(server: FastifyInstance, options: ServerOptions): void {
  const { routes, metrics, appenderOf } = options
  server.post('/v1/records', {
    onRequest: async (request) => void appenderOf(request.headers.authorization),
    handler: async (request) => {
      const startedAt = performance.now()
      const receipts = await routes.append(request.body, appenderOf(request.headers.authorization))
      metrics.auditAppendSeconds.observe((performance.now() - startedAt) / 1000)
      return { receipts }
    },
  })
  server.post('/v1/receipts/check', {
    onRequest: async (request) => void appenderOf(request.headers.authorization),
    handler: async (request) => ({ states: await routes.checkReceipts(request.body) }),
  })
  server.get<{ Params: { taskId: string } }>('/v1/traces/:taskId', {
    onRequest: async (request) => options.mayRead(request.headers.authorization),
    handler: async (request) => {
      const { taskId } = request.params
      if (!UUID.test(taskId)) throw new ProblemError(NOT_A_TASK_ID)
      const trace = await routes.trace(taskId)
      if (trace.records.length === 0 && trace.verified) throw new ProblemError(NO_SUCH_TASK)
      return trace
    },
  })
  server.get('/v1/scrub', {
    onRequest: async (request) => options.mayRead(request.headers.authorization),
    handler: () => routes.scrub(),
  })
  server.get('/v1/verify', {
    onRequest: async (request) => options.mayRead(request.headers.authorization),
    handler: () => routes.verify(),
  })
}

function addHealthRoutes(server: FastifyInstance, { routes, metrics }: ServerOptions): void {
  server.get('/healthz', () => ({ status: 'ok' }))
  server.get('/readyz', async (_, reply) => {
    if (await routes.ready()) return { status: 'ready' }
    return reply.code(503).header('retry-after', '1').send({ status: 'not ready' })
  })
  server.get('/metrics', async (request, reply) => {
    const { contentType, body } = await metrics.expose(request.headers.accept)
    return reply.header('content-type', contentType).header('vary', 'accept').send(body)
  })
}

function answerProblems(server: FastifyInstance, logger: Logger): void {
  server.setErrorHandler((error, _, reply) => {
    const problem = problemOf(error)
    if (problem.status >= 500)
      logger.error({ event: 'audit.request_failed', code: problem.code, error })
    return sendProblem(reply, problem)
  })
  server.setNotFoundHandler((_, reply) => sendProblem(reply, NO_SUCH_ROUTE))
}

// As bytes, because a text would get a charset that application/problem+json does not have.
function sendProblem(reply: FastifyReply, problem: Problem) {
  if (problem.retryAfter !== undefined) reply.header('retry-after', String(problem.retryAfter))
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json')
    .send(Buffer.from(problemBody(problem)))
}

function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem
  if (error instanceof BatonError) return batonProblem(error)
  const code = codeOf(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return BODY_TOO_LARGE
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return NOT_JSON
  const status = (error as { statusCode?: number } | null)?.statusCode ?? 500
  const answer = status < 500 ? UNREADABLE : FAILED
  return { status, code: 'BATON_AUDITOR_FAILED', ...answer }
}

const UNREADABLE = { detail: 'the request cannot be read', fix: 'Use an HTTP client library.' }
const FAILED = { detail: 'the auditor failed', fix: 'Read the auditor’s log.' }

function batonProblem(error: BatonError): Problem {
  const { code, message, fix } = error
  const transient = error.kind === 'transient'
  return {
    status: transient ? 503 : 500,
    code,
    detail: message,
    ...(fix === undefined ? {} : { fix }),
    ...(transient ? { retryAfter: 1 } : {}),
  }
}

const NOT_JSON: Problem = {
  status: 400,
  code: 'BATON_BODY_NOT_JSON',
  detail: 'the body is not JSON in UTF-8',
  fix: 'Send a JSON body with content-type application/json.',
  pointer: '',
}
const BODY_TOO_LARGE: Problem = {
  status: 413,
  code: 'BATON_BODY_TOO_LARGE',
  detail: 'the body is larger than the auditor takes',
  fix: 'Send fewer entries in one request.',
}
const NOT_A_TASK_ID: Problem = {
  status: 400,
  code: 'BATON_TASK_ID_INVALID',
  detail: 'a task id is a lower-case UUID',
  fix: 'Give the taskId of a handoff.',
}
const NO_SUCH_TASK: Problem = {
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'the audit log has no record of this task',
  fix: 'Check the task id; a record exists once a handoff of the task has been judged.',
}
const NO_SUCH_ROUTE: Problem = {
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'there is nothing at this path',
  fix: 'Use /v1/records, /v1/receipts/check, /v1/traces/{taskId}, /v1/verify, /v1/scrub, /v1/tiers, /checkpoint, /tile/..., /healthz, /readyz or /metrics.',
}
