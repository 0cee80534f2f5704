// What the audit store is told: structure in the record, text only in separately stored segments.
import { randomUUID } from 'node:crypto'
import { DEFAULT_TENANT, SEGMENT_CHARACTERS_MAX } from '@baton/ledger'
import type { AuditEntry, AuditEvent, EntryVerdicts, SegmentInput } from '@baton/ledger'
import { encodeMessage, microUSD, transferCode } from '@baton/protocol'
import type { HandoffMessage, Jurisdiction, Verdict } from '@baton/protocol'
import type { ClaimedHandoff, ExpiredHandoff, OutboxEvent, ReadyFanOut } from '@baton/store'
import { permanent } from '@baton/runtime'
import type { ClassifiedSafety } from './classified.ts'
import type { Executing } from '../execute-handoff.ts'
import { subjectOf } from '../prepare-handoff.ts'

type Known = Pick<
  ClaimedHandoff,
  | 'taskId'
  | 'handoffId'
  | 'parentId'
  | 'attempt'
  | 'fencingToken'
  | 'fromAgent'
  | 'fromVersion'
  | 'fromExecution'
  | 'toAgent'
  | 'toVersion'
  | 'routedTo'
  | 'traceparent'
  | 'tenant'
>

/**
 * The decision record of E11: written and acknowledged before anything executes (I3). What is accepted outside of where its data belongs
 * names the ground for the transfer as its reason.
 */
export function decisionEntry(
  claimed: ClaimedHandoff,
  verdict: Verdict<ClassifiedSafety>,
  place?: Jurisdiction,
): AuditEntry {
  const { message } = verdict
  const { classifier, exempted, policy } = verdict.checks.scan ?? {}
  const transfer = transferCode(message?.residency, place)
  return {
    ...lifecycleEntry(claimed, verdict.valid ? 'HANDOFF_ACCEPTED' : 'HANDOFF_REJECTED'),
    verdicts: verdictsOf(verdict),
    reason: verdict.valid ? (transfer ?? null) : verdict.reason,
    cost: message === undefined ? null : costOf(message),
    segments: message === undefined ? [] : segmentsOf(claimed, message),
    ...(claimed.sentBy === null ? {} : { sentBy: claimed.sentBy }),
    ...(classifier === undefined ? {} : { classifier }),
    ...(exempted === undefined ? {} : { exemptions: exempted }),
    ...(policy === undefined ? {} : { policy }),
    ...usedOverride(claimed, verdict),
    ...(claimed.joins === null ? {} : { joins: claimed.joins }),
  }
}

/** A release is named by the acceptance that rests on it, and by no other. */
const usedOverride = (
  { approvalOverride }: ClaimedHandoff,
  { checks }: Verdict<ClassifiedSafety>,
) =>
  approvalOverride !== null && checks.safety === 'released' ? { release: approvalOverride.id } : {}

/** An event without text: what happened to which handoff, in which attempt. */
export function lifecycleEntry(
  known: Known | ExpiredHandoff,
  event: AuditEvent,
  reason: string | null = null,
): AuditEntry {
  return {
    event,
    taskId: known.taskId,
    handoffId: known.handoffId,
    parentHandoffId: known.parentId,
    attempt: known.attempt,
    epoch: known.fencingToken,
    fromAgent: {
      agentId: known.fromAgent,
      agentVersion: known.fromVersion,
      executionId: known.fromExecution,
    },
    toAgent: receiverOf(known),
    traceparent: known.traceparent,
    ...ofTenant(known.tenant),
    verdicts: null,
    reason,
    cost: null,
    segments: [],
  }
}

/** The default tenant is not named: alone in an installation it is all there is. */
export const ofTenant = (tenant: string): Pick<AuditEntry, 'tenant'> =>
  tenant === DEFAULT_TENANT ? {} : { tenant }

// Whoever executes it in fact; the range was for the type that the message names.
function receiverOf(known: Known | ExpiredHandoff): AuditEntry['toAgent'] {
  const routedTo = 'routedTo' in known ? known.routedTo : null
  if (routedTo !== null) return { agentType: routedTo, agentVersion: null }
  return { agentType: known.toAgent, agentVersion: known.toVersion }
}

interface Answered {
  readonly message: HandoffMessage
  /** Whose data the answer says that it holds, besides that of the people whom the message names. */
  readonly named?: readonly string[] | undefined
  /** JSON. */
  readonly result: string
  /** JSON of what the task came to, or its branch; null where it goes on. */
  readonly taskResult: string | null
}

/**
 * What an execution answered, and with the last one what the task came to: texts of the people whom the message names,
 * and of those whom the answer names (I11). What a branch came to is not yet the task's: it stands as a result where it is another one.
 */
export function completedEntry(
  claimed: ClaimedHandoff,
  { message, named = [], result, taskResult }: Answered,
): AuditEntry {
  const owner = ownerOf({ dataSubjects: [...(message.dataSubjects ?? []), ...named] })
  const segments: SegmentInput[] = [{ kind: 'result', ...owner, text: result }]
  const kind = claimed.branchId === null ? 'task-result' : 'result'
  if (taskResult !== null && (kind === 'task-result' || taskResult !== result))
    segments.push({ kind, ...owner, text: taskResult })
  const largest = Math.max(...segments.map(({ text }) => text.length))
  if (largest > SEGMENT_CHARACTERS_MAX)
    throw permanent(
      'BATON_AGENT_RESULT_TOO_LARGE',
      `a result of ${largest} characters is more than the ${SEGMENT_CHARACTERS_MAX} that the audit log takes`,
      { fix: 'Answer with a reference to where it is stored.' },
    )
  return { ...lifecycleEntry(claimed, 'EXECUTION_COMPLETED'), segments }
}

