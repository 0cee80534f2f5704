// What a session peer asks becomes a handoff. Answered with its outcome where that comes soon, else with an acknowledgement.
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequireRoom } from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { externalId, QUEUED, readAsked, SESSION, toHandoff } from '@baton/protocol/dialects/session'
import type { Asked, RpcMessage, SessionAnnounce } from '@baton/protocol/dialects/session'
import { crashPoint } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { closeSessionReply, findSessionReply, isConflict, openSessionTurn } from '@baton/store'
import type { Database, NewHandoff, Pool, SessionReply } from '@baton/store'
import { authorOf, idOwner, keyOf } from '../acting.ts'
import { requireOwnAgents } from '../own-agents.ts'
import { requireOwnPriority } from '../own-priority.ts'
import type { Submission } from '../submission.ts'
import type { Submitter } from '../submit.ts'
import { ownAnnounce } from './own-announce.ts'
import type { KnownPeer } from './peers.ts'
import { BUSY, invalidParams } from './refusals.ts'
import { findOutcome } from './task-outcome.ts'

export interface TaskParts {
  readonly pool: Pool
  /** Of the tenant of whoever asks. */
  readonly tenantPool: Pool
  readonly submitter: Submitter
  readonly requireRoom: RequireRoom
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly budgetMicroUSD: number
  readonly expiryMs: number
  /** How long an answer waits for the outcome. */
  readonly waitMs: number
  /** The contexts of which a turn is being begun in this process. */
  readonly beginning: Set<string>
  readonly logger: Logger
}

export interface TaskAnswer {
  readonly messageId: string
  readonly texts: readonly string[]
}

