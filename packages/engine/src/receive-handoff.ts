// One delivery, start to finish. The decision record is durable before any agent code runs (I3).
import type { AuditEntry, Receipt } from '@baton/ledger'
import { FACT_LOST, unmetRequirements } from '@baton/protocol'
import type { AgentRegistration, Detail, Verdict } from '@baton/protocol'
import type { ClaimedHandoff, ClaimRequest, RefusedClaim, StartedExecution } from '@baton/store'
import { codeOf, crashPoint } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { messagingAttributes, startSpan, startStep } from '@baton/telemetry'
import type { HandoffTransport, Metrics, Span } from '@baton/telemetry'
import { blockedEntry, decisionEntry } from './decide/audit-entries.ts'
import type { ClassifiedSafety } from './decide/classified.ts'
import type { Executor } from './execute-handoff.ts'
import { deadlineOf } from './prepare-handoff.ts'
import type { SettledAs, Settler } from './commit-outcome.ts'
import type { Quarantine } from './decide/outcome.ts'

/** What a queue message names. */
export interface Delivery extends ClaimRequest {
  /** How long the signed message is, where that is known. */
  readonly bytes?: number
}

export interface ReceiveDeps {
  claim(delivery: Delivery): Promise<ClaimedHandoff | RefusedClaim>
  /** Who would execute it here. */
  executorOf(claimed: ClaimedHandoff): Executor
  /** The checks in the order of I6; never rejects. Undefined where nobody can judge it now. */
  judge(
    claimed: ClaimedHandoff,
    agent: AgentRegistration,
  ): Promise<Verdict<ClassifiedSafety> | undefined>
  /** How long a claim holds without a word to the database. */
  readonly leaseMs: number
  /** Whether the claim still holds, by Postgres' clock; if so, it holds for a whole lease from now. */
  extend(claimed: ClaimedHandoff): Promise<boolean>
  /** Resolves with the receipt once the record is durable in the audit store. */
  record(entry: AuditEntry): Promise<Receipt>
  /** Brings what people decided about a handoff into the log; rejects while some of it still waits. */
  recordDecisions(handoffId: string): Promise<void>
  /** Stores the receipt; answers dispatch-to-accept in seconds, or undefined where the fencing token is lost. */
  start(started: StartedExecution): Promise<number | undefined>
  readonly settle: Settler
  /** How the handoff came to this process. */
  readonly transport: HandoffTransport
  readonly metrics: Metrics
  readonly logger: Logger
}

/** A handoff whose owners died this often is what kills them: it goes to a person. */
const LEASE_EXPIRIES_MAX = 5

/**
 * Claims what the queue message named, judges it, records the decision, executes and settles once.
 * Resolves when this delivery has nothing left to do here, with whether it was this one that claimed it; Postgres knows what is still due.
 */
export async function receiveHandoff(deps: ReceiveDeps, pointer: Delivery): Promise<boolean> {
  crashPoint('receiver.after_fetch')
  const fetchedAt = Date.now()
  const askedAt = performance.now()
  const claimed = await deps.claim(pointer)
  if (claimed.kind === 'refused') return false
  crashPoint('receiver.after_claim')
  const span = startSpan({
    name: `process ${agentTypeOf(claimed)}`,
    kind: 'consumer',
    parent: claimed.traceparent,
    tracestate: claimed.tracestate ?? undefined,
    startedAt: fetchedAt,
    attributes: {
      ...attributesOf('process', claimed),
      'baton.handoff.attempt': claimed.attempt,
      'baton.queue.seconds': claimed.queueSeconds,
    },
  })
  deps.metrics.hopSeconds.queue.observe(claimed.queueSeconds, span.exemplar)
  startStep(span, {
    name: `receive ${agentTypeOf(claimed)}`,
    kind: 'client',
    startedAt: fetchedAt,
    attributes: { ...attributesOf('receive', claimed), 'baton.hop': 'queue' },
  }).end()
  try {
    await processClaimed(deps, claimed, { span, askedAt })
    span.end()
  } catch (error) {
    span.end({ error: codeOf(error) })
    deps.logger.error({ event: 'handoff.interrupted', ...idsOf(claimed, span), error })
  }
  return true
}

