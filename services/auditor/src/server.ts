// The auditor's HTTP server: JSON in valid UTF-8 in, problems out, and health; metrics are shown elsewhere.
import { addHealthRoutes, createHttpServer, ProblemError, readBodies } from '@baton/http/server'
import type { FastifyInstance } from 'fastify'
import type { Core } from './core.ts'
import { OPENAPI } from './openapi.ts'
import { OPERATIONS } from './operations.ts'
import { NOT_JSON, problemOf } from './problem.ts'

const REQUEST_MS = 30_000

export function createServer({ settings, logger, tls, answers }: Core): FastifyInstance {
  const { server, authenticated } = createHttpServer({
    bodyBytesMax: settings.BATON_AUDIT_BODY_BYTES_MAX,
    requestMs: REQUEST_MS,
    connections: {
      max: settings.BATON_AUDITOR_CONNECTIONS_MAX,
      perAddressMax: settings.BATON_AUDITOR_CONNECTIONS_PER_ADDRESS_MAX,
    },
    tls: { tls, clients: settings.BATON_TLS_CLIENTS, logger },
    allErrors: false,
    problemOf,
    routeUnknown: ROUTE_UNKNOWN,
    onProblem(_, { status, code }, error) {
      if (status >= 500) logger.error({ event: 'audit.request_failed', code, error })
      return undefined
    },
  })
  // Who has passed a route's own check is known; routes for everybody have none.
  server.addHook('onRoute', (route) => {
    if (route.onRequest === undefined) return
    route.preParsing = async (_, reply) => authenticated(reply.raw)
  })
  refuseHead(server)
  readBodies(server, 'application/json', parseUtf8)
  addHealthRoutes(server, { ready: async () => ({ isReady: await answers() }) })
  server.get('/openapi.json', { exposeHeadRoute: true }, () => OPENAPI)
  return server
}

/** Whatever must be read or computed to say what a HEAD would be told is not done for it; fastify would run the whole route. */
function refuseHead(server: FastifyInstance): void {
  server.addHook('onRoute', ({ method, url, exposeHeadRoute }) => {
    if (method !== 'GET' || exposeHeadRoute === true) return
    server.head(url, async () => {
      throw ONLY_GET
    })
  })
}

const ONLY_GET = new ProblemError({
  status: 405,
  code: 'BATON_METHOD_NOT_ALLOWED',
  detail: 'this path does not take this method',
  fix: 'Use GET.',
  headers: { allow: 'GET' },
})

const decoder = new TextDecoder('utf-8', { fatal: true })

// Bytes that are not UTF-8 are refused instead of being replaced, so that what is hashed was sent.
function parseUtf8(bytes: Buffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    throw NOT_JSON
  }
}

const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))].join(', ')

const ROUTE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'there is nothing at this path for this method',
  fix: `Use ${PATHS}; /openapi.json says which method each takes. Metrics are at BATON_OPS_PORT.`,
})
