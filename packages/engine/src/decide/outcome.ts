// What a delivery comes to: decided here without I/O, committed once by commit-outcome.ts.
import type { AuditEntry, AuditEvent } from '@baton/ledger'
import { microUSD, ProtocolError, ROUTES } from '@baton/protocol'
import type { Detail, HandoffMessage, Verdict } from '@baton/protocol'
import type {
  ClaimedHandoff,
  Completion,
  Ending,
  NewFanOut,
  NewHandoff,
  OutboxEvent,
  Retry,
  StreamDigest,
} from '@baton/store'
import { codeOf, fullJitterMs } from '@baton/runtime'
import type { SafetyVerdict } from '@baton/safety'
import { completedEntry, executedBy, lifecycleEntry, toOutboxEvent } from './audit-entries.ts'
import { resultMac } from './fan-out-macs.ts'
import { clusterOf } from './review.ts'
import type { AgentResult } from '../agent.ts'
import type { Executing, Execution } from '../execute-handoff.ts'
import { namedIn } from './named-in-answer.ts'
import { passOn } from './next-handoffs.ts'
import type { PassedOn } from './next-handoffs.ts'
import type { PrepareOptions } from '../prepare-handoff.ts'
import type { BlockedPolicy } from '../settings.ts'
import { storableJson } from '../storable-json.ts'

/** A result, its cost and the handoffs it sends next: one transaction (I5). */
export interface CompletedStep {
  readonly completion: Completion
  readonly events: readonly OutboxEvent[]
  readonly next: readonly NewHandoff[]
  readonly fanOut: NewFanOut | null
}

/** A change of a handoff's state with the events that tell of it. */
export interface ToldChange<Change> {
  readonly change: Change
  readonly events: readonly OutboxEvent[]
}

export type Outcome =
  | ({ readonly kind: 'complete' } & CompletedStep)
  | ({ readonly kind: 'retry' } & ToldChange<Retry>)
  | ({ readonly kind: 'end' } & ToldChange<Ending>)

export interface Backoff {
  readonly baseMs: number
  readonly capMs: number
}

type OutcomeOptions = PrepareOptions & { readonly backoff: Backoff }

/** An execution that ended by itself, well or badly. */
export type Ended = Extract<Execution, { readonly kind: 'done' | 'failed' }>

export type Refusal = Verdict<SafetyVerdict> & { readonly valid: false }

/** "Fails 3+ times" of E15: three attempts of one handoff, or three handoffs of one task. */
const ESCALATE_FROM_FAILURE = 3

const isEscalated = ({ attempt, failedHandoffs }: ClaimedHandoff): boolean =>
  attempt >= ESCALATE_FROM_FAILURE || failedHandoffs + 1 >= ESCALATE_FROM_FAILURE
const FINDINGS_KEPT_MAX = 20

interface Executed {
  readonly message: HandoffMessage
  readonly execution: Ended
  /** What it yielded while it ran, where that is anything. */
  readonly stream?: StreamDigest | undefined
}

/** What an execution comes to; an answer that cannot be sent on counts as the agent's failure. */
export function decideExecuted(
  claimed: ClaimedHandoff,
  { message, execution, stream }: Executed,
  options: OutcomeOptions,
): Outcome {
  if (execution.kind === 'failed') return decideFailed(claimed, execution, options)
  try {
    const passedOn = passOn({ claimed, message, execution }, options)
    return completed(claimed, { message, execution, stream, passedOn, ...options })
  } catch (error) {
    const details = error instanceof ProtocolError ? { details: error.details } : {}
    const failure = { code: codeOf(error), retry: false, agent: execution.agent, ...details }
    return decideFailed(claimed, failure, options)
  }
}

interface Done extends Pick<Executed, 'message' | 'stream'> {
  readonly execution: { readonly result: AgentResult; readonly agent: Executing }
  readonly passedOn: PassedOn
  readonly keyRing: PrepareOptions['keyRing']
}