async function processClaimed(
  deps: ReceiveDeps,
  claimed: ClaimedHandoff,
  { span, askedAt }: { readonly span: Span; readonly askedAt: number },
): Promise<void> {
  if (claimed.leaseExpiries >= LEASE_EXPIRIES_MAX) {
    const poison = { reason: 'POISON', details: [] } as const
    return settleIn(span, claimed, () => deps.settle.quarantined(claimed, poison))
  }
  const executor = deps.executorOf(claimed)
  const verdict = await judgeTimed(deps, claimed, { agent: executor.agent, span })
  if (verdict === undefined) return deps.settle.released(claimed)
  crashPoint('receiver.after_validate')
  const unmet = verdict.valid ? unmetRequirements(verdict.message, executor.agent) : []
  const entry =
    unmet.length > 0
      ? blockedEntry(claimed, verdict)
      : decisionEntry(claimed, verdict, executor.agent.jurisdiction)
  if (performance.now() - askedAt >= deps.leaseMs / 2 && !(await stillHolds(deps, claimed))) return
  const receipt = await recordDecision(deps, claimed, { entry, span })
  if (receipt === undefined) return
  crashPoint('receiver.after_audit')
  if (!verdict.valid) {
    deps.logger.info({ event: 'handoff.rejected', reason: verdict.reason, ...idsOf(claimed, span) })
    return settleIn(span, claimed, () => deps.settle.rejected(claimed, verdict))
  }
  if (unmet.length > 0) {
    deps.logger.info({ event: 'handoff.blocked', ...idsOf(claimed, span) })
    const { message } = verdict
    return settleIn(span, claimed, () => deps.settle.blocked({ claimed, message, unmet }))
  }
  warn(deps.logger, verdict.warnings, idsOf(claimed, span))
  const deadline = deadlineOf(verdict.message)
  if (!(await startExecution(deps, { claimed, deadline, receipt, span }))) return
  crashPoint('receiver.after_start')
  deps.logger.debug({ event: 'handoff.accepted', ...idsOf(claimed, span) })
  const execution = await executor.execute({ claimed, message: verdict.message, span })
  if (execution.kind === 'elsewhere') return
  crashPoint('receiver.before_effect_commit')
  const { message } = verdict
  await settleIn(span, claimed, () => deps.settle.executed(claimed, message, execution))
  crashPoint('receiver.after_effect_commit')
}

function warn(logger: Logger, warnings: readonly Detail[], ids: object): void {
  const pointersOf = (some: readonly Detail[]) => some.map(({ pointer }) => pointer)
  const lost = warnings.filter(({ rule }) => rule === FACT_LOST)
  const old = warnings.filter(({ rule }) => rule !== FACT_LOST)
  if (lost.length > 0)
    logger.warn({
      event: 'handoff.facts_lost',
      code: FACT_LOST,
      pointers: pointersOf(lost),
      ...ids,
    })
  if (old.length > 0)
    logger.warn({ event: 'handoff.deprecated', pointers: pointersOf(old), ...ids })
}

const agentTypeOf = ({ routedTo, toAgent }: ClaimedHandoff): string => routedTo ?? toAgent

const attributesOf = (operation: 'receive' | 'process' | 'settle', claimed: ClaimedHandoff) =>
  messagingAttributes({
    operation,
    destination: agentTypeOf(claimed),
    sentTo: claimed.toAgent,
    handoffId: claimed.handoffId,
    taskId: claimed.taskId,
  })

/** Settles in a step of its own; the state it came to stands on the handoff's span too, where traces are chosen by it. */
async function settleIn(
  span: Span,
  claimed: ClaimedHandoff,
  settle: () => Promise<SettledAs>,
): Promise<void> {
  const step = startStep(span, {
    name: `settle ${agentTypeOf(claimed)}`,
    kind: 'client',
    attributes: { ...attributesOf('settle', claimed), 'baton.hop': 'settle' },
  })
  try {
    const state = await settle()
    const attributes = state === undefined ? {} : { 'baton.handoff.state': state }
    step.setAttributes(attributes)
    span.setAttributes(attributes)
    step.end()
  } catch (error) {
    step.end({ error: codeOf(error) })
    throw error
  }
}

const idsOf = (claimed: ClaimedHandoff, span: Span) => ({
  handoffId: claimed.handoffId,
  taskId: claimed.taskId,
  traceId: span.traceId,
  spanId: span.spanId,
  attempt: claimed.attempt,
  fencingToken: claimed.fencingToken,
})

