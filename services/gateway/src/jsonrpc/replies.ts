// Tells session peers how their tasks ended, until they have it: kept in Postgres, sent by whichever gateway claims it.
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimSessionReplies,
  closeSessionReply,
  findForeignHandoffs,
  forgetSessionReplies,
  postponeSessionReply,
} from '@baton/store'
import type { Pool, SessionReply } from '@baton/store'
import { SESSION } from '@baton/protocol/dialects/session'
import type { PeerAnswer, PeerCaller } from './call-peer.ts'
import type { Peers } from './peers.ts'
import { findOutcome } from './task-outcome.ts'

export interface ReplyTimes {
  /** The wait after the first attempt; it doubles up to `capMs`. */
  readonly baseMs: number
  readonly capMs: number
  /** How long after its handoff has ended a reply is tried. */
  readonly endMs: number
}

interface ReplyParts {
  readonly pool: Pool
  readonly peers: Peers
  readonly caller: PeerCaller
  readonly times: ReplyTimes
  readonly logger: Logger
}

const LOOK_MS = 500
const AT_ONCE = 8
const CALL_MS = 30_000
/** Longer than a call takes, so that no other gateway sends it meanwhile. */
const LEASE_MS = 45_000
const FORGET_MS = 600_000

/** Nothing is sent before it has started. */
export function createReplies(parts: ReplyParts): Service {
  const { pool, logger } = parts
  const stopping = new AbortController()
  const sends = every({
    name: 'session replies',
    everyMs: LOOK_MS,
    async run() {
      const claimed = await claimSessionReplies(pool, AT_ONCE, LEASE_MS)
      await Promise.all(claimed.map((reply) => sendReply(parts, reply, stopping.signal)))
      return claimed.length === AT_ONCE ? 0 : LOOK_MS
    },
    failed: (error) => logger.warn({ event: 'session.replies_unread', code: codeOf(error) }),
  })
  const forgets = every({
    name: 'session replies of a month ago',
    everyMs: FORGET_MS,
    run: () => forgetSessionReplies(pool),
    failed: (error) => logger.warn({ event: 'session.replies_unread', code: codeOf(error) }),
  })
  return {
    name: 'session replies',
    async start() {
      await sends.start()
      await forgets.start()
    },
    async stop() {
      stopping.abort()
      await Promise.all([sends.stop(), forgets.stop()])
    },
  }
}

async function sendReply(
  parts: ReplyParts,
  reply: SessionReply,
  signal: AbortSignal,
): Promise<void> {
  const { pool, logger } = parts
  const { handoffId, peer: name } = reply
  const code = await whyUntold(parts, reply, signal)
  crashPoint('session.after_reply')
  if (code === undefined) {
    await closeSessionReply(pool, handoffId)
    logger.info({ event: 'session.reply_told', handoffId, peer: name, attempts: reply.attempts })
    return
  }
  const untold = { handoffId, attempts: reply.attempts, code, endMs: parts.times.endMs }
  const isDead = await postponeSessionReply(pool, { ...untold, againInMs: waitOf(parts, reply) })
  const failed = { handoffId, peer: name, code, attempts: reply.attempts }
  if (isDead) logger.warn({ event: 'session.reply_dead', ...failed })
  else logger.warn({ event: 'session.reply_untold', ...failed })
}

function waitOf({ times }: ReplyParts, { attempts }: SessionReply): number {
  return Math.min(times.capMs, times.baseMs * 2 ** Math.min(attempts - 1, 30))
}

/** Undefined once the peer has it; else why not. */
async function whyUntold(
  { pool, peers, caller }: ReplyParts,
  reply: SessionReply,
  signal: AbortSignal,
): Promise<string | undefined> {
  const peer = peers.find(reply.peer)
  if (peer === undefined || peer.url === null) return 'BATON_PEER_UNKNOWN'
  const text = await findOutcome(pool, reply)
  if (text === undefined) return 'BATON_OUTCOME_UNKNOWN'
  const [stored] = await findForeignHandoffs(pool, SESSION, [reply.handoffId])
  crashPoint('session.before_reply')
  const { messageId, contextId } = reply
  const sending = { messageId, contextId, role: 'agent', text, timeoutMs: CALL_MS, signal } as const
  try {
    const answer = await caller.call(peer, { ...sending, traceparent: stored?.traceparent })
    return codeOfAnswer(answer)
  } catch {
    return 'BATON_GATEWAY_STOPPED'
  }
}

function codeOfAnswer(answer: PeerAnswer): string | undefined {
  switch (answer.kind) {
    case 'text':
      return undefined
    case 'busy':
      return 'BATON_PEER_BUSY'
    case 'refused':
      return 'BATON_PEER_REFUSED'
    case 'unreadable':
      return 'BATON_PEER_UNREADABLE'
    case 'failed':
      return answer.code
  }
}