// The agent's own cost is added to what the message had spent; amounts are integer micro-USD.
function completed(
  claimed: ClaimedHandoff,
  { message, execution, stream, passedOn, keyRing }: Done,
): Outcome {
  const { result, agent } = execution
  const { handoffId, fencingToken } = claimed
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
  const costMicroUSD = microUSD(result.costUSD)
  const cost = {
    spentMicroUSD: microUSD(costSpentSoFarUSD) + costMicroUSD,
    remainingMicroUSD: microUSD(costBudgetRemainingUSD) - costMicroUSD,
    promptTokens: result.tokens.prompt,
    completionTokens: result.tokens.completion,
  }
  const answer = result.subtask.result ?? null
  const isPartial = (result.remaining ?? []).length > 0
  const { handoffs: next, fanOut } = passedOn
  const named = namedIn(result, message)
  const answered = {
    result: JSON.stringify(answer),
    taskResult: next.length === 0 ? JSON.stringify(result.result ?? answer) : null,
  }
  return {
    kind: 'complete',
    completion: {
      handoffId,
      fencingToken,
      state: isPartial ? 'PARTIAL' : 'COMPLETED',
      chunks: stream?.chunks ?? 0,
      costMicroUSD,
      named,
      ...answered,
      mac: resultMac({ ...claimed, result: answered.taskResult }, keyRing),
    },
    events: [
      toOutboxEvent({
        ...completedEntry(claimed, { message, named, ...answered }),
        ...executedBy(claimed, agent),
        reason: isPartial ? 'PARTIAL' : null,
        ...(result.model === undefined ? {} : { model: result.model }),
        ...(stream === undefined ? {} : { stream }),
        cost,
      }),
    ],
    next,
    fanOut,
  }
}

interface Failure {
  readonly code: string
  readonly retry: boolean
  /** The next try comes no sooner. */
  readonly retryAfterMs?: number | undefined
  /** Undefined where nobody could execute it. */
  readonly agent?: Executing | undefined
  /** What is wrong, where that is known; none of it is text of a message. */
  readonly details?: readonly Detail[]
}

/** Tried again while attempts last, then rolled back to the sender's checkpoint (E15). */
export function decideFailed(
  claimed: ClaimedHandoff,
  { code, retry, retryAfterMs = 0, agent, details = [failedWith(code)] }: Failure,
  { backoff }: { readonly backoff: Backoff },
): Outcome {
  const executor = executedBy(claimed, agent)
  const why = { reason: code, details, executor }
  if (!retry || claimed.attempt >= claimed.attemptsMax) return rolledBack(claimed, why)
  const soon = retryOf(claimed, { ...why, returned: false }, backoff)
  const change = { ...soon, delayMs: Math.max(soon.delayMs, retryAfterMs) }
  const failed = { ...lifecycleEntry(claimed, 'EXECUTION_FAILED', code), ...executor }
  const events = [toOutboxEvent(failed)]
  return { kind: 'retry', change, events }
}

const failedWith = (code: string): Detail => ({
  pointer: '',
  rule: 'execution',
  message: code,
  fix: 'See the agent’s own log for this handoff id.',
})

/** The agent that took it declined it for good, with a code of its own: the sender goes on from its checkpoint. */
export function decideDeclined(
  claimed: ClaimedHandoff,
  { code, agent }: { readonly code: string; readonly agent: Executing },
): Outcome {
  const fix = 'Hand it to another agent type, or ask whoever runs this agent.'
  const details = [{ pointer: '', rule: 'declined', message: code, fix }]
  const change: Ending = {
    ...endingOf(claimed, { reason: 'DECLINED', details }),
    state: 'REJECTED',
    taskStatus: 'PENDING_HANDOFF',
    alert: false,
  }
  const declined = lifecycleEntry(claimed, 'EXECUTION_FAILED', 'DECLINED')
  return {
    kind: 'end',
    change,
    events: [toOutboxEvent({ ...declined, ...executedBy(claimed, agent) })],
  }
}

/** Follows the routing table: returned to the sender (E09), dead-lettered (E07, E10) or ended (E08). */
export function decideRejected(
  claimed: ClaimedHandoff,
  verdict: Refusal,
  { backoff }: { readonly backoff: Backoff },
): Outcome {
  const route = ROUTES[verdict.reason]
  const rulesetVersion = verdict.checks.scan?.rulesetVersion ?? null
  const why = { reason: verdict.reason, details: detailsOf(verdict), rulesetVersion }
  if (route.retry && claimed.attempt < claimed.attemptsMax) {
    const change = retryOf(claimed, { ...why, returned: true }, backoff)
    const events = [toOutboxEvent(lifecycleEntry(claimed, 'HANDOFF_RETURNED', verdict.reason))]
    return { kind: 'retry', change, events }
  }
  if (route.rollBack) return rolledBack(claimed, why)
  const { taskStatus, alert } = route
  const state = route.deadLetter ? 'DEAD_LETTERED' : 'REJECTED'
  return ended(claimed, { ...endingOf(claimed, why), state, taskStatus, alert })
}

/** POISON: its owners kept dying. UNRECORDABLE: the audit store will never take its decision record. */
export interface Quarantine {
  readonly reason: 'POISON' | 'UNRECORDABLE'
  readonly details: readonly Detail[]
}

/**
 * Out of everybody's way and in front of a person: for what no further attempt can mend. What kills
 * its owners rolls the task back too, since its sender can go on from the checkpoint.
 */
