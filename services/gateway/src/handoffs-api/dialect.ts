// POST /api/handoffs: the Handoffs API. What it takes is a handoff like any other, answered in its own words.
import { hash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HandoffSender, Sent } from '@baton/engine'
import type { People } from '@baton/ledger'
import type { Logger } from '@baton/runtime'
import { isUuid } from '@baton/protocol'
import type { JsonValue } from '@baton/protocol'
import {
  asCreated,
  CHAIN_DEPTH_MAX,
  decidePolicy,
  fromHandoff,
  HANDOFFS_API,
  readCreate,
  toHandoff,
} from '@baton/protocol/dialects/handoffs-api'
import type { CreateRequest, Profile } from '@baton/protocol/dialects/handoffs-api'
import { parseTraceparent } from '@baton/telemetry'
import { findForeignHandoffs, findHandoffAs } from '@baton/store'
import type { ForeignHandoff, Pool } from '@baton/store'
import { authorOf, keyOf } from '../acting.ts'
import { JSON_FACE } from '../dialect.ts'
import type { Dialect, Face } from '../dialect.ts'
import { requestKey, requireKey } from '../idempotency-key.ts'
import { only, requireBody } from '../operation.ts'
import { requireOwnAgents } from '../own-agents.ts'
import type { Submission } from '../submission.ts'
import type { Submitted } from '../submit.ts'
import { REQUEST_MS } from '../v2.ts'
import { placeApart, placeMessage, requirePlace, TASK_WENT_ON } from './place-message.ts'
import type { Placed } from './place-message.ts'
import type { Profiles } from './profiles.ts'
import {
  apiEnvelope,
  chainTooDeep,
  MESSAGE_UNKNOWN,
  orRefuse,
  parentUnknown,
  profileUnknown,
  refusal,
  SELF_HANDOFF,
} from './refusals.ts'
import { addMessageRoutes } from './routes.ts'
import { CREATE_MESSAGE } from './schema.ts'

export interface HandoffsApiOptions {
  readonly authentication: Face['authentication']
  readonly pool: Pool
  /** Whose signatures under decisions count. */
  readonly people: People
  readonly profiles: Profiles
  /** What a task may cost that begins here. */
  readonly budgetMicroUSD: number
  /** How long a message may wait and work; afterwards it has expired. */
  readonly expiryMs: number
  readonly logger: Logger
}

export const createHandoffsApi = (options: HandoffsApiOptions): Dialect => ({
  ...JSON_FACE,
  errorEnvelope: (problem, traceId, { headers }) => apiEnvelope(problem, traceId, headers.accept),
  path: '/api',
  authentication: options.authentication,
  requestMs: REQUEST_MS,
  post: {
    path: '/handoffs',
    options: {
      ...only('handoffs:send', CREATE_MESSAGE),
      preValidation: [requireKey, requireBody],
      // The schema only describes: what is wrong is said in the API's own words.
      attachValidation: true,
    },
  },
  toSubmission: (request) => readMessage(request, options),
  requestKey,
  fromOutcome: (reply, submitted) => answerCreated(reply, submitted, options.pool),
  addRoutes: (scope) => addMessageRoutes(scope, options),
})

async function readMessage(
  request: FastifyRequest,
  options: HandoffsApiOptions,
): Promise<Submission> {
  const { pool, budgetMicroUSD } = options
  const asked = orRefuse(readCreate(request.body as JsonValue))
  requireOwnAgents(keyOf(request), asked.fromProfileId)
  const target = await findTarget(asked, options.profiles)
  const policy = orRefuse(decidePolicy(asked.fromProfileId, target))
  const parent = await findParent(pool, asked.parentMessageId)
  const { sourceTaskId } = asked
  const placed = await placeMessage(pool, {
    tenant: keyOf(request).tenant,
    sourceTaskId,
    parent,
    budgetMicroUSD,
  })
  const making = {
    handoffId: randomUUID(),
    agentType: target.agentType,
    requiresApproval: asked.requiresApproval || policy.requiresApproval,
    now: new Date(),
    expiryMs: options.expiryMs,
  }
  const send = (sender: HandoffSender, placement: Placed) =>
    sender.send(
      toHandoff(asked, { ...making, placement, trace: traceOf(request, placement) }),
      authorOf(request),
    )
  return {
    agentType: target.agentType,
    priority: asked.priority,
    place: (pointer) => pointer,
    externalRef: {
      protocol: HANDOFFS_API,
      id: making.handoffId,
      sender: asked.fromProfileId,
      recipient: asked.toProfileId,
      depth: placed.depth,
      requestSha256: hash('sha256', request.bodyBytes ?? '', 'buffer'),
    },
    within: requirePlace,
    send: (sender) => sendPlaced((placement) => send(sender, placement), placed, budgetMicroUSD),
  }
}

// Somebody else's handoff may have got the task between the question and the commit.
async function sendPlaced(
  send: (placement: Placed) => Promise<Sent>,
  placed: Placed,
  budgetMicroUSD: number,
): Promise<Sent> {
  try {
    return await send(placed)
  } catch (error) {
    if (error !== TASK_WENT_ON) throw error
    return send(placeApart(placed, budgetMicroUSD))
  }
}

async function findTarget(
  { fromProfileId, toProfileId }: CreateRequest,
  profiles: Profiles,
): Promise<Profile> {
  if (fromProfileId === toProfileId) throw refusal(SELF_HANDOFF)
  const known = await profiles.find([fromProfileId, toProfileId])
  if (!known.has(fromProfileId)) throw refusal(profileUnknown('Source', fromProfileId))
  const target = known.get(toProfileId)
  if (target === undefined) throw refusal(profileUnknown('Target', toProfileId))
  return target
}

// A child is one deeper than its parent, and a chain has five at most.
async function findParent(pool: Pool, id: string | null): Promise<ForeignHandoff | undefined> {
  if (id === null) return undefined
  const handoffId = id.toLowerCase()
  const parent = isUuid(handoffId) ? await findHandoffAs(pool, HANDOFFS_API, handoffId) : undefined
  if (parent === undefined || parent.erasedAt !== null) throw refusal(parentUnknown(id))
  if (parent.depth + 1 >= CHAIN_DEPTH_MAX) throw refusal(chainTooDeep(CHAIN_DEPTH_MAX))
  return parent
}

// A task keeps its one trace (I9); a task that begins has that of the request, else its parent's.
function traceOf({ headers, span }: FastifyRequest, { traceparent, joins }: Placed) {
  const isTraced = parseTraceparent(String(headers['traceparent'] ?? '')) !== undefined
  if ((joins || !isTraced) && traceparent !== undefined) return { traceparent }
  return { traceparent: span.traceparent, tracestate: span.tracestate }
}

async function answerCreated(
  reply: FastifyReply,
  { handoffId, traceparent, repeated }: Submitted,
  pool: Pool,
): Promise<FastifyReply> {
  const [stored] = await findForeignHandoffs(pool, HANDOFFS_API, [handoffId])
  if (stored === undefined) throw MESSAGE_UNKNOWN
  if (repeated) reply.header('idempotency-replayed', 'true')
  return reply
    .code(201)
    .header('location', `/api/handoffs/${stored.id}`)
    .header('traceparent', traceparent)
    .send(asCreated(fromHandoff(stored)))
}
