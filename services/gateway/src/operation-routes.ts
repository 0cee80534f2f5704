// What operators and tools ask: health, readiness, metrics, schemas, the description of this interface.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Metrics } from '@baton/telemetry'
import { OPENAPI } from './openapi.ts'
import { ProblemError } from './problem.ts'
import { requireScope } from './request-context.ts'
import { readSchemaDocuments } from './schema-documents.ts'
import type { SchemaDocument } from './schema-documents.ts'

interface OperationRouteOptions {
  readonly metrics: Pick<Metrics, 'expose'>
  readonly readiness: Readiness
}

const PROBE = { config: { quiet: true, rateLimit: false as const } }

export function addOperationRoutes(server: FastifyInstance, options: OperationRouteOptions): void {
  server.get('/healthz', PROBE, () => ({ status: 'ok' }))
  server.get('/readyz', PROBE, async (_, reply) => {
    const checks = await options.readiness()
    if (checks.database && checks.audit) return { status: 'ready', checks }
    return reply.code(503).header('retry-after', '1').send({ status: 'not ready', checks })
  })
  server.get(
    '/metrics',
    { ...PROBE, preParsing: requireScope('metrics:read') },
    async (request, reply) => {
      const { contentType, body } = await options.metrics.expose(request.headers.accept)
      return reply.header('content-type', contentType).header('vary', 'accept').send(body)
    },
  )
  server.get('/openapi.json', (_, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(OPENAPI),
  )
  addSchemaRoutes(server)
}

const READINESS_FRESH_MS = 500

/** Whether what the gateway needs answers. */
export type Readiness = () => Promise<{ readonly database: boolean; readonly audit: boolean }>

interface ReadinessOptions {
  readonly databaseReady: () => Promise<boolean>
  readonly auditReady: () => Promise<boolean>
}

/** Probes of several load balancers share one look. */
export function createReadiness({ databaseReady, auditReady }: ReadinessOptions): Readiness {
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let latest: ReturnType<Readiness> | undefined
  const look = async () => {
    const [database, audit] = await Promise.all([databaseReady(), auditReady()])
    return { database, audit }
  }
  return () => {
    const nowMs = performance.now()
    if (latest === undefined || nowMs - lookedAtMs >= READINESS_FRESH_MS) {
      lookedAtMs = nowMs
      latest = look()
    }
    return latest
  }
}

const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_A_WHILE = 'public, max-age=300'

function addSchemaRoutes(server: FastifyInstance): void {
  const { registry, byPath } = readSchemaDocuments()
  server.get('/schemas', (request, reply) =>
    sendDocument(reply, registry, {
      known: request.headers['if-none-match'],
      caching: FOR_A_WHILE,
    }),
  )
  server.get<{ Params: { '*': string } }>('/schemas/*', (request, reply) => {
    const document = byPath.get(request.params['*'])
    if (document === undefined) throw NO_SUCH_SCHEMA
    return sendDocument(reply, document, {
      known: request.headers['if-none-match'],
      caching: FOR_EVER,
    })
  })
}

interface Conditions {
  readonly known: string | undefined
  readonly caching: string
}

function sendDocument(
  reply: FastifyReply,
  { path, bytes, etag }: SchemaDocument,
  { known, caching }: Conditions,
) {
  reply.header('etag', etag).header('cache-control', caching)
  if (known === etag) return reply.code(304).send()
  const contentType = path === 'registry.json' ? 'application/json' : 'application/schema+json'
  return reply.header('content-type', contentType).send(bytes)
}

const NO_SUCH_SCHEMA = new ProblemError({
  status: 404,
  code: 'BATON_SCHEMA_UNKNOWN',
  detail: 'The registry has no schema at this path',
  fix: 'GET /schemas lists all of them.',
})
