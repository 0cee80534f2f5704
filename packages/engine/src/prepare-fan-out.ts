// What one send commits: a handoff, or the copies for all of a receiver list with the fan-out that they begin (E28).
import { createHash, randomUUID } from 'node:crypto'
import { ANY_AGENT, microUSD, ProtocolError, signHandoff } from '@baton/protocol'
import type { AgentCost, Receiver } from '@baton/protocol'
import type { JoinHandoff } from '@baton/protocol/settlement'
import type { NewFanOut, NewHandoff } from '@baton/store'
import type { WrittenSummary } from '@baton/summarise'
import { createCopiesRoom, prepareEach } from './decide/branches.ts'
import { derivedId } from './decide/derived-id.ts'
import { withMac } from './decide/fan-out-macs.ts'
import {
  copiesOf,
  fanOutOfCopies,
  fansOut,
  messageOfCopy,
  requestOfCopy,
  requireAmong,
} from './decide/receiver-list.ts'
import type { Copies, Wanted } from './decide/receiver-list.ts'
import { wrongList } from './decide/wrong-list.ts'
import {
  chargedWith,
  prepareHandoff,
  prepareMessage,
  readMessage,
  requestSha256,
} from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions, ReadyMessage } from './prepare-handoff.ts'
import type { LargeWork, PreparingOptions } from './large-work.ts'
import { writeSummary } from './write-summary.ts'
import type { WriteParts } from './write-summary.ts'

/** What a send commits, all of it or nothing. */
export interface Outgoing {
  /** For the target. */
  readonly handoff: NewHandoff
  /** Where there are several receivers, or a join. */
  readonly branching?: Branching
}

export interface Branching {
  readonly fanOut: NewFanOut
  /** For all receivers, in their order; the target's among them. */
  readonly handoffs: readonly NewHandoff[]
  readonly addedCostMicroUSD: number
}

type Preparing = PreparingOptions & {
  /** Where large ones are built; here without it. */
  readonly largeWork?: LargeWork
}

/**
 * Builds and signs what is asked for. `parts` write the summaries that its receivers need; without them, one receiver
 * gets what was written ahead, and each of several the extract. Throws BATON_RECEIVER_LIST_INVALID, BATON_BUDGET_EXCEEDED and BATON_JOIN_IMPOSSIBLE besides what one handoff does.
 */
export async function prepareOutgoing(
  request: HandoffRequest,
  options: Preparing,
  parts: WriteParts | undefined,
): Promise<Outgoing> {
  const { receiverList, join } = request.constraints
  requireAmong(request.targetAgentType, receiverList)
  if (!fansOut(receiverList, join)) {
    const { receiver: targetAgentType = request.targetAgentType } = options
    const written =
      parts === undefined
        ? options.written
        : await writeSummary({ ...request, targetAgentType }, parts)
    return { handoff: await prepared(request, { ...options, written }) }
  }
  await requireJoin(join)
  const receivers = receiverList ?? [{ agentType: request.targetAgentType }]
  const { charged, summaries } = await summarised(request, receivers, parts)
  const { agentState } = request
  const { handoffId = randomUUID(), agent } = agentState
  // All of them come from one execution, also where the send is repeated.
  const { executionId = derivedId(`${handoffId}/execution`) } = agent
  const state = { ...agentState, handoffId, agent: { ...agent, executionId } }
  const asked = divided({ ...request, agentState: state }, receivers)
  const paid = divided({ ...request, agentState: { ...state, cost: charged } }, receivers)
  const requireRoom = createCopiesRoom('/receiverList', paid.copies.copies.length)
  const handoffs: NewHandoff[] = []
  for (const [index, copy] of paid.copies.copies.entries()) {
    const { branchId } = copy.branch
    const own = { ...options, receiver: undefined, branchId, written: summaries[index] }
    const handoff = await prepared(requestOfCopy(paid.request, copy), own)
    requireRoom(handoff, index)
    handoffs.push({ ...handoff, requestSha256: askedDigest(asked, index) ?? handoff.requestSha256 })
  }
  return outgoingOf(paid.copies, handoffs, { ...paid.wanted, ...givenBy(options) })
}

const prepared = (
  request: HandoffRequest,
  { largeWork, ...options }: Preparing,
): Promise<NewHandoff> =>
  largeWork === undefined
    ? Promise.resolve(prepareHandoff(request, options))
    : largeWork.prepare(request, options)

interface Divided {
  readonly request: HandoffRequest
  readonly wanted: Wanted & Omit<Spent, 'bounds' | 'keyRing'>
  readonly copies: Copies
}

function divided(request: HandoffRequest, receivers: readonly Receiver[]): Divided {
  const { agentState, targetAgentType: target, constraints } = request
  const { handoffId = '', cost } = agentState
  const own = microUSD(cost.ownCostUSD)
  const wanted = {
    handoffId,
    target,
    receivers,
    join: constraints.join,
    spentMicroUSD: microUSD(cost.spentSoFarUSD) + own,
    leftMicroUSD: microUSD(cost.budgetRemainingUSD) - own,
    addedCostMicroUSD: own,
  }
  return { request, wanted, copies: copiesOf(wanted) }
}

/** Of what was asked for, without what summaries cost on the way: by it a repeated send is known. */
function askedDigest({ request, copies }: Divided, index: number): Buffer | undefined {
  const copy = copies.copies[index]
  return copy && requestSha256(requestOfCopy(request, copy))
}

