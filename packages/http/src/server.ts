// An HTTP server in bounds: sizes, times and connections are limited before anything is read, and what goes wrong is a problem.
import type { Socket } from 'node:net'
import fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { compileWhenAsked } from './compile-when-asked.ts'
import { limitConnections } from './connections.ts'
import type { ConnectionBounds, ConnectionLimit } from './connections.ts'
import { requireKnownParameters } from './known-parameters.ts'
import { PROBLEM_TYPE, problemBody, ProblemError, writeProblem } from './problem.ts'
import { createServerOver, schemeOf } from './tls-server.ts'
import type { ServerTls } from './tls-server.ts'
import { dropBody } from './unread-bodies.ts'

export { DECISION_UNREADABLE, ProblemError, problemBody, PROBLEM_TYPE } from './problem.ts'
export type { ProblemItem, ProblemOptions } from './problem.ts'
export { addHealthRoutes } from './health.ts'
export { bearerOf, matcherOf, requireToken } from './tokens.ts'
export type { RequireToken } from './tokens.ts'
export type { ConnectionBounds } from './connections.ts'
export { createListenerOver, createServerOver, schemeOf } from './tls-server.ts'
export type { ServerTls } from './tls-server.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they came; undefined where there was none. */
    bodyBytes: Buffer | undefined
  }
}

export interface HttpServerOptions {
  readonly bodyBytesMax: number
  /** How long a request may take to arrive. */
  readonly requestMs: number
  /** How long a connection may be silent, also while its request is worked on; without it, for ever. */
  readonly silentMs?: number
  readonly connections: ConnectionBounds
  /** Plain HTTP without it. */
  readonly tls?: ServerTls | undefined
  /** Whether a request is told of everything that is wrong with it, or of one thing. */
  readonly allErrors: boolean
  /** The problem that any thrown value becomes. */
  readonly problemOf: (error: unknown) => ProblemError
  readonly routeUnknown: ProblemError
  /** Hears of every problem that is answered, and says under which trace it is found. */
  readonly onProblem?: (
    request: FastifyRequest,
    problem: ProblemError,
    error?: unknown,
  ) => string | undefined
}

export interface HttpServer {
  readonly server: FastifyInstance
  /** Says that the caller of a request has proven who they are. */
  readonly authenticated: ConnectionLimit['authenticated']
}

/** How long headers may take to arrive, and how large they may be. */
const HEADERS_MS = 5_000
const HEADERS_BYTES_MAX = 16_384
/** For callers that are known; others have less time. */
const IDLE_MS = 60_000

const NODE_SERVER = {
  headersTimeout: HEADERS_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: HEADERS_BYTES_MAX,
  // Node would answer with nothing but a status; the hook below answers with a problem.
  requireHostHeader: false,
}

/** Schemas are checked as they are written, and nothing is changed by the check. */
const AJV = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  ownProperties: true,
  allowUnionTypes: true,
} as const

/**
 * A server that is ready for routes. A slow or silent client loses its connection, not the others' time. Schemas of
 * answers describe them and change nothing: what is sent is what the route answers.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { bodyBytesMax, requestMs, silentMs = 0, connections, allErrors, routeUnknown } = options
  const server = fastify({
    logger: false,
    // A HEAD would run the whole route; those that cost nothing say so themselves.
    exposeHeadRoutes: false,
    bodyLimit: bodyBytesMax,
    serverFactory(handler) {
      const server = createServerOver(options.tls, NODE_SERVER, handler)
      server.requestTimeout = requestMs
      // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a word.
      server.on('checkExpectation', (request, response) => {
        server.emit('request', request, response)
      })
      return server.setTimeout(silentMs)
    },
    routerOptions: { maxParamLength: 256 },
    schemaController: { compilersFactory: { buildValidator: compileWhenAsked() } },
    ajv: { customOptions: { ...AJV, allErrors, keywords: ['x-examples'] } },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, requestMs),
    frameworkErrors: (_, request, reply) => void answer(request, reply, URL_INVALID),
  })
  const answer = (
    request: FastifyRequest,
    reply: FastifyReply,
    problem: ProblemError,
    error?: unknown,
  ) => sendProblem(reply, problem, options.onProblem?.(request, problem, error))
  server.setSerializerCompiler(() => (data) => JSON.stringify(data))
  server.removeAllContentTypeParsers()
  server.decorateRequest('bodyBytes')
  server.addHook('onRequest', requireHost)
  server.addHook('preValidation', requireKnownParameters)
  server.addHook('onSend', async ({ raw }, { statusCode }) => {
    if (statusCode >= 400 && !raw.complete && !raw.readableEnded) await dropBody(raw)
  })
  server.setErrorHandler((error, request, reply) =>
    answer(request, reply, options.problemOf(error), error),
  )
  server.setNotFoundHandler((request, reply) => answer(request, reply, routeUnknown))
  const { authenticated } = limitConnections(server.server, connections)
  return { server, authenticated }
}

/** Answers the URL at which it listens. */
export async function listenOn(
  server: FastifyInstance,
  address: { readonly host: string; readonly port: number },
): Promise<string> {
  const url = await server.listen(address)
  return url.replace(/^http:/, `${schemeOf(server.server)}:`)
}