/** In the records of what an execution came to, the version that ran stands in place of the range that was asked for. */
export const executedBy = (
  { routedTo, toAgent }: ClaimedHandoff,
  agent: Executing | undefined,
): Pick<AuditEntry, 'toAgent'> => ({
  toAgent: { agentType: routedTo ?? toAgent, agentVersion: agent?.version ?? null },
})

/** That an agent outside has the work: who takes it, and what it announced of itself, which is text. */
export const startedEntry = (
  claimed: ClaimedHandoff,
  { agent, act, announced }: Started,
): AuditEntry => ({
  ...lifecycleEntry(claimed, 'EXECUTION_STARTED'),
  ...executedBy(claimed, agent),
  act,
  segments: announced === undefined ? [] : [{ kind: 'message', subject: null, text: announced }],
})

interface Started {
  readonly agent: Executing
  readonly act: NonNullable<AuditEntry['act']>
  readonly announced: string | undefined
}

/** The record of a handoff that passed every check and that its receiver cannot take (S18). */
export function blockedEntry(
  claimed: ClaimedHandoff,
  verdict: Verdict<ClassifiedSafety>,
): AuditEntry {
  return { ...decisionEntry(claimed, verdict), event: 'HANDOFF_BLOCKED', reason: 'BLOCKED' }
}

/** That branches were given up: by what was asked of them, because of which, and whose results there are. */
export const fanOutFailedEntry = (
  forked: ExpiredHandoff,
  { onFailure, joinAfter, branches }: ReadyFanOut,
  reason: string | null,
): AuditEntry => ({
  ...lifecycleEntry(forked, 'FAN_OUT_FAILED', reason),
  fanOut: {
    onFailure,
    waitFor: joinAfter,
    branches: branches.map((branch) => ({
      handoffId: branch.handoffId,
      outcome: branch.outcome ?? 'CANCELED',
      reason: branch.outcome === null ? 'NOT_WAITED_FOR' : branch.reason,
    })),
  },
})

/** An entry that commits with the change it tells of and is shipped afterwards. */
export function toOutboxEvent(entry: AuditEntry): OutboxEvent {
  return { id: randomUUID(), handoffId: entry.handoffId, entry: JSON.stringify(entry) }
}

function verdictsOf({ checks }: Verdict<ClassifiedSafety>): EntryVerdicts {
  const { size, signature, schema, completeness, budget, scan } = checks
  return {
    size,
    signature,
    schema,
    completeness,
    budget,
    safety: {
      decision: scan?.decision ?? 'skipped',
      artefactId: scan?.rulesetVersion ?? null,
      findings: scan?.findings.length ?? 0,
    },
  }
}

function costOf({ costTracking }: HandoffMessage): AuditEntry['cost'] {
  return {
    spentMicroUSD: microUSD(costTracking.costSpentSoFarUSD),
    remainingMicroUSD: microUSD(costTracking.costBudgetRemainingUSD),
    promptTokens: costTracking.tokenSpent.prompt,
    completionTokens: costTracking.tokenSpent.completion,
  }
}

// Each person's data is a segment of its own. The rest of the message is one segment, which may repeat what is
// said of them: it is theirs together, so that erasing any of them erases it (I11).
function segmentsOf(claimed: ClaimedHandoff, message: HandoffMessage): SegmentInput[] {
  const { personalDataPayload, contextSnapshot, ...rest } = message
  const owner = ownerOf(message)
  if (personalDataPayload === undefined && contextSnapshot === undefined) {
    return [{ kind: 'message', ...owner, text: Buffer.from(claimed.body).toString('utf8') }]
  }
  const recorded = contextSnapshot === undefined ? rest : { ...rest, ...withheld(contextSnapshot) }
  const text = Buffer.from(encodeMessage(recorded as HandoffMessage)).toString('utf8')
  return [{ kind: 'message', ...owner, text }, ...personalSegments(message)]
}

// Nobody here has read what another protocol's bytes hold, passwords of tools among it: their digest is recorded.
const withheld = (contextSnapshot: NonNullable<HandoffMessage['contextSnapshot']>) => ({
  contextSnapshot: { ...contextSnapshot, bytes: '' },
})

function ownerOf({
  dataSubjects,
}: Pick<HandoffMessage, 'dataSubjects'>): Pick<SegmentInput, 'subject' | 'subjects'> {
  const subjects = [...new Set(dataSubjects)].toSorted()
  if (subjects.length > 1) return { subject: null, subjects }
  return { subject: subjects[0] ?? null }
}

function personalSegments(message: HandoffMessage): SegmentInput[] {
  const bySubject = new Map<string, Record<string, unknown>>()
  for (const [pointer, entry] of Object.entries(message.personalDataPayload ?? {})) {
    const subject = subjectOf(message, entry) ?? message.dataSubjects?.[0]
    if (subject === undefined) continue
    bySubject.set(subject, { ...bySubject.get(subject), [pointer]: entry })
  }
  return [...bySubject].map(([subject, entries]) => ({
    kind: 'personal',
    subject,
    text: JSON.stringify(entries),
  }))
}
