// Fan-in: what is due once the branches of a fan-out have ended. It is joined, ended or failed, in one transaction each.
import { ProtocolError } from '@baton/protocol'
import { codeOf, crashPoint, every, kindOf } from '@baton/runtime'
import type { Logger, Periodic } from '@baton/runtime'
import {
  addOutboxEvents,
  closeFanOut,
  findForkedHandoff,
  findJoinAgent,
  inTransaction,
  listOpenInBranches,
  listReadyFanOuts,
  lockReadyFanOut,
} from '@baton/store'
import type { Database, DueFanOut, FanOutEnd, NewHandoff, Pool, ReadyFanOut } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { requestCancel } from './cancel.ts'
import { fanOutFailedEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { joinRequest, outcomesOf, spentAfter } from './decide/branches.ts'
import { authentic, FORGED, resultMac } from './decide/fan-out-macs.ts'
import type { KnownReceivers } from './known-receivers.ts'
import { prepareHandoff } from './prepare-handoff.ts'
import type { PrepareOptions } from './prepare-handoff.ts'
import { sendOne } from './commit-outgoing.ts'
import { wakeRelays } from './wake.ts'

interface FanInParts extends Preparing {
  /** Who may be handed on to. */
  readonly receivers: KnownReceivers
  readonly pool: Pool
}

interface Preparing extends PrepareOptions {
  readonly metrics: Metrics
  readonly logger: Logger
}

const SET_MAX = 50
/** Between two looks, where nobody tells that a fan-out is ready: branches that expire are ended by others. */
const INTERVAL_MS = 1_000
const ACTOR = 'baton'

/**
 * Joins fan-outs that are ready. Any number of processes may: each fan-out is locked with its task, and its join has an
 * id of its own, so that it is sent once. `wake` looks at once.
 */
export function createFanIn(parts: FanInParts): Periodic {
  const { pool, logger } = parts
  return every({
    name: 'fan-in',
    everyMs: INTERVAL_MS,
    async run() {
      const ready = await listReadyFanOuts(pool, SET_MAX)
      for (const one of ready) await settle(parts, one)
      if (ready.length > 0) wakeRelays(pool)
      return ready.length === SET_MAX ? 0 : undefined
    },
    failed: (error) => logger.warn({ event: 'join.failed', code: codeOf(error) }),
  })
}

// One that cannot be settled keeps no other from being.
async function settle(parts: FanInParts, named: DueFanOut): Promise<void> {
  const { pool, receivers, logger } = parts
  try {
    for (const handoffId of await listOpenInBranches(pool, named))
      await requestCancel(pool, { handoffId, graceMs: 0, actor: ACTOR })
    const joinAgent = await findJoinAgent(pool, named.fanOutId)
    const bounds = await receivers.boundsOf(joinAgent === null ? [] : [joinAgent])
    await inTransaction(pool, (transaction) => settleIn(transaction, { ...parts, bounds }, named))
    crashPoint('join.after_commit')
  } catch (error) {
    logger.warn({ event: 'join.failed', taskId: named.taskId, code: codeOf(error) })
    if (kindOf(error) === 'permanent') await fail(parts, named, codeOf(error))
  }
}

/** A join that cannot be sent now or later, as somebody has its id, is nothing to wait for. */
async function fail(parts: FanInParts, named: DueFanOut, reason: string): Promise<void> {
  const { pool, logger } = parts
  try {
    await inTransaction(pool, async (transaction) => {
      const locked = await lockReadyFanOut(transaction, named)
      if (locked === undefined) return
      const { fanOut, isTaskOver } = locked
      const end = isTaskOver ? canceled(fanOut) : failure(fanOut, reason)
      await closeFanOut(transaction, end)
      if (end.state === 'FAILED') await recordFailure(transaction, fanOut, end)
    })
  } catch (error) {
    logger.warn({ event: 'join.failed', taskId: named.taskId, code: codeOf(error) })
  }
}

async function settleIn(transaction: Database, parts: Preparing, named: DueFanOut): Promise<void> {
  const locked = await lockReadyFanOut(transaction, named)
  if (locked === undefined) return
  const { isTaskOver } = locked
  // A branch that handed on meanwhile is canceled at the next look.
  if (!isTaskOver && (await listOpenInBranches(transaction, named)).length > 0) return
  const believed = authentic(locked.fanOut, parts.keyRing)
  const fanOut = believed ?? locked.fanOut
  const wanted = isTaskOver ? canceled(fanOut) : authenticEnd(parts, fanOut, believed !== undefined)
  const join = wanted.state === 'JOINED' ? prepareJoin(parts, fanOut) : undefined
  const end = typeof join === 'string' ? failure(fanOut, join) : wanted
  await closeFanOut(transaction, end)
  if (end.state === 'FAILED') await recordFailure(transaction, fanOut, end)
  if (typeof join === 'object') {
    await sendOne(transaction, join)
    parts.metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc()
  }
  crashPoint('join.before_commit')
  const { logger } = parts
  if (end.reason === FORGED)
    logger.error({ event: 'join.forged', taskId: fanOut.taskId, code: FORGED })
  logger.info({ event: 'branches.ended', state: end.state, taskId: fanOut.taskId })
}

async function recordFailure(
  transaction: Database,
  fanOut: ReadyFanOut,
  { reason }: FanOutEnd,
): Promise<void> {
  const forked = await findForkedHandoff(transaction, fanOut.fanOutId)
  if (forked === undefined) return
  const event = toOutboxEvent(fanOutFailedEntry(forked, fanOut, reason))
  await addOutboxEvents(transaction, [event])
}

/** The signed join; or the code of what keeps it from being built, now and later: too long, for one. */
function prepareJoin(parts: Preparing, fanOut: ReadyFanOut): NewHandoff | string {
  const { branchId, fanOutId: joinsId, sentBy } = fanOut
  try {
    const request = joinRequest(fanOut, new Date().toISOString())
    const handoff = prepareHandoff(request, { ...parts, branchId, joinsId, sentBy })
    return { ...handoff, addedCostMicroUSD: 0 }
  } catch (error) {
    if (error instanceof ProtocolError) return isTooLarge(error) ? TOO_LARGE : error.code
    if (kindOf(error) === 'permanent') return codeOf(error)
    throw error
  }
}

/** Results have been cut by then: what is too much are the people, the state and what was said. */
const TOO_LARGE = 'BATON_JOIN_TOO_LARGE'

const isTooLarge = ({ details }: ProtocolError): boolean =>
  details.some(({ rule }) => rule === 'bytesMax')

const failure = (fanOut: ReadyFanOut, reason: string): FanOutEnd => ({
  fanOutId: fanOut.fanOutId,
  state: 'FAILED',
  result: null,
  mac: null,
  spentMicroUSD: spentAfter(fanOut),
  reason,
})

const canceled = ({ fanOutId, spentMicroUSD }: ReadyFanOut): FanOutEnd => ({
  fanOutId,
  state: 'CANCELED',
  result: null,
  mac: null,
  spentMicroUSD,
  reason: 'CANCELED',
})

/**
 * As its branches allow; failed where any of what it is made of was changed in Postgres, or is from before there were
 * authenticators. With what is forged nothing is signed, joined or ended, whatever the policy of the fan-out says.
 */
function authenticEnd(
  { keyRing }: Preparing,
  fanOut: ReadyFanOut,
  isAuthentic: boolean,
): FanOutEnd {
  if (!isAuthentic) return failure(fanOut, FORGED)
  const end = endOf(fanOut)
  return { ...end, mac: resultMac({ ...fanOut, result: end.result }, keyRing) }
}

/** Joined as soon as enough branches have completed, or with those that have once all are over; failed by its policy. */
function endOf(fanOut: ReadyFanOut): FanOutEnd {
  const { fanOutId, joinAfter, onFailure, branches } = fanOut
  const completed = branches.filter(({ outcome }) => outcome === 'COMPLETED').length
  const failed = branches.filter(
    ({ outcome }) => outcome !== null && outcome !== 'COMPLETED',
  ).length
  const spentMicroUSD = spentAfter(fanOut)
  const isEnough = completed >= (joinAfter ?? branches.length)
  const mayGoOn = isEnough || (completed > 0 && (failed === 0 || onFailure !== 'fail'))
  if (!mayGoOn) {
    const isForbidden = onFailure === 'fail' && failed > 0
    return failure(fanOut, isForbidden ? 'BRANCH_FAILED' : 'NO_BRANCH_COMPLETED')
  }
  if (joinAfter !== null)
    return { fanOutId, state: 'JOINED', result: null, mac: null, spentMicroUSD, reason: null }
  const result = JSON.stringify({ branches: Object.fromEntries(outcomesOf(fanOut)) })
  return { fanOutId, state: 'ENDED', result, mac: null, spentMicroUSD, reason: null }
}
