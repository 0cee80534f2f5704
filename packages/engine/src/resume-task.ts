// Takes a task up again after a rollback: at most one handoff ever takes up a rolled-back one.
import { randomUUID } from 'node:crypto'
import { fitHandoff } from '@baton/protocol'
import type { AgentState, HandoffConstraints, HandoffMessage } from '@baton/protocol'
import { crashPoint, permanent } from '@baton/runtime'
import {
  addOutboxEvents,
  findResumeTarget,
  findRevisionBase,
  inTransaction,
  linkResumed,
  lockResumable,
} from '@baton/store'
import type { Database, NewHandoff, Pool, ResumableHandoff, ResumeState } from '@baton/store'
import type { WrittenSummary } from '@baton/summarise'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import {
  paidFor,
  prepareHandoff,
  prepareSaved,
  readCheckpoint,
  readMessage,
  withBounds,
} from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from './prepare-handoff.ts'
import { refuseOtherResidency, residencyOf } from './revise-handoff.ts'
import type { ReturnParts } from './revise-handoff.ts'
import { sendOne } from './commit-outgoing.ts'
import type { Sent } from './commit-outgoing.ts'
import { wakeRelays } from './wake.ts'
import { writeSummaryAgain } from './write-summary.ts'

/** What is done differently this time; nothing by default. */
export interface ResumeChange {
  /** Builds the message anew; without it the message goes out again as it stood last. */
  readonly agentState?: AgentState
  readonly targetAgentType?: string
  /** Only with agentState; those that were asked for stay where it is left out. */
  readonly constraints?: HandoffConstraints
}

export interface ResumeRequest {
  readonly taskId: string
  /** Which rolled-back handoff; the task's latest by default. */
  readonly handoffId?: string | undefined
  readonly change?: ResumeChange
  /** Who answers for it: the person, or the sending agent itself. */
  readonly actor: string
  /** The operator for whom it is changed. */
  readonly sentBy: string | null
  /** What else commits with the handoff that takes it up, behind it; throws where it must not be sent. */
  readonly within?: (transaction: Database, handoff: NewHandoff) => Promise<void>
}

/** What was asked for when a handoff was sent; undefined where its message came ready made. */
export async function findAskedRequest(
  pool: Pool,
  handoffId: string,
): Promise<HandoffRequest | undefined> {
  const base = await findRevisionBase(pool, handoffId)
  return base === undefined
    ? undefined
    : (readCheckpoint(base.checkpoint).request as HandoffRequest | undefined)
}

/**
 * Sends the rolled-back or expired handoff of a task again as a new one (E15); its escalations wait no
 * longer. Repeating it answers the first one as `duplicate`. Throws BATON_TASK_UNKNOWN,
 * BATON_TASK_ENDED and BATON_NOTHING_TO_RESUME.
 */
export async function resumeTask(parts: ReturnParts, request: ResumeRequest): Promise<Sent> {
  const { pool, metrics, logger } = parts
  const { taskId } = request
  crashPoint('resume.before_commit')
  const outcome = await commit(parts, request)
  crashPoint('resume.after_commit')
  if (outcome.kind === 'sent') {
    const { handoffId } = outcome.sent
    wakeRelays(pool)
    metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc()
    metrics.resumesTotal.inc()
    logger.info({ event: 'task.resumed', taskId, handoffId })
    return outcome.sent
  }
  if (outcome.kind !== 'resumed') throw refusedResumption(taskId, outcome.kind)
  const { kind: _, ...first } = outcome
  return { ...first, taskId, duplicate: true }
}

type Resumed =
  | Exclude<ResumeState, { readonly kind: 'resumable' }>
  | { readonly kind: 'sent'; readonly sent: Sent }