/** The agent types that a request is for, where `receiver` is its target. */
export const receiversOf = (
  { constraints }: HandoffRequest,
  receiver: string,
): readonly string[] => [
  receiver,
  ...(constraints.receiverList ?? []).map(({ agentType }) => agentType),
]

interface Summarised {
  /** What the sender spent, with the summaries. */
  readonly charged: AgentCost
  /** For each receiver, at no further cost. */
  readonly summaries: readonly (WrittenSummary | undefined)[]
}

async function summarised(
  request: HandoffRequest,
  receivers: readonly Receiver[],
  parts: WriteParts | undefined,
): Promise<Summarised> {
  const { cost } = request.agentState
  if (parts === undefined) return { charged: cost, summaries: [] }
  const among = receivers.length
  const all = await Promise.all(
    receivers.map(({ agentType: targetAgentType }) =>
      writeSummary({ ...request, targetAgentType }, { ...parts, among }),
    ),
  )
  return {
    charged: all.reduce(chargedWith, cost),
    summaries: all.map(
      (one) => one && { ...one, costUSD: 0, tokens: { prompt: 0, completion: 0 } },
    ),
  }
}

/** The same for a message that was built elsewhere. */
export async function prepareOutgoingMessage(
  ready: ReadyMessage,
  options: PrepareOptions,
): Promise<Outgoing> {
  const { message, join, addedCostMicroUSD } = ready
  const { receiverList, toAgent, costTracking, handoffId } = message
  requireAmong(toAgent.agentType, receiverList)
  if (!fansOut(receiverList, join)) return { handoff: addressedMessage(ready, options) }
  await requireJoin(join)
  const wanted = {
    handoffId,
    target: toAgent.agentType,
    receivers: receiverList ?? [toAgent],
    join,
    spentMicroUSD: microUSD(costTracking.costSpentSoFarUSD),
    leftMicroUSD: microUSD(costTracking.costBudgetRemainingUSD),
  }
  const copies = copiesOf(wanted)
  const handoffs = prepareEach(['/receiverList', copies.copies], (copy) => {
    const { branchId } = copy.branch
    const own = { ...ready, message: messageOfCopy(message, copy) }
    const handoff = prepareMessage(own, { ...options, branchId })
    return { ...handoff, requestSha256: requestDigest(handoff, ready) }
  })
  return outgoingOf(copies, handoffs, { ...wanted, ...givenBy(options), addedCostMicroUSD })
}

/** The same message sent again may be for somebody else by then: what was given tells that it is the same. */
function addressedMessage(ready: ReadyMessage, options: PrepareOptions): NewHandoff {
  const { message } = ready
  const { receiver = message.toAgent.agentType, keyRing } = options
  if (receiver === message.toAgent.agentType) return prepareMessage(ready, options)
  const toAgent = { ...message.toAgent, agentType: receiver }
  const handoff = prepareMessage({ ...ready, message: { ...message, toAgent } }, options)
  return { ...handoff, requestSha256: signHandoff(message, keyRing).sha256 }
}

// It is built once its branches have ended, when nobody is left to be told what is wrong with it.
async function requireJoin(join: JoinHandoff | undefined): Promise<void> {
  if (join === undefined) return
  if (join.to === ANY_AGENT) throw joinUnaddressed()
  const { readJoin } = await import('@baton/protocol/settlement')
  const read = readJoin(Buffer.from(JSON.stringify(join)))
  if (read.ok) return
  const [first, ...others] = read.details.map((one) => ({ ...one, pointer: `/join${one.pointer}` }))
  if (first !== undefined) throw new ProtocolError('BATON_HANDOFF_INVALID', [first, ...others])
}

const joinUnaddressed = () =>
  wrongList('BATON_RECEIVER_MISSING', {
    pointers: ['/join/to'],
    rule: 'receiver',
    message: '"*" names nobody here',
    fix: 'Name the agent type that joins; "*" is for a single handoff that is sent, and for what agents hand on.',
  })

interface Spent extends Pick<Wanted, 'join' | 'spentMicroUSD' | 'leftMicroUSD'> {
  readonly bounds: PrepareOptions['fanOuts']
  readonly keyRing: PrepareOptions['keyRing']
  readonly addedCostMicroUSD: number
}

const givenBy = ({ fanOuts: bounds, keyRing }: PrepareOptions) => ({ bounds, keyRing })

function outgoingOf(copies: Copies, prepared: readonly NewHandoff[], spent: Spent): Outgoing {
  // What the sender spent is charged once, when its task is taken.
  const handoffs = prepared.map((handoff) => ({ ...handoff, addedCostMicroUSD: 0 }))
  const [handoff] = handoffs.filter(({ handoffId }) => handoffId === copies.first.handoffId)
  if (handoff === undefined) throw new TypeError('a fan-out has a copy for its target')
  const { addedCostMicroUSD, keyRing } = spent
  const fanOut = withMac(fanOutOfCopies(copies, readMessage(handoff.body), spent), keyRing)
  return { handoff, branching: { fanOut, handoffs, addedCostMicroUSD } }
}

// The same message with another join is another request.
const requestDigest = ({ sha256 }: NewHandoff, { join }: ReadyMessage): Buffer =>
  createHash('sha256')
    .update(sha256)
    .update(JSON.stringify(join ?? null))
    .digest()
