// A message of A2A becomes a handoff, and its task an A2A task: both are durable, in one commit, before anybody is answered.
import { hash, randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { A2A, readA2aMessage, toHandoff } from '@baton/protocol/dialects/a2a'
import type { AskedA2a } from '@baton/protocol/dialects/a2a'
import { DEFAULT_TENANT } from '@baton/ledger'
import type { JsonObject } from '@baton/protocol'
import { microUSD } from '@baton/protocol'
import { addA2aMessage } from '@baton/store'
import type { ExternalRef } from '@baton/store'
import { authorOf, keyOf } from '../acting.ts'
import type { Sending } from '../dialect.ts'
import { messageOr } from '../operation.ts'
import { requireOwnAgents } from '../own-agents.ts'
import { requireOwnPriority } from '../own-priority.ts'
import { refusedRequest } from '../refused-request.ts'
import { readSubmission } from '../submission.ts'
import type { Submission, SubmissionDeps } from '../submission.ts'
import type { Submitted } from '../submit.ts'
import type { AgentTypes } from './agent-types.ts'
import { invalidRequest, refusedMessage } from './refusals.ts'

export interface SendParts extends Sending, SubmissionDeps {
  readonly agentTypes: AgentTypes
  /** What a task may cost that begins here. */
  readonly budgetMicroUSD: number
  /** How long a message may wait. */
  readonly expiryMs: number
  /** Who gets the messages that name nobody. */
  readonly defaultAgentType: string | undefined
}

interface Sent extends Submitted {
  readonly contextId: string
}

/** What a message asks, in its JSON. Throws problems. */
export function readAsked(message: JsonObject): AskedA2a {
  const read = readA2aMessage(message)
  if (!read.ok) throw refusedMessage(read.refusal)
  return read.asked
}

export interface ToSend {
  readonly request: FastifyRequest
  /** Whose endpoint it came in by; undefined is that of the instance. */
  readonly agentType: string | undefined
  readonly message: JsonObject
  readonly asked: AskedA2a
}

/** Resolves once it is durable. The same message sent again answers what the first one became. */
export async function sendMessage(parts: SendParts, sending: ToSend): Promise<Sent> {
  const { bounded, requireRoom, submitter, logger } = parts
  const { request } = sending
  const { tenant } = keyOf(request)
  return bounded(async () => {
    const { submission, contextId } = await submissionOf(parts, sending)
    const { agentType, priority } = submission
    requireOwnPriority(keyOf(request), priority)
    await requireRoom({ agentType, priority, tenant })
    const submitted = await submitter.submit(submission, undefined)
    const { handoffId, taskId, traceparent, repeated } = submitted
    logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
    return { ...submitted, contextId }
  })
}

interface Submitting {
  readonly submission: Submission
  readonly contextId: string
}

async function submissionOf(parts: SendParts, sending: ToSend): Promise<Submitting> {
  const { request, message, asked } = sending
  const contextId = asked.contextId || randomUUID()
  const { submission, taskId, fromAgent } =
    asked.handoff === undefined
      ? await ofMessage(parts, { ...sending, contextId })
      : ofHandoff(parts, sending, asked.handoff)
  const { operator } = keyOf(request)
  return {
    contextId,
    submission: {
      ...submission,
      externalRef: refOf(message, {
        operator,
        messageId: asked.messageId,
        sender: fromAgent,
        recipient: submission.agentType,
      }),
      within: (transaction, { handoffId, tenant }) =>
        addA2aMessage(transaction, {
          taskId,
          tenant: tenant ?? DEFAULT_TENANT,
          contextId,
          handoffId,
          messageId: asked.messageId,
        }),
    },
  }
}

interface OfMessage extends Pick<ExternalRef, 'sender' | 'recipient'> {
  readonly operator: string
  readonly messageId: string
}

/** By which a message is known again. A context that the caller left to the server is no part of what it asks. */
export function refOf(
  message: JsonObject,
  { operator, messageId, sender, recipient }: OfMessage,
): ExternalRef {
  const requestSha256 = hash('sha256', JSON.stringify([message, recipient]), 'buffer')
  // Ids are each caller's own; another content under the same id is another message.
  const id = `${operator}/${messageId}/${requestSha256.toString('base64url', 0, 12)}`
  return { protocol: A2A, id, sender, recipient, requestSha256 }
}

interface Made {
  readonly submission: Submission
  readonly taskId: string
  readonly fromAgent: string
}

async function ofMessage(
  parts: SendParts,
  { request, agentType, asked, contextId }: ToSend & { readonly contextId: string },
): Promise<Made> {
  const { options } = asked
  const target = targetOf(parts, agentType, options.targetAgentType)
  const { tenant } = keyOf(request)
  const known = await parts.agentTypes.find(target, tenant)
  const { traceparent, tracestate } = request.span
  const taskId = randomUUID()
  const fromAgent = options.fromAgent ?? callerOf(request)
  requireOwnAgents(keyOf(request), fromAgent)
  const { agentState, targetAgentType, constraints } = toHandoff(asked, {
    handoffId: randomUUID(),
    taskId,
    contextId,
    fromAgent,
    agentType: target,
    requires: known?.requires ?? [],
    budgetMicroUSD:
      options.budgetUSD === undefined ? parts.budgetMicroUSD : microUSD(options.budgetUSD),
    now: new Date(),
    expiryMs: parts.expiryMs,
    trace: { traceparent, tracestate },
  })
  const submission: Submission = {
    agentType: target,
    priority: constraints.priority ?? 2,
    place: (pointer) => pointer,
    send: (sender) => sender.send({ agentState, targetAgentType, constraints }, authorOf(request)),
  }
  return { submission, taskId, fromAgent }
}

/** Callers that say nothing of it send as this agent, or as the one that their key is for. */
const CALLER = 'a2a-client'

function callerOf(request: FastifyRequest): string {
  const { agents, tenant } = keyOf(request)
  const [only, ...others] = agents ?? []
  if (only !== undefined && others.length === 0) return only
  return tenant === DEFAULT_TENANT ? CALLER : `${tenant}/${CALLER}`
}

function targetOf(
  { defaultAgentType }: SendParts,
  endpoint: string | undefined,
  named: string | undefined,
): string {
  if (endpoint !== undefined && named !== undefined && endpoint !== named) throw OTHER_TARGET
  const target = endpoint ?? named ?? defaultAgentType
  if (target === undefined) throw NO_TARGET
  return target
}

const NO_TARGET = invalidRequest(
  '/message/metadata',
  'the message names no agent type',
  'Send it to the endpoint of an agent type, or name it as targetAgentType in the metadata under the URI of the extension.',
)

const OTHER_TARGET = invalidRequest(
  '/message/metadata',
  'the message names another agent type than its endpoint is of',
  'Send it to the endpoint of the instance, or leave out targetAgentType.',
)

const HANDOFF = messageOr('MessageSubmission', 'StateSubmission')

// A whole handoff, as POST /v2/handoffs takes it.
function ofHandoff(
  parts: SendParts,
  { request, agentType: endpoint }: ToSend,
  body: JsonObject,
): Made {
  const check = request.compileValidationSchema(HANDOFF, 'body')
  if (!check(body)) throw refusedRequest('thing')(check.errors ?? [], 'body')
  const submission = readSubmission(request, parts, body)
  if (endpoint !== undefined && endpoint !== submission.agentType) throw OTHER_TARGET
  const message = body['message'] as { taskId: string; fromAgent: { agentId: string } } | undefined
  const state = body['agentState'] as { taskId: string; agent: { agentId: string } } | undefined
  return {
    submission,
    taskId: message?.taskId ?? state?.taskId ?? '',
    fromAgent: message?.fromAgent.agentId ?? state?.agent.agentId ?? '',
  }
}
