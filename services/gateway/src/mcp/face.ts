// POST /mcp: the Model Context Protocol over Streamable HTTP, without sessions, so that any gateway answers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { ProblemError } from '@baton/http/server'
import { isLoopback } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { startSpan } from '@baton/telemetry'
import type { Span } from '@baton/telemetry'
import { keyOf } from '../acting.ts'
import type { Scope } from '../api-keys.ts'
import type { Envelope, Face } from '../dialect.ts'
import { callInside } from '../inside-call.ts'
import { parseStrictly } from '../request-body.ts'
import { callerTrace, keyWithScope, refusalOf } from '../request-context.ts'
import { REQUEST_MS } from '../v2.ts'
import type { Caller } from './mcp-server.ts'
import { challenging } from './protected-resource.ts'
import type { Protection } from './protected-resource.ts'
import { refusedBy } from './refused.ts'
import { scopeOfResource } from './resources.ts'
import { MCP } from './schema.ts'
import { findTool } from './tools.ts'

export interface McpOptions {
  readonly authentication: Face['authentication']
  /** Where the gateway listens; on the loopback interface nobody has a reason to name another host. */
  readonly host: string
  /** Host names of pages in browsers that may call, beside those of this machine. */
  readonly origins?: readonly string[] | undefined
  /** What refusals say about where to get a token. */
  readonly protection: Protection
  readonly logger: Logger
}

export const createMcpFace = (options: McpOptions): Face => ({
  path: '/mcp',
  contentTypes: { 'application/json': parseStrictly },
  errorEnvelope: rpcEnvelope,
  authentication: options.authentication,
  requestMs: REQUEST_MS,
  addRoutes: (scope) => addMcpRoute(scope, options),
})

/** The body of one message; what is in it is the SDK's to check. */
interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: {
    readonly name?: unknown
    readonly uri?: unknown
    readonly _meta?: Record<string, unknown>
  }
}

function addMcpRoute(scope: FastifyInstance, options: McpOptions): void {
  // Loaded when somebody first asks: most gateways never speak MCP.
  let handler: Promise<McpHttpHandler> | undefined
  const open = async () => (await import('./mcp-server.ts')).createMcp(options.logger)
  scope.addHook('onRequest', async (request) => requireOwnPages(request, options))
  // After the answers to what was asked before.
  scope.addHook('onClose', async () => (await handler)?.close())
  const { protection } = options
  const guarded = {
    ...MCP,
    preParsing: async (request: FastifyRequest) => requireCaller(request, protection),
    schemaErrorFormatter: () => NO_MESSAGE,
    preHandler: async (request: FastifyRequest) => requireMessage(request, protection),
  }
  scope.post('', guarded, async (request, reply) => {
    handler ??= open()
    return answer(await handler, { scope, request, reply })
  })
}