async function judgeTimed(
  deps: ReceiveDeps,
  claimed: ClaimedHandoff,
  { agent, span }: { readonly agent: AgentRegistration; readonly span: Span },
): Promise<Verdict<ClassifiedSafety> | undefined> {
  const startedAt = performance.now()
  const step = startStep(span, { name: 'validate', attributes: { 'baton.hop': 'validate' } })
  const verdict = await deps.judge(claimed, agent)
  deps.metrics.hopSeconds.validate.observe((performance.now() - startedAt) / 1000, span.exemplar)
  if (verdict?.valid === false) span.setAttributes({ 'baton.handoff.reason': verdict.reason })
  step.end()
  if (verdict === undefined) return undefined
  const { scan } = verdict.checks
  if (scan !== null) {
    const category = scan.findings[0]?.category ?? ''
    deps.metrics.safetyVerdictsTotal.with({ decision: scan.decision, category }).inc()
    if (scan.incomplete) deps.metrics.scanIncompleteTotal.inc()
  }
  if (!verdict.valid)
    deps.metrics.handoffValidationFailuresTotal.with({ reason: verdict.reason }).inc()
  return verdict
}

// The audit store will never take this record; trying for ever would help nobody and alert nobody.
const UNRECORDABLE: ReadonlySet<string> = new Set([
  'BATON_AUDIT_ENTRY_INVALID',
  'BATON_BODY_TOO_LARGE',
  'BATON_IDEMPOTENCY_CONFLICT',
])

const unrecordable = (code: string): Quarantine => ({
  reason: 'UNRECORDABLE',
  details: [
    {
      pointer: '',
      rule: code,
      message: 'the audit store refused the decision record of this handoff for good',
      fix: 'See the auditor’s log for the place; mend the sender, or release it after a change.',
    },
  ],
})

// A decision that took so long that somebody else may own the handoff by now must not stand in the log after theirs.
async function stillHolds(deps: ReceiveDeps, claimed: ClaimedHandoff): Promise<boolean> {
  if (await deps.extend(claimed)) return true
  const { handoffId, fencingToken } = claimed
  const why = 'it passed while the handoff was judged'
  deps.logger.warn({ event: 'lease.lost', why, handoffId, fencingToken })
  deps.metrics.fencedCommitsTotal.inc()
  return false
}

// Without a receipt nothing executes (E12): the claim goes back, no attempt is counted.
async function recordDecision(
  deps: ReceiveDeps,
  claimed: ClaimedHandoff,
  { entry, span }: { readonly entry: AuditEntry; readonly span: Span },
): Promise<Receipt | undefined> {
  const startedAt = performance.now()
  const step = startStep(span, {
    name: 'audit',
    kind: 'client',
    attributes: { 'baton.hop': 'audit' },
  })
  try {
    if (claimed.decided) await deps.recordDecisions(claimed.handoffId)
    const receipt = await deps.record(entry)
    step.end()
    deps.metrics.hopSeconds.audit.observe((performance.now() - startedAt) / 1000, span.exemplar)
    return receipt
  } catch (error) {
    const code = codeOf(error)
    step.end({ error: code })
    deps.logger.warn({ event: 'audit.refused', code, handoffId: claimed.handoffId })
    if (UNRECORDABLE.has(code))
      await settleIn(span, claimed, () => deps.settle.quarantined(claimed, unrecordable(code)))
    else await deps.settle.released(claimed)
    return undefined
  }
}

interface Start {
  readonly claimed: ClaimedHandoff
  readonly deadline: string | null
  readonly receipt: Receipt
  readonly span: Span
}

async function startExecution(
  deps: ReceiveDeps,
  { claimed, deadline, receipt, span }: Start,
): Promise<boolean> {
  const latencySeconds = await deps.start({
    handoffId: claimed.handoffId,
    fencingToken: claimed.fencingToken,
    auditOrigin: receipt.origin,
    auditSeq: receipt.seq,
    auditHash: receipt.recordHash,
    deadline,
  })
  if (latencySeconds === undefined) {
    deps.metrics.fencedCommitsTotal.inc()
    return false
  }
  const { fromAgent: from_agent, toAgent: to_agent } = claimed
  const pair = { transport: deps.transport, from_agent, to_agent }
  deps.metrics.handoffLatencySeconds.with(pair).observe(latencySeconds, span.exemplar)
  deps.metrics.handoffsTotal.with({ outcome: 'ACCEPTED', reason: '' }).inc()
  deps.metrics.messageBytesTotal.inc(claimed.body.byteLength)
  return true
}
