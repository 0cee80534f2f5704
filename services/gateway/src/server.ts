// The HTTP server around the routes: bounded in size, rate and time; whatever goes wrong is a problem+json.
import type { Socket } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from '@baton/runtime'
import type { ApiKey } from './api-keys.ts'
import { ProblemError, problemBody, problemOf } from './problem.ts'
import { BODY_BYTES_MAX, readJsonStrictly } from './request-body.ts'
import { addRequestContext } from './request-context.ts'

interface ServerOptions {
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  /** Requests per minute and API key. */
  readonly rateMax: number
  readonly connectionsMax: number
  readonly logger: Logger
  /** Adds the routes; by then every bound is in place. */
  readonly addRoutes: (server: FastifyInstance) => void
}

const HEADERS_MS = 5_000
const REQUEST_MS = 15_000
const IDLE_MS = 60_000
const HEADERS_BYTES_MAX = 16_384

/** A server that is ready to listen. A slow or silent client loses its connection, not the others' time. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { apiKeys, logger, rateMax, connectionsMax, addRoutes } = options
  const server = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: IDLE_MS,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: 1_000, maxHeaderSize: HEADERS_BYTES_MAX },
    routerOptions: { maxParamLength: 256 },
    ajv: {
      customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: false, ownProperties: true, allowUnionTypes: true },
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_, request, reply) => void sendProblem(request, reply, URL_INVALID),
  })
  server.server.maxConnections = connectionsMax
  addRequestContext(server, { apiKeys, logger })
  readJsonStrictly(server)
  answerProblems(server, logger)
  void server.register(rateLimit, {
    max: rateMax,
    timeWindow: 60_000,
    enableDraftSpec: true,
    keyGenerator: ({ identified, ip }) => (identified.ok ? identified.key.id : `address ${ip}`),
    errorResponseBuilder: (_, { ttl }) => rateLimited(ttl),
  })
  void server.register(async (scope) => {
    const allowed = collectMethods(scope)
    addRoutes(scope)
    refuseOtherMethods(scope, allowed)
  })
  return server
}

function answerProblems(server: FastifyInstance, logger: Logger): void {
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    if (problem.status >= 500) logger.error({ event: 'http.failed', code: problem.code, error })
    return sendProblem(request, reply, problem)
  })
  server.setNotFoundHandler((request, reply) => sendProblem(request, reply, ROUTE_UNKNOWN))
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: ProblemError): FastifyReply {
  request.problemCode = problem.code
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .header('cache-control', 'no-store')
    .header('content-type', 'application/problem+json')
    .send(problemBody(problem, request.span?.traceId))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

function collectMethods(server: FastifyInstance): ReadonlyMap<string, Set<string>> {
  const allowed = new Map<string, Set<string>>()
  server.addHook('onRoute', ({ url, method, config }) => {
    if (config?.refused === true) return
    const methods = allowed.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    allowed.set(url, methods)
  })
  return allowed
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Stands only to answer 405. */
    readonly refused?: boolean
  }
}

// The body of a refused request is not read.
function refuseOtherMethods(server: FastifyInstance, allowed: ReadonlyMap<string, Set<string>>): void {
  for (const [url, methods] of [...allowed]) {
    const refused = METHODS.filter((method) => !methods.has(method))
    const problem = methodNotAllowed([...methods].join(', '))
    const refuse = async () => {
      throw problem
    }
    server.route({ method: refused, url, config: { refused: true }, preParsing: refuse, handler: refuse })
  }
}

// Nothing of such a request is known but its socket.
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const problem = BROKEN[error.code ?? ''] ?? REQUEST_INVALID
  const body = problemBody(problem, undefined)
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const REQUEST_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_REQUEST_INVALID',
  detail: 'This is not an HTTP/1.1 request',
  fix: 'Use an HTTP client library.',
})

const BROKEN: Readonly<Record<string, ProblemError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ProblemError({
    status: 408,
    code: 'BATON_REQUEST_TOO_SLOW',
    detail: 'The request did not arrive in time',
    fix: `Send the headers within ${HEADERS_MS / 1000} s and the body within ${REQUEST_MS / 1000} s.`,
  }),
  HPE_HEADER_OVERFLOW: new ProblemError({
    status: 431,
    code: 'BATON_HEADERS_TOO_LARGE',
    detail: 'The headers are larger than they may be',
    fix: `Send at most ${HEADERS_BYTES_MAX} bytes of headers.`,
  }),
}

const URL_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_URL_INVALID',
  detail: 'The path of the request cannot be read',
  fix: 'Encode the path as UTF-8 with percent-encoding, and keep parameters short.',
})

const ROUTE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'There is nothing at this path',
  fix: 'GET /openapi.json lists every path.',
})

const methodNotAllowed = (allow: string) =>
  new ProblemError({
    status: 405,
    code: 'BATON_METHOD_NOT_ALLOWED',
    detail: 'This path does not take this method',
    fix: `Use ${allow}.`,
    headers: { allow },
  })

const rateLimited = (ttlMs: number) =>
  new ProblemError({
    status: 429,
    code: 'BATON_RATE_LIMITED',
    detail: 'More requests than this key may send in a minute',
    fix: 'Send again after the time in Retry-After, and spread requests over time.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ttlMs / 1000))) },
  })
