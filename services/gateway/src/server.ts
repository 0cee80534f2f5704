// The HTTP server around the routes: bounded in size, rate and time; whatever goes wrong is a problem+json.
import rateLimit from '@fastify/rate-limit'
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limitConnections } from '@baton/http/connections'
import type { ConnectionBounds } from '@baton/http/connections'
import type { Logger } from '@baton/runtime'
import type { ApiKey } from './api-keys.ts'
import { HEADERS_BYTES_MAX, HEADERS_MS, REQUEST_MS, answerBrokenRequest } from './broken-request.ts'
import { ProblemError, problemBody, problemOf } from './problem.ts'
import { BODY_BYTES_MAX, readJsonStrictly } from './request-body.ts'
import { addRequestContext } from './request-context.ts'

interface ServerOptions {
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  /** Requests per minute and API key. */
  readonly rateMax: number
  readonly connections: ConnectionBounds
  readonly logger: Logger
  /** Adds the routes; by then every bound is in place. */
  readonly addRoutes: (server: FastifyInstance) => void
}

/** For callers that are known; others have less time. */
const IDLE_MS = 60_000

export interface BoundedServer {
  readonly server: FastifyInstance
  /** `GET /v2/tasks/{id}` for every route, known once the server is ready. */
  readonly routes: ReadonlySet<string>
}

/** A server that is ready to listen. A slow or silent client loses its connection, not the others' time. */
export function createServer(options: ServerOptions): BoundedServer {
  const { apiKeys, logger, rateMax, connections, addRoutes } = options
  const server = fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    connectionTimeout: IDLE_MS,
    keepAliveTimeout: IDLE_MS,
    http: {
      headersTimeout: HEADERS_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: HEADERS_BYTES_MAX,
    },
    routerOptions: { maxParamLength: 256 },
    ajv: {
      customOptions: {
        allErrors: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        ownProperties: true,
        allowUnionTypes: true,
      },
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_, request, reply) => void sendProblem(request, reply, URL_INVALID),
  })
  const { authenticated } = limitConnections(server.server, connections)
  addRequestContext(server, { apiKeys, logger, authenticated })
  readJsonStrictly(server)
  answerProblems(server, logger)
  void server.register(rateLimit, {
    max: rateMax,
    timeWindow: 60_000,
    enableDraftSpec: true,
    keyGenerator: ({ identified, ip }) => (identified.ok ? identified.key.id : `address ${ip}`),
    errorResponseBuilder: (_, { ttl }) => rateLimited(ttl),
  })
  const routes = new Set<string>()
  void server.register(async (scope) => {
    const allowed = collectMethods(scope)
    addRoutes(scope)
    for (const [url, methods] of allowed)
      for (const method of methods) routes.add(routeName(method, url))
    routes.delete('')
    refuseOtherMethods(scope, allowed)
  })
  return { server, routes }
}

function answerProblems(server: FastifyInstance, logger: Logger): void {
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    if (problem.status >= 500) logger.error({ event: 'http.failed', code: problem.code, error })
    return sendProblem(request, reply, problem)
  })
  server.setNotFoundHandler((request, reply) => sendProblem(request, reply, ROUTE_UNKNOWN))
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: ProblemError,
): FastifyReply {
  request.problemCode = problem.code
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .header('cache-control', 'no-store')
    .header('content-type', 'application/problem+json')
    .send(problemBody(problem, request.span?.traceId))
}

// HEAD comes with every GET and is not described by itself.
const routeName = (method: string, url: string): string =>
  method === 'HEAD' ? '' : `${method} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}')}`

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
function refuseOtherMethods(
  server: FastifyInstance,
  allowed: ReadonlyMap<string, Set<string>>,
): void {
  for (const [url, methods] of allowed) {
    const refused = METHODS.filter((method) => !methods.has(method))
    const problem = methodNotAllowed([...methods].join(', '))
    const refuse = async () => {
      throw problem
    }
    server.route({
      method: refused,
      url,
      config: { refused: true },
      preParsing: refuse,
      handler: refuse,
    })
  }
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
