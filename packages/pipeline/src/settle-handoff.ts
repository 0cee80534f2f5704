// How a delivery ends: completed, tried again, rolled back, rejected or dead-lettered; once, fenced by epoch.
import type { HandoffMessage, Verdict } from '@baton/protocol'
import { ROUTES, microUSD } from '@baton/protocol'
import type {
  AuditIntent,
  ClaimedHandoff,
  Completion,
  Ending,
  Fence,
  NewHandoff,
  Retry,
} from '@baton/protocol/delivery'
import {
  type Logger,
  codeOf,
  crashPoint,
  createBatcher,
  fullJitterMs,
  kindOf,
} from '@baton/runtime'
import type { SafetyVerdict } from '@baton/safety'
import type { Metrics } from '@baton/telemetry'
import { lifecycleEntry, toIntent } from './audit-entries.ts'
import type { Execution } from './execute-handoff.ts'
import { nextHandoffs } from './next-handoffs.ts'
import type { PrepareOptions } from './prepare-handoff.ts'

export interface CompletedStep {
  readonly completion: Completion
  readonly intents: readonly AuditIntent[]
  readonly next: readonly NewHandoff[]
}

export interface Settled<Change> {
  readonly change: Change
  readonly intents: readonly AuditIntent[]
}

/** Whether the epoch was still held; or, where the set was committed singly, why this one failed. */
export type Committed = boolean | Error