interface Turn {
  readonly peer: KnownPeer
  readonly message: RpcMessage
  readonly agentType: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Resolves once the handoff is durable. Throws problems. */
export async function takeTask(parts: TaskParts, turn: Turn): Promise<TaskAnswer> {
  const { pool, tenantPool, submitter, requireRoom, bounded, logger } = parts
  const read = readAsked(turn.message.text)
  if (!read.ok) throw invalidParams(read)
  const begun = { isFirst: false }
  const { agentType, message } = turn
  const { tenant } = keyOf(turn.request)
  const announcing = { agentType, contextId: message.contextId, isFresh: true }
  let announced: SessionAnnounce | undefined
  const { handoffId, taskId, traceparent, repeated } = await alone(parts, turn, () =>
    bounded(async () => {
      announced = await ownAnnounce(tenantPool, announcing)
      const submission = submissionOf(parts, { ...turn, asked: read.value, begun, announced })
      const { agentType: target, priority } = submission
      requireOwnPriority(keyOf(turn.request), priority)
      await requireRoom({ agentType: target, priority, tenant })
      return submitter.submit(submission, undefined)
    }),
  )
  logger.info({ event: 'handoff.queued', handoffId, taskId, traceparent, repeated })
  crashPoint('session.after_send')
  const stored = await findSessionReply(tenantPool, handoffId)
  if (stored === undefined) throw FORGOTTEN
  // On the first task of a context the worker says what it is (S02, S16).
  const said = begun.isFirst ? [JSON.stringify(announced)] : []
  const outcome = await waitForOutcome(parts, stored, turn)
  if (outcome === undefined) {
    const text = `${QUEUED} task ${stored.taskId} is under way; its result follows.`
    return { messageId: stored.messageId, texts: [...said, text] }
  }
  turn.reply.raw.once('finish', () => {
    closeSessionReply(pool, handoffId).catch((error: unknown) =>
      logger.warn({ event: 'session.reply_open', handoffId, error }),
    )
  })
  return { messageId: stored.messageId, texts: [...said, outcome] }
}

// Of many that come at once for one context, all but one are refused without asking Postgres.
async function alone<Result>(
  { beginning }: TaskParts,
  { peer, message }: Turn,
  work: () => Promise<Result>,
): Promise<Result> {
  const turn = JSON.stringify([peer.name, message.contextId])
  if (beginning.has(turn)) throw BUSY.context_busy
  beginning.add(turn)
  try {
    return await work()
  } finally {
    beginning.delete(turn)
  }
}

interface Asking extends Turn {
  readonly asked: Asked
  readonly begun: { isFirst: boolean }
  readonly announced: SessionAnnounce
}

/** A reply is not sent before the one at once would have come. */
const AFTER_ANSWER_MS = 1_000

function submissionOf(parts: TaskParts, { asked, begun, announced, ...turn }: Asking): Submission {
  const { peer, message, agentType, request } = turn
  const handoffId = randomUUID()
  const taskId = asked.taskId ?? message.messageId ?? handoffId
  const { traceparent, tracestate } = request.span
  const { agentState, targetAgentType, constraints } = toHandoff(asked, {
    peer: peer.name,
    tenant: idOwner(keyOf(request)),
    contextId: message.contextId,
    taskId,
    handoffId,
    agentType,
    announced,
    budgetMicroUSD: parts.budgetMicroUSD,
    now: new Date(),
    expiryMs: parts.expiryMs,
    trace: { traceparent, tracestate },
  })
  requireOwnAgents(keyOf(request), agentState.agent.agentId)
  return {
    agentType,
    priority: constraints.priority ?? 2,
    place: (pointer) => pointer,
    externalRef: {
      protocol: SESSION,
      id: externalId(peer.name, taskId),
      sender: peer.name,
      recipient: agentType,
      requestSha256: hash('sha256', JSON.stringify([message.contextId, message.text]), 'buffer'),
    },
    within: (transaction, handoff) => {
      const { contextId } = message
      const opening = { messageId: randomUUID(), contextId, taskId, replySchema: asked.replySchema }
      const dueInMs = peer.url === null ? null : waitOf(parts, turn) + AFTER_ANSWER_MS
      return beginTurn(transaction, { peer, handoff, begun, opening: { ...opening, dueInMs } })
    },
    send: (sender) => sender.send({ agentState, targetAgentType, constraints }, authorOf(request)),
  }
}

interface Beginning {
  readonly peer: KnownPeer
  readonly handoff: NewHandoff
  readonly begun: { isFirst: boolean }
  readonly opening: Pick<SessionReply, 'messageId' | 'contextId' | 'taskId' | 'replySchema'> & {
    readonly dueInMs: number | null
  }
}

async function beginTurn(
  transaction: Database,
  { peer, handoff, begun, opening }: Beginning,
): Promise<void> {
  const { handoffId } = handoff
  const reply = { ...opening, handoffId, peer: peer.name }
  const turn = await openSessionTurn(transaction, reply, peer.contextsMax).catch(busyOr)
  if (turn.kind !== 'opened') throw BUSY[turn.kind]
  begun.isFirst = turn.isFirst
}

// Others begin turns of this peer for longer than a lock is waited for.
function busyOr(error: unknown): never {
  throw isConflict(error) ? BUSY.peer_busy : error
}

const LOOK_MS = 50

const waitOf = ({ waitMs }: TaskParts, { peer }: Turn): number => peer.waitMs ?? waitMs

async function waitForOutcome(
  parts: TaskParts,
  stored: SessionReply,
  turn: Turn,
): Promise<string | undefined> {
  const until = performance.now() + waitOf(parts, turn)
  for (;;) {
    const outcome = await findOutcome(parts.tenantPool, stored)
    if (outcome !== undefined) return outcome
    if (performance.now() >= until || turn.reply.raw.destroyed) return undefined
    await sleep(LOOK_MS)
  }
}

const FORGOTTEN = new ProblemError({
  status: 409,
  code: 'BATON_EXTERNAL_ID_REUSED',
  detail: 'a task of this id was answered so long ago that the answer is not kept',
  fix: 'Use a new task_id for a new task.',
})