async function commit(parts: ReturnParts, request: ResumeRequest): Promise<Resumed> {
  const { change = {}, actor, sentBy } = request
  const { pool, receivers, metrics } = parts
  const onCompressed = () => metrics.contextCompressionsTotal.inc()
  const { targetAgentType = (await findResumeTarget(pool, request))?.agentType } = change
  const bounds = await receivers.boundsOf(targetAgentType === undefined ? [] : [targetAgentType])
  const ahead = await summaryAhead({ ...parts, bounds }, request)
  return inTransaction(pool, async (transaction) => {
    const standing = await lockResumable(transaction, request)
    if (standing.kind !== 'resumable') return standing
    const resumable = standing.handoff
    const handoff = prepareResumption(resumable, change, {
      ...parts,
      sentBy,
      bounds,
      onCompressed,
      written: ahead?.of === resumable.handoffId ? ahead.written : undefined,
    })
    const { handoffId } = handoff
    const sent = await sendOne(transaction, handoff)
    await request.within?.(transaction, handoff)
    await linkResumed(transaction, { handoffId, resumesId: resumable.handoffId })
    // Stands with the handoff that was rolled back; the act's id is the handoff that takes it up.
    const entry = lifecycleEntry(resumable, 'TASK_RESUMED', resumable.reason)
    await addOutboxEvents(transaction, [toOutboxEvent({ ...entry, act: { id: handoffId, actor } })])
    return { kind: 'sent', sent }
  })
}

interface Ahead {
  /** The handoff that it was written to take up. */
  readonly of: string
  readonly written: WrittenSummary | undefined
}

/** The summary that building it anew needs: written before the task is locked to be resumed, and not where it was before. */
async function summaryAhead(
  parts: ReturnParts & Pick<PrepareOptions, 'bounds'>,
  request: ResumeRequest,
): Promise<Ahead | undefined> {
  const { change = {} } = request
  const { agentState } = change
  if (parts.summariser === undefined || agentState === undefined) return undefined
  const standing = await inTransaction(parts.pool, (one) => lockResumable(one, request))
  if (standing.kind !== 'resumable') return undefined
  const { handoff } = standing
  const asked = requestOf(handoff, { ...change, agentState })
  const written = await writeSummaryAgain(readMessage(handoff.body), asked, parts)
  return { of: handoff.handoffId, written }
}

function refusedResumption(taskId: string, kind: 'unknown' | 'ended' | 'nothing'): Error {
  if (kind === 'unknown')
    return permanent('BATON_TASK_UNKNOWN', `there is no task ${taskId}`, {
      fix: 'Use the taskId as it was answered.',
    })
  if (kind === 'ended') {
    return permanent('BATON_TASK_ENDED', `task ${taskId} has ended`, {
      fix: 'Start a new task; an ended one takes no further handoffs.',
    })
  }
  return permanent(
    'BATON_NOTHING_TO_RESUME',
    `no handoff of task ${taskId} was rolled back or has expired`,
    {
      fix: 'A task is resumed after a rollback; a dead letter waits for a reviewer instead.',
    },
  )
}

/**
 * The handoff that takes up a rolled-back or expired one: a fresh id, timestamp and signature; the
 * same task, parent, sender, trace and budget. A deadline or expiry that has passed is left out, for
 * whoever resumes decides to be late. Its checkpoint is what the sender had saved.
 */
export function prepareResumption(
  handoff: ResumableHandoff,
  change: ResumeChange,
  options: PrepareOptions,
): NewHandoff {
  const own = {
    ...options,
    attemptsMax: handoff.attemptsMax,
    branchId: handoff.branchId,
    joinsId: handoff.joinsId,
    sentBy: authorOf(handoff, change, options),
  }
  const prepared =
    change.agentState === undefined
      ? sameMessage(handoff, change, own)
      : otherMessage(handoff, { ...change, agentState: change.agentState }, own)
  const added = prepared.spentMicroUSD - handoff.spentMicroUSD
  return { ...prepared, addedCostMicroUSD: Math.max(0, added) }
}

