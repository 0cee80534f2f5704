// What session workers say: in the answer to a dispatch, or later by themselves. Either settles the execution that they have.
import { recordStarted, settleRemote } from '@baton/engine'
import type { SettleRequest } from '@baton/engine'
import { countTokens, isUuid } from '@baton/protocol'
import type { HandoffMessage } from '@baton/protocol'
import { findAnnounce, readReply, taskIdIn } from '@baton/protocol/dialects/session'
import type { ProfileCache, RpcMessage, TaskResult } from '@baton/protocol/dialects/session'
import type { Logger } from '@baton/runtime'
import { renderForAgent } from '@baton/safety'
import { findTakenBy, loadTaken } from '@baton/store'
import type { ClaimedHandoff, Fence, Pool } from '@baton/store'
import type { RemoteWork } from '../executions/remote-work.ts'
import type { PeerCaller } from './call-peer.ts'
import { operatorOfPeer } from './peers.ts'
import type { KnownPeer } from './peers.ts'
import { settlementOf } from './settle-result.ts'

export interface WorkerParts {
  readonly pool: Pool
  readonly peers: readonly KnownPeer[]
  readonly profiles: ProfileCache
  readonly caller: PeerCaller
  readonly remote: RemoteWork
  readonly logger: Logger
}

const CONTEXT = 'baton:'
export const VERSION = '1.0.0'

/** The context of a peer's turn: one for each handoff, the same for every attempt. */
export const contextOf = (handoffId: string): string => `${CONTEXT}${handoffId}`

/** Whether what is said in this context is said of such a turn. */
export const isOfTurn = ({ contextId }: RpcMessage): boolean => contextId.startsWith(CONTEXT)

/** Remembers what a worker announces in its answer (S16), and answers whether it did; what cannot be read is no announcement. */
export function keepAnnounce(
  { profiles, logger }: Pick<WorkerParts, 'profiles' | 'logger'>,
  peer: KnownPeer,
  text: string,
): boolean {
  const found = findAnnounce(text)
  if (found === undefined) return false
  if (found.ok) profiles.keep(peer.name, found.announce, Date.now())
  else logger.warn({ event: 'session.announce_refused', peer: peer.name, pointer: found.pointer })
  return found.ok
}

/** Under the task: who has it, and what is known of that peer from its announcement (S23). */
export function recordAnnounce(
  { pool, remote, profiles }: WorkerParts,
  peer: KnownPeer,
  claimed: ClaimedHandoff,
): Promise<void> {
  const announce = profiles.find(peer.name, Date.now())
  return recordStarted(
    { pool, shipper: remote.shipper },
    {
      claimed,
      agent: { type: peer.worksAs ?? '', version: VERSION },
      operator: operatorOfPeer(peer),
      announced: announce === undefined ? undefined : JSON.stringify(announce),
    },
  )
}

interface Finished {
  readonly fence: Fence
  /** Undefined where the execution does not run any more. */
  readonly message: HandoffMessage | undefined
  readonly result: TaskResult
  /** Tokens of what was said to the worker, and of what it said. */
  readonly computed: number
}

export async function settleResult(
  parts: WorkerParts,
  peer: KnownPeer,
  { fence: { handoffId, fencingToken }, message, result, computed }: Finished,
): Promise<'settled' | 'lost'> {
  const counted = {
    computed,
    budget: message?.tokenBudget ?? null,
    tolerance: peer.tokenTolerance,
  }
  const handingOn = { to: peer.nextStepsTo, remaining: message?.remainingSubtasks ?? [] }
  const { outcome, isFlagged } = settlementOf(result, counted, handingOn)
  if (isFlagged) parts.logger.warn({ event: 'session.tokens_flagged', handoffId, peer: peer.name })
  return settle(parts, operatorOfPeer(peer), { handoffId, fencingToken, outcome })
}

/** It had ended without the worker's result. */
const TOO_LATE: ReadonlySet<string> = new Set(['EXPIRED', 'CANCELED'])

export async function settle(
  { pool, remote, logger }: WorkerParts,
  operator: string,
  request: SettleRequest,
): Promise<'settled' | 'lost'> {
  const parts = { pool, settle: remote.settle, summarise: remote.summarise }
  const [settled = { kind: 'lost' }] = await settleRemote(parts, { operator }, [request])
  if (settled.kind === 'settled' && !(settled.repeated && TOO_LATE.has(settled.state)))
    return 'settled'
  logger.info({ event: 'session.late', handoffId: request.handoffId })
  return 'lost'
}

/** A result that a worker posts by itself. 'lost' where it has no such task, or no longer. */
export async function receiveResult(
  parts: WorkerParts,
  peer: KnownPeer,
  { contextId, text }: RpcMessage,
): Promise<'settled' | 'lost' | 'nothing'> {
  const handoffId = contextId.startsWith(CONTEXT) ? contextId.slice(CONTEXT.length) : taskIdIn(text)
  if (handoffId === undefined) return 'nothing'
  const { pool } = parts
  const operator = operatorOfPeer(peer)
  const fence = isUuid(handoffId) ? await findTakenBy(pool, handoffId, operator) : undefined
  if (fence === undefined) return 'lost'
  const [taken] = await loadTaken(pool, [fence], { operator })
  const message =
    taken === undefined
      ? undefined
      : (JSON.parse(Buffer.from(taken.body).toString('utf8')) as HandoffMessage)
  if (taken !== undefined && findAnnounce(text)?.ok === true)
    await recordAnnounce(parts, peer, taken)
  const replySchema = message?.replySchema ?? 'prose'
  const reply = readReply(text, { taskId: handoffId, replySchema })
  if (reply.kind === 'queued') return 'nothing'
  const said = message === undefined ? '' : renderForAgent(message)
  const computed = message === undefined ? 0 : countTokens(said) + countTokens(text)
  return settleResult(parts, peer, { fence, message, result: reply.result, computed })
}
