// The HTTP server around the faces: bounded in size, rate and time; whatever goes wrong is answered as its face says it.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHttpServer, ProblemError } from '@baton/http/server'
import type { ConnectionBounds, ServerTls } from '@baton/http/server'
import type { Logger } from '@baton/runtime'
import type { Metrics, Span } from '@baton/telemetry'
import { ANSWER_SCHEMAS } from './answer-schemas.ts'
import type { LateRefusals, Meter } from './back-pressure.ts'
import { readAs } from './dialect.ts'
import type { Face } from './dialect.ts'
import { insideCaller } from './inside-call.ts'
import { describeRoutes } from './openapi.ts'
import { problemOf } from './problem.ts'
import { refusedRequest } from './refused-request.ts'
import { BODY_BYTES_MAX } from './request-body.ts'
import type { NoteRefused } from './refused-sends.ts'
import { addRequestContext } from './request-context.ts'
import { REQUEST_SCHEMAS } from './request-schemas.ts'

interface ServerOptions {
  /** Whose request it is where no face says otherwise. */
  readonly authentication: Face['authentication']
  /** Requests per minute and API key. */
  readonly rateMax: number
  /** Counts what each tenant asks; without it nothing is shared. */
  readonly meter?: Meter | undefined
  /** Waits before a refusal for load is answered. */
  readonly late: LateRefusals
  readonly connections: ConnectionBounds
  readonly tls: ServerTls
  readonly metrics: Pick<Metrics, 'requestsRefusedTotal'>
  readonly logger: Logger
  readonly noteRefused: NoteRefused
  readonly faces: readonly Face[]
}

export interface BoundedServer {
  readonly server: FastifyInstance
  /** `GET /v2/tasks/{id}` for every route, known once the server is ready. */
  readonly routes: ReadonlySet<string>
}

/** A server that is ready to listen. */
export function createServer(options: ServerOptions): BoundedServer {
  const { authentication, metrics, logger, rateMax, meter, late, connections, faces, noteRefused } =
    options
  const requestMs = Math.max(...faces.map((face) => face.requestMs))
  const note = (request: FastifyRequest, problem: ProblemError, error?: unknown) => {
    request.problemCode = problem.code
    metrics.requestsRefusedTotal.with({ code: problem.code }).inc()
    if (problem.status >= 500) logger.error({ event: 'http.failed', code: problem.code, error })
    // A path that cannot be read is refused before the request has a span.
    return (request as { readonly span?: Span }).span?.traceId
  }
  const { server, authenticated } = createHttpServer({
    bodyBytesMax: BODY_BYTES_MAX,
    requestMs,
    silentMs: SILENT_MS,
    connections,
    tls: options.tls,
    allErrors: true,
    problemOf,
    routeUnknown: ROUTE_UNKNOWN,
    onProblem: note,
  })
  const identify = async (
    whose: Face['authentication'],
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    request.identified = await whose(request)
    if (request.identified.ok) authenticated(reply.raw)
  }
  addRequestContext(server, logger)
  server.addHook('onRequest', async (request, reply) => identify(authentication, request, reply))
  server.setSchemaErrorFormatter(refusedRequest('thing'))
  for (const schema of [...ANSWER_SCHEMAS, ...REQUEST_SCHEMAS]) server.addSchema(schema)
  void server.register(rateLimit, {
    max: rateMax,
    timeWindow: 60_000,
    enableDraftSpec: true,
    allowList: (request) => insideCaller(request) !== undefined,
    keyGenerator: ({ identified, ip }) => (identified.ok ? identified.key.id : `address ${ip}`),
    errorResponseBuilder: (_, { ttl }) => rateLimited(ttl),
  })
  if (meter !== undefined) server.addHook('onRequest', metering(meter))
  describeRoutes(server)
  const routes = new Set<string>()
  for (const face of faces) {
    const openFace = async (scope: FastifyInstance) => {
      readAs(scope, face, requestMs)
      if (face.authentication !== authentication)
        scope.addHook('onRequest', async (request, reply) =>
          identify(face.authentication, request, reply),
        )
      answerProblems(scope, face, { note, noteRefused, late })
      const allowed = collectMethods(scope)
      face.addRoutes(scope)
      for (const [path, { url, methods }] of allowed) {
        for (const method of methods) routes.add(routeName(method, url))
        refuseOtherMethods(scope, path, methods)
      }
      routes.delete('')
    }
    void server.register(openFace, { prefix: face.path })
  }
  return { server, routes }
}