// Who changes what is said answers for it; who only repeats it does not.
const authorOf = (
  { sentBy }: ResumableHandoff,
  { agentState }: ResumeChange,
  options: PrepareOptions,
): string | null => (agentState === undefined ? sentBy : (options.sentBy ?? sentBy))

function sameMessage(
  handoff: ResumableHandoff,
  { targetAgentType }: ResumeChange,
  options: PrepareOptions,
): Omit<NewHandoff, 'addedCostMicroUSD'> {
  const { signature: _, signatureKeyId: _key, ...standing } = readMessage(handoff.body)
  const { state, request } = readCheckpoint(handoff.checkpoint)
  const timestamp = new Date().toISOString()
  const same = {
    ...withoutPassed(standing, Date.parse(timestamp)),
    handoffId: randomUUID(),
    timestamp,
  } as HandoffMessage
  const message =
    targetAgentType === undefined ? same : sameFor(targetAgentType, same, { handoff, options })
  const asked = request === undefined ? {} : { asked: JSON.stringify(request) }
  const prepared = prepareSaved(message, { state, ...asked }, options)
  return { ...prepared, traceparent: handoff.traceparent }
}

function otherMessage(
  handoff: ResumableHandoff,
  change: Rebuilding,
  options: PrepareOptions,
): NewHandoff {
  const standing = readMessage(handoff.body)
  const paid = paidFor(standing, askedOf(handoff))
  const { traceparent } = handoff
  const prepared = prepareHandoff(requestOf(handoff, change), { ...options, paid, traceparent })
  refuseOtherResidency(standing, readMessage(prepared.body))
  return prepared
}

/** The same message for another receiver, whose window it has to fit. */
function sameFor(
  agentType: string,
  same: HandoffMessage,
  { handoff, options }: { readonly handoff: ResumableHandoff; readonly options: PrepareOptions },
): HandoffMessage {
  const constraints = constraintsFor(handoff, agentType)
  return fitHandoff(
    { ...same, toAgent: { agentType } },
    withBounds({ constraints, targetAgentType: agentType }, options),
  )
}

/** Those that were asked for; what was known of the window was known of the receiver before. */
function constraintsFor(handoff: ResumableHandoff, agentType: string): HandoffConstraints {
  const { receiverContextWindowTokens, ...asked } = askedOf(handoff)?.constraints ?? {}
  const isSame = agentType === handoff.toAgent && receiverContextWindowTokens !== undefined
  return withoutPassed(isSame ? { ...asked, receiverContextWindowTokens } : asked, Date.now())
}

type Rebuilding = ResumeChange & { readonly agentState: AgentState }

const askedOf = ({ checkpoint }: ResumableHandoff): HandoffRequest | undefined =>
  readCheckpoint(checkpoint).request as HandoffRequest | undefined

function requestOf(handoff: ResumableHandoff, change: Rebuilding): HandoffRequest {
  const { agentState, targetAgentType = handoff.toAgent, constraints } = change
  return {
    agentState: {
      ...residencyOf(readMessage(handoff.body)),
      ...agentState,
      taskId: handoff.taskId,
      handoffId: randomUUID(),
      parentHandoffId: handoff.parentId,
      agent: { ...agentState.agent, agentId: handoff.fromAgent },
    },
    targetAgentType,
    constraints: constraints ?? constraintsFor(handoff, targetAgentType),
  }
}

interface Limited {
  readonly deadline?: string
  readonly expiresAt?: string
}

function withoutPassed<Part extends Limited>(part: Part, nowMs: number): Part {
  const { deadline, expiresAt, ...rest } = part
  const isAhead = (instant: string | undefined) =>
    instant !== undefined && !(Date.parse(instant) <= nowMs)
  return {
    ...rest,
    ...(isAhead(deadline) ? { deadline } : {}),
    ...(isAhead(expiresAt) ? { expiresAt } : {}),
  } as Part
}
