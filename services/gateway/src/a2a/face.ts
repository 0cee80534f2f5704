// /a2a: how agents of others speak to Baton's by A2A 1.0, over JSON-RPC and over HTTP+JSON.
import { Readable } from 'node:stream'
import {
  A2A_VERSION_HEADER,
  AgentCard,
  Extensions,
  HTTP_EXTENSION_HEADER,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import type { ListTasksResponse } from '@a2a-js/sdk'
import { ServerCallContext, validateVersion } from '@a2a-js/sdk/server'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { JsonObject } from '@baton/protocol'
import { keyOf } from '../acting.ts'
import type { Face } from '../dialect.ts'
import { problemOf } from '../problem.ts'
import { noteRefusedBy } from '../refused-sends.ts'
import { parseStrictly } from '../request-body.ts'
import { refusalOf } from '../request-context.ts'
import { REQUEST_MS } from '../v2.ts'
import type { AgentTypes } from './agent-types.ts'
import { agentCard, AGENTS_PATH, createCardDocuments, instanceCard } from './agent-card.ts'
import type { CardDocument, CardOptions } from './agent-card.ts'
import {
  A2A_TYPE,
  invalidRequest,
  restEnvelope,
  restFailure,
  rpcEnvelope,
  rpcFailure,
} from './refusals.ts'
import { createRequestHandler } from './request-handler.ts'
import type { Call, HandlerParts } from './request-handler.ts'
import { CARD_ROUTE, REST_ROUTE, RPC_ROUTE } from './schema.ts'
import { eventLines } from './event-lines.ts'
import { isLegacy, legacyCard, rpcTransport } from './legacy.ts'

export interface A2aFaceParts extends HandlerParts {
  readonly authentication: Face['authentication']
  readonly agentTypes: AgentTypes
  /** Where callers reach this gateway; by default, where they say that they do. */
  readonly publicUrl: string | undefined
  readonly legacy: boolean
}

/** What stands around a part of a message in a call, and is not counted to the depth of a handoff. */
const LEVELS_AROUND = 8

/** Two, because what is refused before a route is reached is said in the words of its binding. */
export function createA2aFaces(parts: A2aFaceParts): readonly Face[] {
  const face = {
    path: '',
    contentTypes: {
      'application/json': (bytes: Buffer) => bytes,
      [A2A_TYPE]: (bytes: Buffer) => bytes,
    },
    authentication: parts.authentication,
    requestMs: REQUEST_MS,
  }
  return [
    { ...face, errorEnvelope: rpcEnvelope, addRoutes: (scope) => addRpcRoutes(scope, parts) },
    { ...face, errorEnvelope: restEnvelope, addRoutes: (scope) => addRestRoutes(scope, parts) },
  ]
}

interface OfAgent {
  Params: { readonly agentType?: string }
}

const BASES = ['/a2a', `${AGENTS_PATH}/:agentType`]

function addRpcRoutes(scope: FastifyInstance, parts: A2aFaceParts): void {
  for (const base of BASES)
    scope.post<OfAgent>(base, { ...RPC_ROUTE, preParsing: requireCaller }, (request, reply) =>
      answerRpc(parts, { request, reply }),
    )
}

function addRestRoutes(scope: FastifyInstance, parts: A2aFaceParts): void {
  const documents = createCardDocuments(() => new Date())
  for (const path of ['', ...BASES])
    scope.get<OfAgent>(
      `${path}/.well-known/agent-card.json`,
      { ...CARD_ROUTE, exposeHeadRoute: true },
      (request, reply) => sendCard(parts, documents, { request, reply }),
    )
  for (const base of BASES) addOperations(scope, base, parts)
}

/** Nobody whom nobody knows has a body read. */
async function requireCaller({ identified }: FastifyRequest): Promise<void> {
  if (!identified.ok) throw refusalOf(identified.why)
}

interface Exchange {
  readonly request: FastifyRequest<OfAgent>
  readonly reply: FastifyReply
}

const baseUrlOf = ({ publicUrl }: A2aFaceParts, { protocol, host }: FastifyRequest): string =>
  publicUrl ?? `${protocol}://${host}`

const cardOptions = (parts: A2aFaceParts, request: FastifyRequest): CardOptions => ({
  baseUrl: baseUrlOf(parts, request),
  legacy: parts.legacy,
  pushes: parts.pushes.offered,
})

async function cardFor(
  parts: A2aFaceParts,
  request: FastifyRequest<OfAgent>,
  tenant: string | undefined,
): Promise<AgentCard> {
  const { agentType } = request.params
  const options = cardOptions(parts, request)
  if (agentType === undefined) return instanceCard(await parts.agentTypes.list(tenant), options)
  const agent = await parts.agentTypes.find(agentType, tenant)
  if (agent === undefined) throw AGENT_UNKNOWN
  return agentCard(agent, options)
}

const AGENT_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_AGENT_TYPE_UNKNOWN',
  detail: 'no agent of this type works here now, or it is not for this caller',
  fix: 'GET /.well-known/agent-card.json lists the agent types as skills; those of a tenant are told to its keys.',
})