export function decideQuarantined(claimed: ClaimedHandoff, why: Quarantine): Outcome {
  const isPoison = why.reason === 'POISON'
  return ended(claimed, {
    ...endingOf(claimed, why),
    state: 'DEAD_LETTERED',
    taskStatus: isPoison ? 'PENDING_HANDOFF' : 'AWAITING_HUMAN',
    alert: true,
    escalate: isPoison,
  })
}

/**
 * Its receiver lacks what it requires and no other agent type takes it (S20). Where the policy says so
 * it is tried again while attempts last, for nothing was wrong with the message; otherwise it ends at
 * no cost, and a person decides what becomes of its task.
 */
export function decideBlocked(
  claimed: ClaimedHandoff,
  unmet: readonly Detail[],
  { blockedPolicy, backoff }: { readonly blockedPolicy: BlockedPolicy; readonly backoff: Backoff },
): Outcome {
  const why = { reason: 'BLOCKED', details: unmet }
  if (blockedPolicy === 'retry' && claimed.attempt < claimed.attemptsMax)
    return {
      kind: 'retry',
      change: retryOf(claimed, { ...why, returned: false }, backoff),
      events: [],
    }
  return ended(claimed, {
    ...endingOf(claimed, why),
    state: 'BLOCKED',
    taskStatus: 'AWAITING_HUMAN',
    alert: true,
    escalate: true,
  })
}

interface Why {
  readonly reason: string
  readonly details: readonly object[]
  readonly rulesetVersion?: string | null
  /** Of an execution that failed: who ran. */
  readonly executor?: Pick<AuditEntry, 'toAgent'>
}

function rolledBack(claimed: ClaimedHandoff, why: Why): Outcome {
  const ending: Ending = {
    ...endingOf(claimed, why),
    state: 'ROLLED_BACK',
    taskStatus: 'PENDING_HANDOFF',
    alert: true,
    escalate: isEscalated(claimed),
  }
  return ended(claimed, ending, why.executor)
}

const endingOf = (claimed: ClaimedHandoff, { reason, details, rulesetVersion = null }: Why) => ({
  handoffId: claimed.handoffId,
  fencingToken: claimed.fencingToken,
  reason,
  details: storableJson(details),
  costMicroUSD: 0,
  escalate: false,
  cluster: clusterOf(reason, details),
  rulesetVersion,
})

function ended(claimed: ClaimedHandoff, change: Ending, executor?: Why['executor']): Outcome {
  const happened: AuditEvent[] = [
    ...(change.state === 'REJECTED' || change.state === 'BLOCKED' ? [] : [change.state]),
    ...(change.escalate ? (['HUMAN_ESCALATED'] as const) : []),
  ]
  const events = happened.map((event) =>
    toOutboxEvent({ ...lifecycleEntry(claimed, event, change.reason), ...executor }),
  )
  return { kind: 'end', change, events }
}

function retryOf(
  claimed: ClaimedHandoff,
  { reason, details, returned }: Why & { readonly returned: boolean },
  backoff: Backoff,
): Retry {
  return {
    handoffId: claimed.handoffId,
    fencingToken: claimed.fencingToken,
    reason,
    details: storableJson(details),
    delayMs: fullJitterMs(claimed.attempt - 1, backoff),
    returned,
  }
}

// For a safety violation the details name where and by which rule; the text itself stays in quarantine.
function detailsOf(verdict: Refusal): readonly object[] {
  const findings = verdict.checks.scan?.findings ?? []
  if (verdict.reason !== 'SAFETY_VIOLATION' || findings.length === 0) return verdict.details
  const unreleased = verdict.details.filter(({ rule }) => rule.startsWith('release.'))
  const found = findings.slice(0, FINDINGS_KEPT_MAX).map((finding) => ({
    pointer: finding.jsonPointer,
    rule: finding.ruleId,
    category: finding.category,
    view: finding.view,
    span: finding.span,
    ...(finding.reasons === undefined ? {} : { reasons: finding.reasons }),
    ...wordsFor(finding.category),
  }))
  return [...unreleased, ...found]
}

const wordsFor = (category: string) =>
  category === 'incomplete'
    ? {
        message: 'hides more text inside other text than the scanner reads of one message',
        fix: 'A reviewer decides about this dead letter; it is not retried. Let the sender hand over a reference instead of encoded bytes.',
      }
    : {
        message: MESSAGES[category] ?? `text that reads as ${category}`,
        fix: 'A reviewer decides about this dead letter; it is not retried.',
      }

/** Of categories that are no kind of text. */
const MESSAGES: Readonly<Record<string, string>> = {
  injection: 'text that reads like known attacks; reasons are the places that weigh most',
  classifier: 'text that the classifier beside the scanner rejects',
  policy: 'this agent type takes nothing that is flagged',
}