/** Answers with a problem; `traceId` finds the request in logs and traces. */
export const sendProblem = (
  reply: FastifyReply,
  problem: ProblemError,
  traceId?: string,
): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problem.headers)
    .header('cache-control', 'no-store')
    .header('content-type', PROBLEM_TYPE)
    .send(problemBody(problem, traceId))

/** Reads bodies of one content type with `parse`, which throws a problem for what it cannot read. The bytes are kept beside. */
export function readBodies(
  scope: FastifyInstance,
  contentType: string,
  parse: (bytes: Buffer) => unknown,
): void {
  scope.addContentTypeParser(contentType, { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer
    try {
      requirePlain(request)
      request.bodyBytes = bytes
      done(null, parse(bytes))
    } catch (error) {
      done(error as Error)
    }
  })
}

// Compressed bytes would be called no JSON, and nobody would look for the reason in a header.
function requirePlain({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') throw BODY_ENCODED
}

const BODY_ENCODED = new ProblemError({
  status: 415,
  code: 'BATON_MEDIA_TYPE_UNSUPPORTED',
  detail: 'the body has a content encoding',
  fix: 'Send the body as it is, without Content-Encoding.',
  headers: { 'accept-encoding': 'identity' },
})

async function requireHost({ raw }: FastifyRequest): Promise<void> {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) throw HOST_MISSING
}

const HOST_MISSING = new ProblemError({
  status: 400,
  code: 'BATON_REQUEST_INVALID',
  detail: 'the request names no host, as HTTP/1.1 asks for',
  fix: 'Send the header Host, as every HTTP client library does.',
})

/** Ends a request of this scope that takes longer than `requestMs` to arrive: for scopes that wait less than their server. */
export function limitArrival(scope: FastifyInstance, requestMs: number): void {
  scope.addHook('onRequest', async ({ raw }) => {
    const timer = setTimeout(() => {
      if (!raw.complete) answerBrokenRequest(TOO_SLOW, raw.socket, requestMs)
    }, requestMs)
    raw.once('close', () => clearTimeout(timer))
  })
}

const TOO_SLOW: Broken = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

type Broken = Error & { readonly code?: string }

/** Writes a problem to the socket, which is all that is known of such a request, and ends it. */
function answerBrokenRequest(error: Broken, socket: Socket, requestMs: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  writeProblem(socket, brokenProblem(error.code, requestMs))
}

function brokenProblem(code: string | undefined, requestMs: number): ProblemError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ProblemError({
      status: 408,
      code: 'BATON_REQUEST_TOO_SLOW',
      detail: 'the request did not arrive in time',
      fix: `Send the headers within ${HEADERS_MS / 1000} s and the body within ${requestMs / 1000} s.`,
    })
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ProblemError({
      status: 431,
      code: 'BATON_HEADERS_TOO_LARGE',
      detail: 'the headers are larger than they may be',
      fix: `Send at most ${HEADERS_BYTES_MAX} bytes of headers.`,
    })
  return new ProblemError({
    status: 400,
    code: 'BATON_REQUEST_INVALID',
    detail: 'this is not an HTTP/1.1 request',
    fix: 'Use an HTTP client library.',
  })
}

const URL_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_URL_INVALID',
  detail: 'the path of the request cannot be read',
  fix: 'Encode the path as UTF-8 with percent-encoding, and keep parameters short.',
})
