// AcceptHandoff, RejectHandoff and CompleteHandoff: an agent that speaks only gRPC takes a handoff by its name, and settles it.
import { createRemoteExecutor, settleRemote } from '@baton/engine'
import type { Given, RemoteOutcome } from '@baton/engine'
import type { AgentRegistration } from '@baton/protocol'
import { rejectionCode, STATUS_NUMBERS, Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import { status } from '@grpc/grpc-js'
import {
  asksForVersion,
  findClaim,
  findHandoff,
  findTakenFence,
  markAcceptedByName,
} from '@baton/store'
import type { ClaimedHandoff, Fence, HandoffView, Pool } from '@baton/store'
import type { RemoteWork } from '../executions/remote-work.ts'
import { requireOwnType } from '../executions/own-types.ts'
import type { Caller } from './calls.ts'
import { addressedTo, currentStatus, findByName, requirementsIn } from './find-handoff.ts'
import { notAccepted, notPending, PeerRefusal } from './refusal.ts'
import type { Messages, WireResponse } from './wire.ts'

export interface TakeParts {
  readonly pool: Pool
  /** Throws where this gateway gives nothing away. */
  readonly remoteWork: () => RemoteWork
  /** How long an accepted handoff is its agent's, who cannot say that it is still at it. */
  readonly leaseMs: number
}

/** Of any number at once, one; then its time to be accepted is over, and its deadline counts alone. */
export async function acceptHandoff(
  { request_id, accepting_agent }: WireResponse,
  caller: Caller,
  parts: TakeParts,
): Promise<Record<string, never>> {
  await take({ id: request_id, acceptingAgent: accepting_agent }, caller, parts)
  return {}
}

/** The agent's own words go nowhere; what they say is kept as a code. */
export async function rejectHandoff(
  { request_id, accepting_agent, rejection_reason, rejection_code }: WireResponse,
  caller: Caller,
  parts: TakeParts,
): Promise<Record<string, never>> {
  const given = await take({ id: request_id, acceptingAgent: accepting_agent }, caller, parts)
  const required = given.message.requirements?.capabilities ?? []
  const why = { reason: rejection_reason, errorCode: rejection_code }
  const code = rejectionCode(why, required)
  await settle(given.claimed, { kind: 'declined', code }, { caller, parts })
  return {}
}

/** COMPLETED, or no status, completes it; REJECTED and EXPIRED say that the agent failed. */
export async function completeHandoff(
  { request_id, status: ended }: Messages['CompleteHandoff'][0],
  caller: Caller,
  parts: TakeParts,
): Promise<Messages['CompleteHandoff'][1]> {
  const outcome = OUTCOMES[ended]
  if (outcome === undefined) throw new Sw4rmError('status must be COMPLETED, REJECTED or EXPIRED')
  const handoff = await findByName(parts.pool, request_id)
  const current = currentStatus(handoff)
  if (current !== 'ACCEPTED') throw notAccepted(request_id, current)
  const fence = await findTakenFence(parts.pool, handoff.handoffId, caller.key.operator)
  if (fence === undefined) throw SOMEBODY_ELSES
  const settled = await settle(fence, outcome, { caller, parts })
  if (settled === 'lost') throw notAccepted(request_id, await statusNow(parts.pool, handoff))
  return { success: true, message: outcome.kind === 'done' ? 'COMPLETED' : 'REJECTED' }
}

const OUTCOMES: Readonly<Record<number, RemoteOutcome>> = {
  0: { kind: 'done', result: {} },
  [STATUS_NUMBERS.COMPLETED]: { kind: 'done', result: {} },
  [STATUS_NUMBERS.REJECTED]: { kind: 'failed', code: 'SW4RM_REJECTED', retry: false },
  [STATUS_NUMBERS.EXPIRED]: { kind: 'failed', code: 'SW4RM_EXPIRED', retry: false },
}

interface Taking {
  readonly id: string
  readonly acceptingAgent: string
}

/** Claims it, has it judged and recorded, and starts it for the caller. Throws FAILED_PRECONDITION where it waits for nobody. */
async function take(
  { id, acceptingAgent }: Taking,
  { key }: Caller,
  { pool, remoteWork, leaseMs }: TakeParts,
): Promise<Given> {
  const remote = remoteWork()
  const handoff = await findByName(pool, id)
  const type = addressedTo(handoff)
  await requireOwnType(pool, key, type)
  const current = currentStatus(handoff)
  if (current !== 'PENDING') throw notPending(id, current)
  if (acceptingAgent !== '' && acceptingAgent !== type) throw ADDRESSED_ELSEWHERE
  if (await asksForVersion(pool, handoff.handoffId)) throw ASKS_FOR_VERSION
  const claim = await findClaim(pool, handoff.handoffId)
  if (claim === undefined) throw await untaken(pool, id, handoff)
  let given: Given | undefined
  const executorOf = (claimed: ClaimedHandoff) =>
    createRemoteExecutor({
      pool,
      agent: agentFor(claimed),
      takenBy: key.operator,
      leaseMs,
      give: (one) => void (given = one),
    })
  await remote.receiveFor(executorOf)(claim)
  const taken = given as Given | undefined
  if (taken === undefined) throw await untaken(pool, id, handoff)
  await markAcceptedByName(pool, handoff.handoffId, taken.message.deadline ?? null)
  return taken
}

/** An agent that speaks only gRPC says nothing of itself but its name: what it takes it has all it needs for. */
export function agentFor({ routedTo, toAgent, body }: ClaimedHandoff): AgentRegistration {
  const { capabilities = [], mcp = [] } = requirementsIn(body)
  return { type: routedTo ?? toAgent, version: '0.0.0', requires: [], capabilities, mcp }
}

// Still pending: somebody else is being given it, or the auditor does not record.
async function untaken(pool: Pool, id: string, handoff: HandoffView): Promise<PeerRefusal> {
  const current = await statusNow(pool, handoff)
  return current === 'PENDING' ? NOT_NOW : notPending(id, current)
}

const NOT_NOW = new PeerRefusal(
  status.ABORTED,
  'the handoff cannot be taken now: somebody else is taking it, or the audit log is away; ask again',
)

const statusNow = async (pool: Pool, { handoffId, ...before }: HandoffView): Promise<string> =>
  currentStatus((await findHandoff(pool, handoffId)) ?? { handoffId, ...before })

async function settle(
  { handoffId, fencingToken }: Fence,
  outcome: RemoteOutcome,
  { caller, parts }: { readonly caller: Caller; readonly parts: TakeParts },
): Promise<'settled' | 'lost'> {
  const { key, span } = caller
  const request = { handoffId, fencingToken, outcome, traceparent: span.traceparent }
  const { settle, summarise } = parts.remoteWork()
  const work = { pool: parts.pool, settle, summarise }
  const [settled] = await settleRemote(work, key, [request])
  return settled?.kind ?? 'lost'
}

const ADDRESSED_ELSEWHERE = new PeerRefusal(
  status.PERMISSION_DENIED,
  'the handoff is addressed to another agent',
)

const ASKS_FOR_VERSION = new PeerRefusal(
  status.FAILED_PRECONDITION,
  'the handoff asks for certain versions of its agent, which SW4RM does not tell',
)

const SOMEBODY_ELSES = new PeerRefusal(
  status.PERMISSION_DENIED,
  'the handoff was accepted by somebody else',
)
