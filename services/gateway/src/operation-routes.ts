// What operators and tools ask: health, readiness, metrics, schemas, runbooks, the description of this interface.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Metrics } from '@baton/telemetry'
import { addHealthRoutes, ProblemError } from '@baton/http/server'
import { ASYNCAPI } from './asyncapi.ts'
import { answers, only, open, problem } from './operation.ts'
import { addRunbookRoutes } from './runbook-routes.ts'
import { readSchemaDocuments } from './schema-documents.ts'
import type { SchemaDocument } from './schema-documents.ts'

interface OperationRouteOptions {
  readonly metrics: Pick<Metrics, 'expose'>
  readonly readiness: Readiness
}

const PROBE = { config: { quiet: true, rateLimit: false as const } }

export function addOperationRoutes(
  scope: FastifyInstance,
  { metrics, readiness }: OperationRouteOptions,
): void {
  addHealthRoutes(scope, {
    metrics,
    ready: async () => {
      const checks = await readiness()
      return { isReady: checks.database && checks.audit, checks }
    },
    routes: {
      healthz: { ...PROBE, ...HEALTH },
      readyz: { ...PROBE, ...READINESS },
      metrics: { ...PROBE, ...METRICS },
    },
  })
  scope.get('/openapi.json', { ...DESCRIBE, exposeHeadRoute: true }, (_, reply) =>
    reply.header('cache-control', FOR_A_WHILE).send(scope.swagger()),
  )
  scope.get('/asyncapi.json', { ...DESCRIBE_EVENTS, exposeHeadRoute: true }, (_, reply) =>
    reply.header('cache-control', FOR_A_WHILE).send(ASYNCAPI),
  )
  addSchemaRoutes(scope)
  addRunbookRoutes(scope)
}

const HEALTH = open({
  operationId: 'health',
  summary: 'Whether the process is alive',
  response: {
    200: answers('It is', { type: 'object', properties: { status: { const: 'ok' } } }),
  },
})

const READINESS = open({
  operationId: 'readiness',
  summary: 'Whether handoffs can be taken and traced now',
  response: {
    200: answers('The database and the auditor answer', 'Readiness'),
    503: answers('One of them does not', 'Readiness'),
  },
})

const METRICS = only('metrics:read', {
  operationId: 'metrics',
  summary: 'Metrics as Prometheus text or, by Accept, OpenMetrics',
  response: {
    200: {
      description: 'The metrics',
      content: {
        'text/plain': { schema: { type: 'string' } },
        'application/openmetrics-text': { schema: { type: 'string' } },
      },
    },
    401: problem('No valid API key'),
    403: problem('The key lacks the scope'),
  },
})

const DESCRIBE = open({
  operationId: 'describe',
  summary: 'This document',
  response: { 200: answers('OpenAPI 3.1', { type: 'object' }) },
})

const DESCRIBE_EVENTS = open({
  operationId: 'describeEvents',
  summary: 'Events, webhooks and the queue as AsyncAPI describes them',
  response: { 200: answers('AsyncAPI 3.1', { type: 'object' }) },
})

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

function addSchemaRoutes(scope: FastifyInstance): void {
  const { registry, byPath } = readSchemaDocuments()
  scope.get('/schemas', { ...LIST_SCHEMAS, exposeHeadRoute: true }, (request, reply) =>
    sendDocument(reply, registry, {
      known: request.headers['if-none-match'],
      caching: FOR_A_WHILE,
    }),
  )
  scope.get<{ Params: { '*': string } }>(
    '/schemas/*',
    { ...READ_SCHEMA, exposeHeadRoute: true },
    (request, reply) => {
      const document = byPath.get(request.params['*'])
      if (document === undefined) throw NO_SUCH_SCHEMA
      return sendDocument(reply, document, {
        known: request.headers['if-none-match'],
        caching: FOR_EVER,
      })
    },
  )
}

const text = { type: 'string' }

const LIST_SCHEMAS = open({
  operationId: 'listSchemas',
  summary: 'The registry: every published schema with its SHA-256',
  response: {
    200: answers('The registry', {
      type: 'array',
      items: { type: 'object', properties: { id: text, path: text, sha256: text } },
    }),
  },
})

const READ_SCHEMA = open({
  operationId: 'readSchema',
  summary: 'One published schema; it never changes',
  params: {
    type: 'object',
    properties: {
      '*': {
        type: 'string',
        description: 'A path of the registry, slashes included.',
        examples: ['handoff/2.1.json'],
      },
    },
  },
  response: {
    200: {
      description: 'The schema',
      content: { 'application/schema+json': { schema: { type: 'object' } } },
    },
    304: { description: 'It is the one named by If-None-Match', type: 'null' },
    404: problem('There is no such thing'),
    429: problem('Too many requests, or too much waits for delivery; see Retry-After'),
  },
})

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
  detail: 'the registry has no schema at this path',
  fix: 'GET /schemas lists all of them.',
})