const CARD_FRESH_S = 60

/** A card of who called: strangers are told what everybody may know. */
async function sendCard(
  parts: A2aFaceParts,
  documents: (key: string, card: object) => CardDocument,
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const { identified, headers } = request
  const tenant = identified.ok ? identified.key.tenant : undefined
  const card = await cardFor(parts, request, tenant)
  const legacy = parts.legacy && isLegacy(withoutPatch(header(request, A2A_VERSION_HEADER) ?? ''))
  const shown = legacy ? await legacyCard(card) : (AgentCard.toJSON(card) as object)
  const key = JSON.stringify([tenant, baseUrlOf(parts, request), request.params.agentType, legacy])
  const { body, etag, lastModified } = documents(key, shown)
  reply
    .header(
      'cache-control',
      `${tenant === undefined ? 'public' : 'private'}, max-age=${CARD_FRESH_S}`,
    )
    .header('vary', `Authorization, ${A2A_VERSION_HEADER}`)
    .header('etag', etag)
    .header('last-modified', lastModified.toUTCString())
  if (isFresh(headers, { etag, lastModified })) return reply.code(304).send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

function isFresh(
  headers: FastifyRequest['headers'],
  { etag, lastModified }: Pick<CardDocument, 'etag' | 'lastModified'>,
): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined)
    return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return !Number.isNaN(since) && lastModified.getTime() <= since
}

function callOf(parts: A2aFaceParts, { request, reply }: Exchange): Call {
  const { tenant } = keyOf(request)
  return {
    request,
    reply,
    agentType: request.params.agentType,
    // What is supported is the same for every caller, and for every agent type.
    publicCard: async () => instanceCard([], cardOptions(parts, request)),
    ownCard: () => cardFor(parts, request, tenant),
  }
}

const header = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name.toLowerCase()]
  return value === undefined ? undefined : String(value)
}

const contextOf = (request: FastifyRequest): ServerCallContext =>
  new ServerCallContext({
    requestedExtensions: Extensions.parseServiceParameter(header(request, HTTP_EXTENSION_HEADER)),
    requestedVersion: withoutPatch(
      header(request, A2A_VERSION_HEADER) ??
        (request.query as Record<string, string | undefined>)[A2A_VERSION_HEADER] ??
        '',
    ),
  })

/** Patch numbers are of no account where versions are agreed on (3.6 of the specification). */
const withoutPatch = (version: string): string =>
  version.trim().replace(/^(\d{1,9}\.\d{1,9})\.\d{1,9}$/, '$1')

function sayExtensions(reply: FastifyReply, { activatedExtensions }: ServerCallContext): void {
  if (activatedExtensions === undefined) return
  reply.header(HTTP_EXTENSION_HEADER, Extensions.toServiceParameter(activatedExtensions))
}

const SENDS: ReadonlySet<string> = new Set([
  'SendMessage',
  'SendStreamingMessage',
  'message/send',
  'message/stream',
])

