// Commits what a delivery came to: once, fenced by the epoch, in sets shared with other deliveries.
import type { HandoffMessage } from '@baton/protocol'
import type { AuditIntent, ClaimedHandoff, Ending, Fence, Retry } from '@baton/store'
import { codeOf, crashPoint, createBatcher, fullJitterMs, kindOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { CompletedStep } from './decide/completed-step.ts'
import type { Execution } from './execute-handoff.ts'
import { settleBlocked } from './settle-blocked.ts'
import type { Blocked, BlockedDeps } from './settle-blocked.ts'
import {
  settleExecuted,
  settleFailed,
  settleQuarantined,
  settleRejected,
} from './decide/outcome.ts'
import type { Quarantine, Refusal, Settled, Settlement } from './decide/outcome.ts'

/** Whether the epoch was still held; or, where the set was committed singly, why this one failed. */
export type Committed = boolean | Error

export interface SettleDeps extends BlockedDeps {
  /** Commits each step's result, cost, task state and next handoffs (I5). */
  complete(steps: readonly CompletedStep[]): Promise<readonly Committed[]>
  retry(set: readonly Settled<Retry>[]): Promise<readonly Committed[]>
  end(set: readonly Settled<Ending>[]): Promise<readonly Committed[]>
  release(fences: readonly Fence[], delayMs: number): Promise<void>
  /** Ends canceled handoffs that execute no more. */
  endCanceled(): Promise<void>
  /** Called after the commit with the events that may now be shipped. */
  committed(intents: readonly AuditIntent[]): void
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface Settler {
  executed(claimed: ClaimedHandoff, message: HandoffMessage, execution: Execution): Promise<void>
  rejected(claimed: ClaimedHandoff, verdict: Refusal): Promise<void>
  /** It passed every check, but its receiver lacks what it requires. */
  blocked(blocked: Blocked): Promise<void>
  /** No further attempt can mend it: a person must look. */
  quarantined(claimed: ClaimedHandoff, why: Quarantine): Promise<void>
  /** Nothing was decided: somebody may claim it again in a while, no attempt is counted. */
  released(claimed: Fence): Promise<void>
  drain(): Promise<void>
}

const SET_MAX = 64
const LINGER_MS = 20
const QUEUED_MAX = 10_000
/** About as long as a lease holds: a restart of Postgres costs no execution. */
const COMMIT_TRIES_MAX = 12
const COMMIT_WAIT = { baseMs: 100, capMs: 1_000 }
/** How long a claim rests that was given back for want of a receipt; meanwhile consumers pause. */
const RELEASED_MIN_MS = 500
const RELEASED_WAIT = { baseMs: 1_000, capMs: 1_000 }

export function createSettler(deps: SettleDeps): Settler {
  const limits = { maxItems: SET_MAX, maxQueued: QUEUED_MAX, lingerMs: LINGER_MS }
  const completions = createBatcher({ name: 'complete', ...limits, flush: deps.complete })
  const retries = createBatcher({ name: 'retry', ...limits, flush: deps.retry })
  const endings = createBatcher({ name: 'end', ...limits, flush: deps.end })
  const releaseAfter = (delayMs: () => number) =>
    createBatcher<Fence, void>({
      name: 'release',
      ...limits,
      flush: async (fences) => {
        await deps.release(fences, delayMs())
        return fences.map(() => undefined)
      },
    })
  const releases = releaseAfter(() => RELEASED_MIN_MS + fullJitterMs(0, RELEASED_WAIT))
  const abandonments = releaseAfter(() => 0)

  function add(settlement: Settlement): Promise<Committed> {
    if (settlement.kind === 'complete') return completions.add(settlement.step)
    if (settlement.kind === 'retry') return retries.add(settlement.settled)
    return endings.add(settlement.settled)
  }

  /** Commits with a few tries while the lease still holds; a lost epoch changes nothing. */
  async function commit(claimed: ClaimedHandoff, settlement: Settlement): Promise<void> {
    const startedAt = performance.now()
    if (settlement.kind === 'end') crashPoint('rollback.before_commit')
    const held = await withTries(() => add(settlement))
    if (settlement.kind === 'end') crashPoint('rollback.after_commit')
    deps.metrics.hopSeconds.settle.observe((performance.now() - startedAt) / 1000)
    if (!held) return fenced(claimed, settlement)
    const intents = intentsOf(settlement)
    if (intents.length > 0) deps.committed(intents)
    report(deps, claimed, settlement)
  }

  // What is being canceled is neither tried again nor rolled back: its claim goes back, and it ends CANCELED.
  async function fenced(claimed: ClaimedHandoff, settlement: Settlement): Promise<void> {
    deps.metrics.fencedCommitsTotal.inc()
    if (settlement.kind !== 'complete') await abandonments.add(claimed)
  }

  return {
    async executed(claimed, message, execution) {
      if (execution.kind === 'abandoned') return abandonments.add(claimed)
      if (execution.kind === 'canceled') {
        await abandonments.add(claimed)
        return deps.endCanceled()
      }
      const settlement = settleExecuted(claimed, { message, execution }, deps)
      try {
        await commit(claimed, settlement)
      } catch (error) {
        if (kindOf(error) !== 'permanent') throw error
        // What the agent asked for cannot be stored, now or later.
        await commit(claimed, settleFailed(claimed, { code: codeOf(error), retry: false }, deps))
      }
    },
    rejected: (claimed, verdict) => commit(claimed, settleRejected(claimed, verdict, deps)),
    async blocked(blocked) {
      const outcome = await settleBlocked(blocked, deps)
      if (outcome.kind === 'settle') return commit(blocked.claimed, outcome.settlement)
      deps.metrics.handoffsTotal.with({ outcome: 'BLOCKED', reason: 'REROUTED' }).inc()
      deps.committed([outcome.intent])
    },
    quarantined: (claimed, why) => commit(claimed, settleQuarantined(claimed, why)),
    released: (fence) => releases.add(fence),
    async drain() {
      const batchers = [completions, retries, endings, releases, abandonments]
      await Promise.all(batchers.map((batcher) => batcher.drain()))
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
      const waitMs = fullJitterMs(tried, COMMIT_WAIT)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

const intentsOf = (settlement: Settlement): readonly AuditIntent[] =>
  settlement.kind === 'complete' ? settlement.step.intents : settlement.settled.intents

function report({ metrics, logger }: SettleDeps, claimed: ClaimedHandoff, settlement: Settlement) {
  if (settlement.kind === 'complete') {
    return metrics.handoffsTotal.with({ outcome: 'COMPLETED', reason: '' }).inc()
  }
  const { change } = settlement.settled
  const outcome = 'state' in change ? change.state : 'QUEUED'
  metrics.handoffsTotal.with({ outcome, reason: change.reason }).inc()
  if (!('state' in change)) return
  if (change.state === 'ROLLED_BACK') metrics.rollbacksTotal.inc()
  if (change.escalate) metrics.escalationsTotal.inc()
  if (!change.alert) return
  logger.warn({
    event: 'alert',
    state: change.state,
    reason: change.reason,
    handoffId: claimed.handoffId,
    taskId: claimed.taskId,
    escalated: change.escalate,
  })
}
