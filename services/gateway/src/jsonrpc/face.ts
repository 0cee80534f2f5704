// POST /jsonrpc: how session peers speak to Baton. What they ask becomes a handoff; what they report settles one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import {
  findAnnounce,
  QUEUED,
  readRpc,
  rpcAnswer,
  rpcError,
} from '@baton/protocol/dialects/session'
import type { ProfileCache, RpcMessage } from '@baton/protocol/dialects/session'
import type { Logger } from '@baton/runtime'
import { keyOf } from '../acting.ts'
import { requireOwnType } from '../executions/own-types.ts'
import type { Face } from '../dialect.ts'
import { NOT_OFFERED } from '../executions/remote-work.ts'
import { problemOf } from '../problem.ts'
import { keyWithScope, refusalOf } from '../request-context.ts'
import { REQUEST_MS } from '../v2.ts'
import type { KnownPeer, Peers } from './peers.ts'
import { errorOf, invalidParams, NOTHING_TAKEN, rpcEnvelope } from './refusals.ts'
import { HEALTH, SEND_MESSAGE } from './schema.ts'
import { takeTask } from './take-task.ts'
import type { TaskAnswer, TaskParts } from './take-task.ts'
import { isOfTurn } from './worker-results.ts'
import type { Workers } from './workers.ts'

interface SessionFaceParts extends TaskParts {
  readonly peers: Peers
  readonly profiles: ProfileCache
  /** Undefined where this gateway may not write the audit log: then no worker is given anything. */
  readonly workers: Workers | undefined
  readonly logger: Logger
}

const BODY_MAX = 1_048_576

export const createSessionFace = (parts: SessionFaceParts): Face => ({
  path: '',
  // Read by the route, because JSON that cannot be read has an answer of its own.
  contentTypes: { 'application/json': (bytes) => bytes },
  errorEnvelope: rpcEnvelope,
  authentication: ({ headers }) => parts.peers.identify(headers.authorization),
  requestMs: REQUEST_MS,
  addRoutes: (scope) => addSessionRoutes(scope, parts),
})

function addSessionRoutes(scope: FastifyInstance, parts: SessionFaceParts): void {
  const { peers } = parts
  const options = {
    schema: SEND_MESSAGE,
    bodyLimit: BODY_MAX,
    attachValidation: true,
    config: { takesHandoffs: true },
    preParsing: async ({ identified }: FastifyRequest) => {
      if (!peers.mayCall) throw NOT_CONFIGURED
      if (!identified.ok) throw whyRefused(identified.why)
      if (peers.of(identified.key) === undefined) throw TOKEN_REFUSED
    },
  }
  scope.post('/jsonrpc', options, (request, reply) => answerRpc(parts, request, reply))
  scope.get('/health', { ...HEALTH, config: { quiet: true } }, async () => ({ status: 'ok' }))
}

async function answerRpc(
  parts: SessionFaceParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<object> {
  const read = readRpc(request.bodyBytes ?? Buffer.alloc(0), BODY_MAX)
  if (!read.ok) return rpcError(read.refusal)
  const { message } = read
  const { id, contextId } = message
  try {
    return rpcAnswer({
      id,
      contextId,
      ...(await answerMessage(parts, message, { request, reply })),
    })
  } catch (error) {
    const problem = problemOf(error)
    request.problemCode = problem.code
    if (problem.status >= 500)
      parts.logger.error({ event: 'http.failed', code: problem.code, error })
    return errorOf(problem, id)
  }
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

function answerMessage(
  parts: SessionFaceParts,
  message: RpcMessage,
  exchange: Exchange,
): Promise<TaskAnswer> {
  const peer = parts.peers.of(keyOf(exchange.request))
  if (peer === undefined) throw TOKEN_REFUSED
  const isAnnounced = keepAnnounce(parts, peer, message)
  if (message.role === 'agent') return hearWorker(parts, { peer, message, ...exchange })
  const greeting = greetingOf(message, isAnnounced)
  if (greeting !== undefined) return Promise.resolve(said(message, greeting))
  if (peer.sendsTo === null) throw NOTHING_TAKEN
  keyWithScope(exchange.request.identified, 'handoffs:send')
  return takeTask(parts, { peer, message, agentType: peer.sendsTo, ...exchange })
}

/** Whether the message has an announcement; one that cannot be read is refused (S19). */
function keepAnnounce({ profiles }: SessionFaceParts, peer: KnownPeer, message: RpcMessage) {
  const found = findAnnounce(message.text)
  if (found === undefined) return false
  if (!found.ok) throw invalidParams(found)
  profiles.keep(peer.name, found.announce, Date.now())
  return true
}

const HANDSHAKE = /^\s*\[A2A HANDSHAKE v1\b/

/** The answer to who only says who they are; undefined for who asks something. */
function greetingOf({ contextId, text }: RpcMessage, isAnnounced: boolean): string | undefined {
  if (contextId.startsWith('handshake:') && HANDSHAKE.test(text))
    return '[A2A HANDSHAKE ACK v1]\nrole: worker\ncwd: none\nharness: baton\nready: true'
  const asks = text.includes('TASK_DISPATCH') || text.includes('TASK DISPATCH (inline)')
  return isAnnounced && !asks ? 'SESSION_ANNOUNCE received' : undefined
}

const said = ({ id, contextId, messageId }: RpcMessage, text: string): TaskAnswer => ({
  messageId: messageId ?? `${contextId}:${id ?? ''}`,
  texts: [text],
})

interface Hearing extends Exchange {
  readonly peer: KnownPeer
  readonly message: RpcMessage
}

async function hearWorker(
  { pool, workers }: SessionFaceParts,
  { peer, message, request }: Hearing,
): Promise<TaskAnswer> {
  // Who was told that a result was received would not tell it again.
  if (peer.worksAs === null && isOfTurn(message)) throw RESULT_LATE
  if (workers === undefined && isOfTurn(message)) throw NOT_OFFERED
  if (workers === undefined || peer.worksAs === null) return said(message, 'received')
  await requireOwnType(pool, keyWithScope(request.identified, 'executions:claim'), peer.worksAs)
  const heard = await workers.receive(peer, message)
  if (heard === 'lost') throw RESULT_LATE
  if (heard === 'nothing' && message.text.includes(QUEUED)) return said(message, QUEUED)
  return said(message, 'received')
}

const RESULT_LATE = new ProblemError({
  status: 409,
  code: 'BATON_EXECUTION_LOST',
  detail:
    'this task is not yours, or no longer: its lease or its deadline has passed, or it was canceled',
  fix: 'Stop working on it; nothing of it was or will be committed.',
})

/** Of an API key or an access token it is said as everywhere; of what is neither, what a peer sends. */
const whyRefused = (why: Parameters<typeof refusalOf>[0]): ProblemError =>
  why === 'missing' || why === 'scheme' || why === 'unknown' ? TOKEN_REFUSED : refusalOf(why)

const TOKEN_REFUSED = new ProblemError({
  status: 401,
  code: 'BATON_PEER_TOKEN_REFUSED',
  detail: 'the request carries no bearer of a session peer',
  fix: 'Send the header Authorization: Bearer <token>: the token whose SHA-256 stands in the file of peers, or an API key or access token of the operator that it names.',
  headers: { 'www-authenticate': 'Bearer realm="baton"' },
})

const NOT_CONFIGURED = new ProblemError({
  status: 503,
  code: 'BATON_PEERS_NOT_CONFIGURED',
  detail: 'no session peer may call here, because none has a token or an operator',
  fix: 'Name a file of peers in BATON_PEERS, with operator or inboundSha256 for each that may call.',
})