async function answerRpc(parts: A2aFaceParts, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply } = exchange
  let id: unknown = null
  let method = ''
  const refuse = async (error: unknown): Promise<object> => {
    await noteRefusal(parts, request, { error, sends: method === '' || SENDS.has(method) })
    if (!reply.raw.headersSent) reply.headers(problemOf(error).headers)
    return rpcFailure(error, id)
  }
  reply.header('content-type', 'application/json; charset=utf-8')
  try {
    const body = parseStrictly(request.bodyBytes ?? Buffer.alloc(0), LEVELS_AROUND) as JsonObject
    id = isObject(body) ? body['id'] : null
    method = isObject(body) && typeof body['method'] === 'string' ? body['method'] : ''
    if (!isObject(body) || body['jsonrpc'] !== '2.0' || method === '') return reply.send(notRpc(id))
    const context = contextOf(request)
    const call = callOf(parts, exchange)
    validateVersion(context.requestedVersion, await call.publicCard(), 'JSONRPC')
    const params = isObject(body['params']) ? body['params'] : {}
    requireOwnTenant(request, params['tenant'])
    requireParts(params)
    const kept = keepErrors(createRequestHandler(parts, call))
    const legacy = parts.legacy && isLegacy(context.requestedVersion)
    const transport = rpcTransport(kept.handler, legacy)
    const answer = await transport.handle(withoutTenant(body), context)
    if (Symbol.asyncIterator in answer)
      return await sendEvents(reply, answer, {
        format: (value) => value as object,
        context,
        refuse,
      })
    sayExtensions(reply, context)
    const { failed } = kept
    return reply.send(failed.error === undefined ? answer : await refuse(failed.error))
  } catch (error) {
    return reply.send(await refuse(error))
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Not JSON-RPC at all, which is another error than of a method's parameters. */
const notRpc = (id: unknown): object => ({
  jsonrpc: '2.0',
  id: typeof id === 'string' || Number.isInteger(id) ? id : null,
  error: {
    code: -32_600,
    message: 'the body is no request of JSON-RPC 2.0: it needs jsonrpc "2.0" and a method',
  },
})

/** Whose the call is says its token; a tenant in its words may only be the same. */
function requireOwnTenant(request: FastifyRequest, tenant: unknown): void {
  if (tenant === undefined || tenant === '' || tenant === keyOf(request).tenant) return
  throw TENANT_OTHER
}

const TENANT_OTHER = new ProblemError({
  status: 403,
  code: 'BATON_A2A_TENANT',
  detail: 'the call names another tenant than its token is of',
  fix: 'Leave out tenant, or use a token of that tenant.',
})

/** What the SDK takes for granted of a message, and fails on in its own words where it is not so. */
function requireParts({ message }: JsonObject): void {
  const parts = isObject(message) ? message['parts'] : undefined
  if (!Array.isArray(parts)) return
  const wrong = parts.findIndex((part) => !isObject(part) || !isTextOrNone(part['raw']))
  if (wrong === -1) return
  throw invalidRequest(
    `/message/parts/${wrong}`,
    'it is no part of a message',
    'Send an object with text, data, url, or raw as base64.',
  )
}

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string'

function withoutTenant(body: JsonObject): Record<string, unknown> {
  const { params } = body
  if (!isObject(params)) return { ...body }
  const { tenant: _, ...others } = params
  return { ...body, params: others }
}

interface Failed {
  error?: unknown
}

/** The SDK puts what was thrown into its own words: what it was is kept beside. */
function keepErrors(handler: A2ARequestHandler): {
  readonly handler: A2ARequestHandler
  readonly failed: Failed
} {
  const failed: Failed = {}
  const keeping =
    (method: (...given: never[]) => unknown) =>
    (...given: never[]): unknown => {
      const result = method(...given)
      return result instanceof Promise
        ? result.catch((error: unknown) => {
            failed.error = error
            throw error
          })
        : result
    }
  const kept = Object.fromEntries(
    Object.entries(handler).map(([name, method]) => [name, keeping(method as never)]),
  )
  return { handler: kept as unknown as A2ARequestHandler, failed }
}

async function noteRefusal(
  { refusals, logger }: A2aFaceParts,
  request: FastifyRequest,
  { error, sends }: { readonly error: unknown; readonly sends: boolean },
): Promise<void> {
  const problem = problemOf(error)
  request.problemCode = problem.code
  if (problem.status >= 500 && problem.status !== 503)
    logger.error({ event: 'http.failed', code: problem.code, error })
  if (sends) await noteRefusedBy(refusals)(request, problem)
}

interface Events {
  readonly format: (value: unknown) => object
  readonly context: ServerCallContext
  readonly refuse: (error: unknown) => Promise<object>
}

/** Server-sent events; what goes wrong before the first of them is an answer of its own. */
async function sendEvents(
  reply: FastifyReply,
  events: AsyncGenerator<unknown, void, undefined>,
  { format, context, refuse }: Events,
): Promise<FastifyReply> {
  const first = await events.next()
  sayExtensions(reply, context)
  const lines = Readable.from(eventLines({ first, events, format, refuse }))
  // A connection that is kept behind the last event would hold up a gateway that stops.
  return reply
    .header('connection', 'close')
    .header('content-type', 'text/event-stream')
    .header('x-accel-buffering', 'no')
    .send(lines)
}

interface Answering {
  readonly parts: A2aFaceParts
  readonly request: FastifyRequest<OfAgent>
  readonly reply: FastifyReply
  readonly handler: A2ARequestHandler
  readonly context: ServerCallContext
  readonly body: JsonObject
}

type Answer = (answering: Answering) => Promise<unknown>

function addOperations(scope: FastifyInstance, base: string, parts: A2aFaceParts): void {
  const answering =
    (answer: Answer, sends = false) =>
    async (request: FastifyRequest<OfAgent>, reply: FastifyReply): Promise<unknown> => {
      reply.header('content-type', A2A_TYPE)
      try {
        const call = callOf(parts, { request, reply })
        const context = contextOf(request)
        validateVersion(context.requestedVersion, await call.publicCard(), 'HTTP+JSON')
        const bytes = request.bodyBytes
        const read = (bytes?.length ?? 0) === 0 ? {} : parseStrictly(bytes as Buffer, LEVELS_AROUND)
        const body = isObject(read) ? read : {}
        requireOwnTenant(request, body['tenant'])
        requireParts(body)
        const handler = createRequestHandler(parts, call)
        const answered = await answer({ parts, request, reply, handler, context, body })
        if (reply.sent) return reply
        sayExtensions(reply, context)
        return answered === undefined
          ? reply.code(204).send()
          : reply.send(JSON.stringify(answered))
      } catch (error) {
        await noteRefusal(parts, request, { error, sends })
        const { status, body } = restFailure(error)
        const { headers } = problemOf(error)
        return reply.code(status).headers(headers).send(JSON.stringify(body))
      }
    }
  const options = { ...REST_ROUTE, preParsing: requireCaller }
  scope.post<OfAgent>(`${base}/message::send`, options, answering(restSend, true))
  scope.post<OfAgent>(`${base}/message::stream`, options, answering(restStream, true))
  scope.get<OfAgent>(`${base}/tasks`, options, answering(restList))
  scope.get<OfAgent>(`${base}/tasks/:target`, options, answering(restRead))
  scope.post<OfAgent>(`${base}/tasks/:target`, options, answering(restAct))
  const configs = `${base}/tasks/:target/pushNotificationConfigs`
  scope.post<OfAgent>(configs, options, answering(restPutPush))
  scope.get<OfAgent>(configs, options, answering(restListPushes))
  scope.get<OfAgent>(`${configs}/:configId`, options, answering(restReadPush))
  scope.delete<OfAgent>(`${configs}/:configId`, options, answering(restRemovePush))
  scope.get<OfAgent>(`${base}/extendedAgentCard`, options, answering(restCard))
}

const restSend: Answer = async ({ handler, body, context }) => {
  const answer = await handler.sendMessage(SendMessageRequest.fromJSON(body), context)
  return SendMessageResponse.toJSON({ payload: { $case: 'task', value: answer as Task } })
}

const restStream: Answer = ({ handler, body, context, reply }) =>
  restEvents(reply, handler.sendMessageStream(SendMessageRequest.fromJSON(body), context), context)

const restEvents = (
  reply: FastifyReply,
  events: AsyncGenerator<StreamResponse, void, undefined>,
  context: ServerCallContext,
) =>
  sendEvents(reply, events, {
    context,
    format: (value) => StreamResponse.toJSON(value as StreamResponse) as object,
    refuse: async (error) => restFailure(error).body,
  })

const restList: Answer = async ({ handler, request, context }) => {
  const query = request.query as Record<string, string | undefined>
  const asked = ListTasksRequest.fromJSON({
    ...query,
    includeArtifacts: query['includeArtifacts'] === 'true',
  })
  const { includeArtifacts } = asked
  const listed = await handler.listTasks(asked, context)
  return showList(listed, includeArtifacts === true)
}

/** What is empty is said all the same, because a list without it is no list of the standard. */
function showList(listed: ListTasksResponse, includeArtifacts: boolean): object {
  const { tasks, nextPageToken, pageSize, totalSize } = listed
  return {
    tasks: tasks.map((task) => {
      const shown = Task.toJSON(task) as object
      return includeArtifacts ? { artifacts: [], ...shown } : shown
    }),
    nextPageToken,
    pageSize,
    totalSize,
  }
}

const targetOf = ({ params }: FastifyRequest): readonly [id: string, act: string] => {
  const { target } = params as { target: string }
  const at = target.lastIndexOf(':')
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

const restRead: Answer = async ({ handler, request, reply, context }) => {
  const [id, act] = targetOf(request)
  if (act === 'subscribe')
    return restEvents(reply, handler.resubscribe({ id, tenant: '' }, context), context)
  if (act !== '') throw ACT_UNKNOWN
  const { historyLength } = request.query as { historyLength?: string }
  const length = historyLength === undefined ? {} : { historyLength: Number(historyLength) }
  return Task.toJSON(await handler.getTask({ id, tenant: '', ...length }, context))
}

const restAct: Answer = async ({ handler, request, reply, context }) => {
  const [id, act] = targetOf(request)
  if (act === 'subscribe')
    return restEvents(reply, handler.resubscribe({ id, tenant: '' }, context), context)
  if (act === 'cancel')
    return Task.toJSON(await handler.cancelTask({ id, tenant: '', metadata: {} }, context))
  throw ACT_UNKNOWN
}

const ACT_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'a task knows no such act',
  fix: 'Use :cancel or :subscribe behind its id.',
})

const pushOf = ({ params }: FastifyRequest) => {
  const { target: taskId, configId: id = '' } = params as { target: string; configId?: string }
  return { taskId, id, tenant: '' }
}

const restPutPush: Answer = async ({ handler, request, reply, body, context }) => {
  const { taskId } = pushOf(request)
  const config = TaskPushNotificationConfig.fromJSON({ ...body, taskId })
  const made = await handler.createTaskPushNotificationConfig(config, context)
  reply.code(201)
  return TaskPushNotificationConfig.toJSON(made)
}

const restListPushes: Answer = async ({ handler, request, context }) => {
  const { taskId } = pushOf(request)
  const asked = { taskId, tenant: '', pageSize: 0, pageToken: '' }
  return ListTaskPushNotificationConfigsResponse.toJSON(
    await handler.listTaskPushNotificationConfigs(asked, context),
  )
}

const restReadPush: Answer = async ({ handler, request, context }) =>
  TaskPushNotificationConfig.toJSON(
    await handler.getTaskPushNotificationConfig(pushOf(request), context),
  )

const restRemovePush: Answer = ({ handler, request, context }) =>
  handler.deleteTaskPushNotificationConfig(pushOf(request), context)

const restCard: Answer = async ({ handler, context }) =>
  AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context))
