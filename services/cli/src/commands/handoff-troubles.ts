// What keeps handoffs of a task from being done, for `trace` and `task show`: which reason, at which place, how to mend it, and what to type next.
// Nothing of it is text of a message.
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Handoff } from './find-task.ts'

export type Seen = Pick<
  Handoff,
  'handoffId' | 'taskId' | 'fromAgent' | 'toAgent' | 'state' | 'reason' | 'details' | 'attempt'
> &
  Pick<Handoff, 'attemptsMax' | 'resumesHandoffId'>

interface Place {
  /** RFC 6901, into the message; empty for the whole of it. */
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly fix: string
}

export interface Trouble {
  readonly handoffId: string
  readonly fromAgent: string
  readonly toAgent: string
  readonly state: string
  readonly reason: string | null
  readonly places: readonly Place[]
  /** What mends it, in sentences. */
  readonly remedy: string
  /** A command, to look closer or to go on. */
  readonly next: string
}

/** In the order of the handoffs; without those that were taken up again. */
export function troublesOf(handoffs: readonly Seen[]): readonly Trouble[] {
  const resumed = new Set(handoffs.map(({ resumesHandoffId }) => resumesHandoffId))
  return handoffs
    .filter((one) => !resumed.has(one.handoffId) && (isStopped(one) || isWaiting(one)))
    .map((one) => ({
      handoffId: one.handoffId,
      fromAgent: one.fromAgent,
      toAgent: one.toAgent,
      state: one.state,
      reason: one.reason,
      places: placesOf(one.details),
      remedy: remedyFor(one),
      next: nextFor(one),
    }))
}

const STOPPED: readonly string[] = [
  'REJECTED',
  'BLOCKED',
  'EXPIRED',
  'CANCELED',
  'DEAD_LETTERED',
  'ROLLED_BACK',
]
const isStopped = ({ state }: Seen): boolean => STOPPED.includes(state)
const isWaiting = ({ state }: Seen): boolean =>
  ['QUEUED', 'DISPATCHED', 'AWAITING_APPROVAL'].includes(state)

/** As many as a verdict has. */
const PLACES_MAX = 50

/** What came from elsewhere may lack any of them. */
function placesOf(details: unknown): readonly Place[] {
  if (!Array.isArray(details)) return []
  return (details as readonly Partial<Place>[])
    .slice(0, PLACES_MAX)
    .map(({ pointer = '', rule = '', message = '', fix = '' }) => ({ pointer, rule, message, fix }))
}

const CORRECT = 'Correct the state at these places, as it is said there, and send it anew.'

/** By reason; what is not here is the code of an agent, or of Baton while it executed. */
const REMEDIES: Readonly<Record<string, string>> = {
  SIGNATURE_INVALID:
    'It was signed with a key that its receiver does not have, or changed on the way. BATON_SIGNING_KEYS of the sender must stand in that of receivers too (`baton env` prints it); then send the task anew. Nobody can release this one.',
  SCHEMA_INVALID: CORRECT,
  INCOMPLETE_CONTEXT: CORRECT,
  BUDGET_EXHAUSTED:
    'The task has spent what it may, or its sender counted otherwise. Begin one with a larger `cost.budgetRemainingUSD`, or mend what the sender adds up.',
  SAFETY_VIOLATION:
    'The text at these places reads like an attack. Two reviewers release it where it is none, or redact it there; or discard it.',
  BLOCKED:
    'No live agent has what it requires. Start one whose `capabilities` and `mcp` name it, or send without that requirement.',
  POISON:
    'Whoever executed it died each time. Look for the reason in the log of the agent, mend it, then decide about the dead letter.',
  UNRECORDABLE: 'The audit log takes no record of it, so that it is not executed.',
  EXPIRED: 'Its deadline passed before an agent had done it. Send it with a later `deadline`.',
  CANCELED: 'Somebody canceled it; nothing has to be done.',
  DECLINED: 'Hand it to another agent type, or ask whoever runs this agent.',
}

function remedyFor({ state, reason, toAgent, attempt, attemptsMax }: Seen): string {
  if (state === 'AWAITING_APPROVAL') return 'It waits until a person approves it.'
  if (isWaitingState(state) && reason === null)
    return `It waits for an agent of the type ${toAgent}. Where none is listed by \`${nextStep('agents')}\`, start one.`
  const why =
    (reason === null ? undefined : REMEDIES[reason]) ??
    REMEDIES[state] ??
    `The agent ${toAgent} failed with ${reason ?? 'no reason'}. Its own log says more under this handoff id; mend it there.`
  return isWaitingState(state)
    ? `${why} It is tried again, ${attempt} of ${attemptsMax}, until then.`
    : why
}

const isWaitingState = (state: string): boolean => state === 'QUEUED' || state === 'DISPATCHED'

function nextFor({ state, reason, handoffId, taskId }: Seen): string {
  if (state === 'AWAITING_APPROVAL') return nextStep(`approvals approve ${handoffId}`)
  if (state === 'DEAD_LETTERED') return nextStep(`dlq show ${short(handoffId)}`)
  if (state === 'BLOCKED' || isWaitingState(state)) return nextStep('agents')
  if (state === 'ROLLED_BACK' || state === 'EXPIRED')
    return nextStep(`task resume ${short(taskId)}`)
  if (state === 'REJECTED' && reason === 'BUDGET_EXHAUSTED') return nextStep('escalations')
  return nextStep(`trace ${short(taskId)}`)
}

const TOLD_MAX = 5

/** For a person. Empty where nothing is stopped or waits; the command of a single one is the next step anyway. */
export function troubleLines(troubles: readonly Trouble[]): readonly string[] {
  const more = troubles.length - TOLD_MAX
  return [
    ...troubles
      .slice(0, TOLD_MAX)
      .flatMap((one) => [...linesOf(one), ...(troubles.length > 1 ? [`  ${one.next}`] : [])]),
    ...(more > 0 ? [`and ${more} more handoffs that are not done; --json has all of them`] : []),
  ]
}

function linesOf(trouble: Trouble): readonly string[] {
  const { handoffId, fromAgent, toAgent, state, reason, places, remedy } = trouble
  const why = reason === null || reason === state ? '' : `: ${reason}`
  // Of a failed execution the place says nothing more than the reason.
  const told = places.filter(({ pointer, message }) => pointer !== '' || message !== reason)
  const more = told.length - TOLD_MAX
  const shown = told
    .slice(0, TOLD_MAX)
    .flatMap(({ pointer, rule, message, fix }, index) => [
      `  at ${pointer || 'the whole message'}: ${message}${rule === '' ? '' : ` (${rule})`}`,
      ...(fix === '' || fix === told[index + 1]?.fix ? [] : [`    ${fix}`]),
    ])
  return [
    `${short(handoffId)} ${fromAgent} → ${toAgent} is ${state}${why}`,
    ...shown,
    ...(more > 0 ? [`  and at ${more} more places`] : []),
    `  ${remedy}`,
  ]
}