export interface SettleDeps extends PrepareOptions {
  /** Commits each step's result, cost, task state and next handoffs (I5); answers who held the epoch. */
  complete(steps: readonly CompletedStep[]): Promise<readonly Committed[]>
  retry(set: readonly Settled<Retry>[]): Promise<readonly Committed[]>
  end(set: readonly Settled<Ending>[]): Promise<readonly Committed[]>
  release(fences: readonly Fence[], delayMs: number): Promise<void>
  /** Called after the commit with the events that may now be shipped. */
  committed(intents: readonly AuditIntent[]): void
  readonly backoff: { readonly baseMs: number; readonly capMs: number }
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface Settler {
  executed(claimed: ClaimedHandoff, message: HandoffMessage, execution: Execution): Promise<void>
  rejected(
    claimed: ClaimedHandoff,
    verdict: Verdict<SafetyVerdict> & { valid: false },
  ): Promise<void>
  /** Its owners kept dying: a person must look (POISON). */
  poisoned(claimed: ClaimedHandoff): Promise<void>
  /** Nothing was decided: somebody else may claim it in a while, no attempt is counted. */
  released(claimed: Fence): Promise<void>
  drain(): Promise<void>
}

const SET_MAX = 64
const LINGER_MS = 10
const QUEUED_MAX = 10_000
/** "Fails 3+ times" of E15. */
const ESCALATE_FROM_ATTEMPT = 3
const COMMIT_TRIES_MAX = 4
const AUDIT_PAUSE = { baseMs: 1_000, capMs: 30_000 }

export function createSettler(deps: SettleDeps): Settler {
  const limits = { maxItems: SET_MAX, maxQueued: QUEUED_MAX, lingerMs: LINGER_MS }
  const completions = createBatcher({ name: 'complete', ...limits, flush: deps.complete })
  const retries = createBatcher({ name: 'retry', ...limits, flush: deps.retry })
  const endings = createBatcher({ name: 'end', ...limits, flush: deps.end })
  const releases = createBatcher<Fence, void>({
    name: 'release',
    ...limits,
    flush: async (fences) => {
      await deps.release(fences, 1_000 + fullJitterMs(4, AUDIT_PAUSE))
      return fences.map(() => undefined)
    },
  })

  /** Commits with a few tries while the lease still holds; a lost epoch changes nothing. */
  async function commit(
    settlement: { outcome: string; reason: string; intents: readonly AuditIntent[] },
    attempt: () => Promise<Committed>,
  ): Promise<boolean> {
    const startedAt = performance.now()
    const held = await withTries(attempt)
    deps.metrics.hopSeconds.settle.observe((performance.now() - startedAt) / 1000)
    if (!held) {
      deps.metrics.fencedCommitsTotal.inc()
      return false
    }
    deps.metrics.handoffsTotal
      .with({ outcome: settlement.outcome, reason: settlement.reason })
      .inc()
    if (settlement.intents.length > 0) deps.committed(settlement.intents)
    return true
  }

  async function completed(claimed: ClaimedHandoff, step: CompletedStep): Promise<void> {
    try {
      const { intents } = step
      await commit({ outcome: 'COMPLETED', reason: '', intents }, () => completions.add(step))
    } catch (error) {
      if (kindOf(error) !== 'permanent') throw error
      await failed(claimed, { code: codeOf(error), retry: false })
    }
  }

  async function again(claimed: ClaimedHandoff, change: Retry): Promise<void> {
    const intents = change.returned
      ? []
      : [toIntent(lifecycleEntry(claimed, 'EXECUTION_FAILED', change.reason))]
    const settlement = { outcome: 'QUEUED', reason: change.reason, intents }
    await commit(settlement, () => retries.add({ change, intents }))
  }

  async function ended(claimed: ClaimedHandoff, change: Ending): Promise<void> {
    const intents = eventsOf(claimed, change).map(toIntent)
    const settlement = { outcome: change.state, reason: change.reason, intents }
    crashPoint('rollback.before_commit')
    const held = await commit(settlement, () => endings.add({ change, intents }))
    crashPoint('rollback.after_commit')
    if (!held) return
    if (change.state === 'ROLLED_BACK') deps.metrics.rollbacksTotal.inc()
    if (change.escalate) deps.metrics.escalationsTotal.inc()
    if (change.alert)
      deps.logger.warn({ event: 'alert', state: change.state, ...alertOf(claimed, change) })
  }

  const retryOf = (
    claimed: ClaimedHandoff,
    parts: Pick<Retry, 'reason' | 'details' | 'returned'>,
  ): Retry => ({
    handoffId: claimed.handoffId,
    epoch: claimed.epoch,
    delayMs: fullJitterMs(claimed.attempt - 1, deps.backoff),
    ...parts,
  })

  async function failed(
    claimed: ClaimedHandoff,
    failure: { code: string; retry: boolean },
  ): Promise<void> {
    const details = JSON.stringify([
      { pointer: '', rule: 'execution', message: failure.code, fix: 'See the agent’s own log.' },
    ])
    const again_ = failure.retry && claimed.attempt < claimed.attemptsMax
    return again_
      ? again(claimed, retryOf(claimed, { reason: failure.code, details, returned: false }))
      : ended(claimed, rollBack(claimed, failure.code, details))
  }

  return {
    async executed(claimed, message, execution) {
      if (execution.kind === 'failed') return failed(claimed, execution)
      let step: CompletedStep
      try {
        step = completedStep({ claimed, message, execution }, deps)
      } catch (error) {
        return failed(claimed, { code: codeOf(error), retry: false })
      }
      return completed(claimed, step)
    },
    async rejected(claimed, verdict) {
      const route = ROUTES[verdict.reason]
      const details = JSON.stringify(detailsOf(verdict))
      if (route.retry && claimed.attempt < claimed.attemptsMax) {
        return again(claimed, retryOf(claimed, { reason: verdict.reason, details, returned: true }))
      }
      if (route.rollBack) return ended(claimed, rollBack(claimed, verdict.reason, details))
      const state = route.deadLetter ? 'DEAD_LETTERED' : 'REJECTED'
      return ended(claimed, {
        ...ending(claimed, verdict.reason, details),
        state,
        taskStatus: route.taskStatus,
        alert: route.alert,
      })
    },
    poisoned: (claimed) =>
      ended(claimed, {
        ...ending(claimed, 'POISON', '[]'),
        state: 'DEAD_LETTERED',
        taskStatus: 'AWAITING_HUMAN',
        alert: true,
      }),
    released: (fence) => releases.add(fence),
    async drain() {
      await Promise.all([completions, retries, endings, releases].map((batcher) => batcher.drain()))
    },
  }
}

async function withTries(attempt: () => Promise<Committed>): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      const committed = await attempt()
      if (committed instanceof Error) throw committed
      return committed
    } catch (error) {
      if (kindOf(error) !== 'transient' || tried >= COMMIT_TRIES_MAX) throw error
      await new Promise((resolve) =>
        setTimeout(resolve, fullJitterMs(tried, { baseMs: 100, capMs: 1_000 })),
      )
    }
  }
}