/** Before a body is read: where its length is not said, or is more than any may have and so is never read, it counts as the longest. */
const metering =
  (meter: Meter) =>
  async (request: FastifyRequest): Promise<void> => {
    const { identified, headers } = request
    if (!identified.ok || insideCaller(request) !== undefined) return
    const length = headers['transfer-encoding'] === undefined ? '0' : String(BODY_BYTES_MAX)
    const bytes = Number(headers['content-length'] ?? length)
    meter(identified.key.tenant, Math.min(bytes, BODY_BYTES_MAX))
  }

type Note = (request: FastifyRequest, problem: ProblemError, error?: unknown) => string | undefined

interface Noting {
  readonly note: Note
  readonly noteRefused: NoteRefused
  readonly late: LateRefusals
}

function answerProblems(scope: FastifyInstance, face: Face, noting: Noting): void {
  const { note, noteRefused, late } = noting
  const answer = (
    request: FastifyRequest,
    reply: FastifyReply,
    { problem, error }: { readonly problem: ProblemError; readonly error?: unknown },
  ) => {
    const traceId = note(request, problem, error)
    const envelope = face.errorEnvelope(problem, traceId, request)
    return reply
      .code(envelope.status ?? problem.status)
      .headers(problem.headers)
      .header('cache-control', 'no-store')
      .header('content-type', envelope.contentType)
      .send(envelope.body)
  }
  scope.setErrorHandler(async (error, request, reply) => {
    const problem = problemOf(error)
    await noteRefused(request, problem)
    await late(problem)
    return answer(request, reply, { problem, error })
  })
  if (face.path === '') return
  scope.setNotFoundHandler((request, reply) => answer(request, reply, { problem: ROUTE_UNKNOWN }))
}

/** How long a connection may be silent while its request is worked on. */
const SILENT_MS = 60_000

// HEAD comes with a GET where it costs nothing, and is not described by itself.
const routeName = (method: string, url: string): string =>
  method === 'HEAD' ? '' : `${method} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{path}')}`

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

interface Allowed {
  readonly url: string
  readonly methods: Set<string>
}

function collectMethods(scope: FastifyInstance): ReadonlyMap<string, Allowed> {
  const allowed = new Map<string, Allowed>()
  scope.addHook('onRoute', ({ url, routePath, method, config }) => {
    if (config?.refused === true) return
    const { methods } = allowed.get(routePath) ?? { methods: new Set<string>() }
    for (const name of [method].flat()) methods.add(name)
    allowed.set(routePath, { url, methods })
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
function refuseOtherMethods(scope: FastifyInstance, url: string, allowed: Set<string>): void {
  const problem = methodNotAllowed([...allowed].join(', '))
  const refuse = async () => {
    throw problem
  }
  scope.route({
    method: METHODS.filter((method) => !allowed.has(method)),
    url,
    config: { refused: true },
    schema: { hide: true },
    preParsing: refuse,
    handler: refuse,
  })
}

const ROUTE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'there is nothing at this path',
  fix: 'GET /openapi.json lists every path.',
})

const methodNotAllowed = (allow: string) =>
  new ProblemError({
    status: 405,
    code: 'BATON_METHOD_NOT_ALLOWED',
    detail: 'this path does not take this method',
    fix: `Use ${allow}.`,
    headers: { allow },
  })

export const rateLimited = (ttlMs: number) =>
  new ProblemError({
    status: 429,
    code: 'BATON_RATE_LIMITED',
    detail: 'more requests than this key may send in a minute',
    fix: 'Send again after the time in Retry-After, and spread requests over time.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(ttlMs / 1000))) },
  })
