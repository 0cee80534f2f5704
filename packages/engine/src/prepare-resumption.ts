// A rolled-back handoff as a new one: the sender goes on from its checkpoint, as it was or with changes.
import { randomUUID } from 'node:crypto'
import type { AgentState, HandoffConstraints, HandoffMessage } from '@baton/protocol'
import type { NewHandoff, ResumableHandoff } from '@baton/store'
import { prepareHandoff, prepareSaved } from './prepare-handoff.ts'
import type { PrepareOptions } from './prepare-handoff.ts'
import { readCheckpoint, readMessage } from './prepare-revision.ts'

/** What is done differently this time; nothing by default. */
export interface ResumeChange {
  /** Builds the message anew; without it the message goes out again as it stood last. */
  readonly agentState?: AgentState
  readonly targetAgentType?: string
  /** Only with agentState; those that were asked for stay where it is left out. */
  readonly constraints?: HandoffConstraints
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
  const message = {
    ...withoutPassed(standing, Date.parse(timestamp)),
    handoffId: randomUUID(),
    timestamp,
    ...(targetAgentType === undefined ? {} : { toAgent: { agentType: targetAgentType } }),
  } as HandoffMessage
  const asked = request === undefined ? {} : { asked: JSON.stringify(request) }
  const prepared = prepareSaved(message, { state, ...asked }, options)
  return { ...prepared, traceparent: handoff.traceparent }
}

function otherMessage(
  handoff: ResumableHandoff,
  change: ResumeChange & { readonly agentState: AgentState },
  options: PrepareOptions,
): NewHandoff {
  const { agentState, targetAgentType = handoff.toAgent, constraints } = change
  const saved = readCheckpoint(handoff.checkpoint).request?.constraints ?? {}
  const asked = withoutPassed(saved as HandoffConstraints, Date.now())
  return prepareHandoff(
    {
      agentState: {
        ...agentState,
        taskId: handoff.taskId,
        handoffId: randomUUID(),
        parentHandoffId: handoff.parentId,
        agent: { ...agentState.agent, agentId: handoff.fromAgent },
      },
      targetAgentType,
      constraints: constraints ?? asked,
    },
    { ...options, traceparent: handoff.traceparent },
  )
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
