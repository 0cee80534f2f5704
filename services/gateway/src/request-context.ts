// What every request carries: a span in the caller's trace, and who the caller is. Logged by route, never by URL.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '@baton/runtime'
import { formatTracestate, parseTraceparent, parseTracestate, startSpan } from '@baton/telemetry'
import type { Span } from '@baton/telemetry'
import { actForCallers } from './acting.ts'
import type { Access, Identified, Scope } from './api-keys.ts'
import { withheldProblem } from '@baton/http/access-tokens'
import { ProblemError } from '@baton/http/server'

declare module 'fastify' {
  interface FastifyRequest {
    /** The server span of this request. */
    span: Span
    identified: Identified
    /** The code of the problem that was answered. */
    problemCode: string | undefined
  }
  interface FastifyContextConfig {
    /** Probes come every second; they are logged at debug. */
    readonly quiet?: boolean
  }
}

const TRACESTATE_MAX = 512

/** Starts a span before anything else; answers with `traceparent`. */
export function addRequestContext(server: FastifyInstance, logger: Logger): void {
  for (const member of ['span', 'identified', 'problemCode'] as const)
    server.decorateRequest(member)
  server.addHook('onRequest', async (request, reply) => {
    request.span = spanOf(request)
    reply.header('traceparent', request.span.traceparent)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('cache-control', 'no-store')
  })
  actForCallers(server)
  server.addHook('onResponse', async (request, reply) => {
    request.span.setAttributes({ 'http.response.status_code': reply.statusCode })
    request.span.end(request.problemCode === undefined ? {} : { error: request.problemCode })
    logAnswer(logger, request, reply)
  })
}

function spanOf(request: FastifyRequest): Span {
  const method = request.method
  const route = request.routeOptions.url ?? 'unknown'
  return startSpan({
    name: `${method} ${route}`,
    kind: 'server',
    ...callerTrace(request.headers),
    attributes: { 'http.request.method': method, 'http.route': route },
  })
}

// Of a caller's headers, or of what stands for them. W3C: an invalid traceparent restarts the trace and takes tracestate with it; an invalid
// tracestate is dropped alone. What a message could not carry is dropped too.
export function callerTrace(headers: Readonly<Record<string, string | string[] | undefined>>): {
  parent?: string
  tracestate?: string
} {
  const parent = String(headers['traceparent'] ?? '')
  if (parseTraceparent(parent) === undefined) return {}
  const members = parseTracestate(String(headers['tracestate'] ?? '')) ?? []
  const tracestate = formatTracestate(members)
  return members.length === 0 || tracestate.length > TRACESTATE_MAX
    ? { parent }
    : { parent, tracestate }
}

function logAnswer(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { method, span, identified, problemCode } = request
  const { url: route, config } = request.routeOptions
  logger[config.quiet === true ? 'debug' : 'info']({
    event: 'http.answered',
    method,
    route,
    status: reply.statusCode,
    code: problemCode,
    apiKeyId: identified.ok ? identified.key.id : undefined,
    address: request.ip,
    traceId: span.traceId,
    elapsedMs: Math.round(reply.elapsedTime * 10) / 10,
  })
}

/** A hook that lets only callers with `scope` pass; it runs before the body is read. */
export function requireScope(scope: Scope) {
  return async ({ identified }: FastifyRequest): Promise<void> => {
    keyWithScope(identified, scope)
  }
}

/** What who called may, `scope` among it; throws 401 and 403 otherwise. */
export function keyWithScope(identified: Identified, scope: Scope): Access {
  if (!identified.ok) throw refusalOf(identified.why)
  const { scopes, withheld } = identified.key
  if (scopes.has(scope)) return identified.key
  const missing = withheld?.get(scope)
  throw missing === undefined ? scopeMissing(scope) : withheldProblem(scope, missing)
}

/** Why who called is nobody, in words. */
export const refusalOf = (why: Exclude<Identified, { ok: true }>['why']): ProblemError =>
  typeof why === 'string' ? REFUSED[why] : why

const unauthorized = (code: `BATON_${string}`, detail: string, fix: string) =>
  new ProblemError({
    status: 401,
    code,
    detail,
    fix,
    headers: { 'www-authenticate': 'Bearer realm="baton"' },
  })

const REFUSED = {
  missing: unauthorized(
    'BATON_API_KEY_MISSING',
    'the request carries no API key',
    'Send the header Authorization: Bearer bk_<id>_<secret>.',
  ),
  scheme: unauthorized(
    'BATON_API_KEY_INVALID',
    'the Authorization header is not of the scheme Bearer',
    'Send Authorization: Bearer bk_<id>_<secret>; Basic and other schemes are not taken here.',
  ),
  unknown: unauthorized(
    'BATON_API_KEY_INVALID',
    'this is not a valid API key',
    'Send the key exactly as it was made; ask the operator for a new one if it is lost.',
  ),
  expired: unauthorized(
    'BATON_API_KEY_EXPIRED',
    'the API key has expired',
    'Ask the operator for a new key.',
  ),
  revoked: unauthorized(
    'BATON_API_KEY_REVOKED',
    'the API key was revoked',
    'Ask the operator why, and for a new key.',
  ),
  unread: new ProblemError({
    status: 503,
    code: 'BATON_API_KEYS_UNREAD',
    detail: 'whose key this is cannot be looked up now',
    fix: 'Send it again after the time in Retry-After; the key itself may be fine.',
    headers: { 'retry-after': '1' },
  }),
}

export const scopeMissing = (scope: Scope) =>
  new ProblemError({
    status: 403,
    code: 'BATON_SCOPE_MISSING',
    detail: `the API key or access token does not have the scope ${scope}`,
    fix: 'Use one with this scope, or ask the operator to add it.',
  })