type DoneStep = Parameters<typeof nextHandoffs>[0]

function completedStep(step: DoneStep, options: PrepareOptions): CompletedStep {
  const { claimed, execution } = step
  const { result } = execution
  const next = nextHandoffs(step, options)
  const cost = {
    spentMicroUSD: microUSD(step.message.costTracking.costSpentSoFarUSD) + microUSD(result.costUSD),
    remainingMicroUSD:
      microUSD(step.message.costTracking.costBudgetRemainingUSD) - microUSD(result.costUSD),
    promptTokens: result.tokens.prompt,
    completionTokens: result.tokens.completion,
  }
  const entry = { ...lifecycleEntry(claimed, 'EXECUTION_COMPLETED'), cost }
  return {
    completion: {
      handoffId: claimed.handoffId,
      epoch: claimed.epoch,
      costMicroUSD: microUSD(result.costUSD),
      result: JSON.stringify(result.subtask.result ?? null),
      taskResult:
        next.length === 0 ? JSON.stringify(result.result ?? result.subtask.result ?? null) : null,
    },
    intents: [toIntent(entry)],
    next,
  }
}

const ending = (claimed: ClaimedHandoff, reason: string, details: string) => ({
  handoffId: claimed.handoffId,
  epoch: claimed.epoch,
  reason,
  details,
  costMicroUSD: 0,
  escalate: false,
})

const rollBack = (claimed: ClaimedHandoff, reason: string, details: string): Ending => ({
  ...ending(claimed, reason, details),
  state: 'ROLLED_BACK',
  taskStatus: 'PENDING_HANDOFF',
  alert: true,
  escalate: claimed.attempt >= ESCALATE_FROM_ATTEMPT,
})

function eventsOf(claimed: ClaimedHandoff, change: Ending) {
  const entry = (event: Parameters<typeof lifecycleEntry>[1]) =>
    lifecycleEntry(claimed, event, change.reason)
  const escalated = change.escalate ? [entry('HUMAN_ESCALATED')] : []
  if (change.state === 'ROLLED_BACK') return [entry('ROLLED_BACK'), ...escalated]
  return change.state === 'DEAD_LETTERED' ? [entry('DEAD_LETTERED')] : []
}

// For a safety violation the details name where and by which rule; the text itself stays in quarantine.
function detailsOf(verdict: Verdict<SafetyVerdict> & { valid: false }) {
  const findings = verdict.checks.scan?.findings ?? []
  if (verdict.reason !== 'SAFETY_VIOLATION') return verdict.details
  return findings.slice(0, 20).map((finding) => ({
    pointer: finding.jsonPointer,
    rule: finding.ruleId,
    category: finding.category,
    view: finding.view,
    span: finding.span,
    message: `text that reads as ${finding.category}`,
    fix: 'A reviewer releases or discards this dead letter; it is not retried.',
  }))
}

const alertOf = (claimed: ClaimedHandoff, change: Ending) => ({
  reason: change.reason,
  handoffId: claimed.handoffId,
  taskId: claimed.taskId,
  escalated: change.escalate,
})