interface Exchange {
  readonly scope: FastifyInstance
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function answer(handler: McpHttpHandler, { scope, request, reply }: Exchange) {
  const key = keyOf(request)
  const message = request.body as Message
  const span = spanOf(request, message)
  const headers = {
    traceparent: span.traceparent,
    ...(span.tracestate === undefined ? {} : { tracestate: span.tracestate }),
  }
  const caller: Caller = {
    scopes: key.scopes,
    async call(route) {
      const made = { ...route, headers: { ...headers, ...route.headers } }
      const answered = await callInside(scope, request, made)
      if (answered.status >= 400) throw refusedBy(answered)
      return answered.body
    },
  }
  try {
    const response = await handler.fetch(webRequest(request, reply), {
      parsedBody: message,
      authInfo: { token: '', clientId: key.id, scopes: [...key.scopes], extra: { caller } },
    })
    return await reply.send(response)
  } finally {
    span.end()
  }
}

// The trace that a client says is the one of what it sends (I9); without one, that of the request.
function spanOf({ span }: FastifyRequest, { method, params }: Message): Span {
  const { traceparent, tracestate } = params?._meta ?? {}
  const given = callerTrace({ traceparent: textOf(traceparent), tracestate: textOf(tracestate) })
  // Names that this gateway knows: others are a caller's text.
  const known = METHODS.find((one) => one === method) ?? 'unknown'
  const name = findTool(params?.name)?.name
  return startSpan({
    name: name === undefined ? known : `${known} ${name}`,
    kind: 'server',
    ...(given.parent === undefined ? { parent: span } : given),
    attributes: {
      'mcp.method.name': known,
      ...(name === undefined ? {} : { 'gen_ai.tool.name': name }),
    },
  })
}

const METHODS = [
  'server/discover',
  'initialize',
  'notifications/initialized',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** The body was read before, in the gateway's bounds; whoever goes away is noticed. */
function webRequest({ headers }: FastifyRequest, { raw }: FastifyReply): Request {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  const told = Object.entries(headers).filter(
    (header): header is [string, string] => typeof header[1] === 'string' && TOLD.has(header[0]),
  )
  return new Request('http://gateway/mcp', { method: 'POST', headers: told, signal: gone.signal })
}

const TOLD = new Set(['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])

function requireCaller(request: FastifyRequest, protection: Protection): void {
  const { identified } = request
  // What most callers begin with.
  const scope = 'handoffs:read'
  if (!identified.ok) throw challenging(refusalOf(identified.why), protection, { request, scope })
}

/** A scope that is missing is told before anything is done, so that a client can come back with another token. */
function requireMessage(request: FastifyRequest, protection: Protection): void {
  const { identified, body } = request
  // Nothing that is listed here tells of its changes: a stream would wait for ever, and hold a connection.
  if ((body as Message).method === 'subscriptions/listen') throw NO_SUBSCRIPTIONS
  const scope = scopeOf(body as Message)
  if (scope === undefined) return
  try {
    keyWithScope(identified, scope)
  } catch (error) {
    throw challenging(error, protection, { request, scope })
  }
}

function scopeOf({ method, params }: Message): Scope | undefined {
  if (method === 'tools/call') return findTool(params?.name)?.scope
  return method === 'resources/read' ? scopeOfResource(params?.uri) : undefined
}

const NO_MESSAGE = new ProblemError({
  status: 400,
  code: 'BATON_MCP_MESSAGE_INVALID',
  detail: 'the body is not one JSON-RPC message',
  fix: 'Send each message as a request of its own; batches are not taken.',
})

const NO_SUBSCRIPTIONS = new ProblemError({
  status: 404,
  code: 'BATON_MCP_METHOD_UNKNOWN',
  detail: 'there are no subscriptions here',
  fix: 'Ask again after ttlMs of the list has passed.',
})

function requireOwnPages({ headers }: FastifyRequest, { host, origins = [] }: McpOptions): void {
  const isOwn = (name: string) => isLoopback(name) || origins.includes(name)
  const { origin } = headers
  if (origin !== undefined && !isOwn(hostnameOf(origin))) throw ORIGIN_REFUSED
  // A name that leads to this machine and is not its own is a page's that rebinds names.
  if (isLoopback(host) && !isOwn(hostnameOf(`http://${headers.host ?? ''}`))) throw HOST_REFUSED
}

const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '')

const ORIGIN_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_ORIGIN_REFUSED',
  detail: 'a page of this origin may not call',
  fix: 'Name its host in BATON_MCP_ORIGINS of the gateway if it shall, or call from a program.',
})

const HOST_REFUSED = new ProblemError({
  status: 403,
  code: 'BATON_HOST_REFUSED',
  detail: 'the request names another host than this machine, on which alone the gateway listens',
  fix: 'Call 127.0.0.1 or localhost, or name the host in BATON_MCP_ORIGINS of the gateway.',
})

/** Refusals before a message is done, in the words of JSON-RPC and with the whole problem. */
function rpcEnvelope(
  problem: ProblemError,
  traceId: string | undefined,
  { body }: Pick<FastifyRequest, 'body'>,
): Envelope {
  const { code, message: detail, fix, status, pointer, errors } = problem
  const data = { code, detail, fix, status, pointer, errors, traceId }
  const isUnreadable = code === 'BATON_JSON_INVALID'
  const rpcCode = isUnreadable ? RPC_PARSE_ERROR : (RPC_CODES[status] ?? RPC_REFUSED)
  const error = { code: rpcCode, message: `${code}: ${detail}`, data }
  return {
    contentType: 'application/json',
    body: JSON.stringify({ jsonrpc: '2.0', id: idOf(body), error }),
  }
}

/** Of the request that is refused, so that its caller knows which one that is. */
function idOf(body: unknown): string | number | null {
  const { id } = (body ?? {}) as Message
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null
}

const RPC_REFUSED = -32_000
const RPC_PARSE_ERROR = -32_700
const RPC_CODES: Readonly<Record<number, number>> = { 400: -32_600, 404: -32_601, 500: -32_603 }
