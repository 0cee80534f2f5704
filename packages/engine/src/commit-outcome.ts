// Commits what a delivery came to: once, fenced, in sets shared with other deliveries (I4, I5).
import { microUSD } from '@baton/protocol'
import type { HandoffMessage } from '@baton/protocol'
import { codeOf, crashPoint, createBatcher, fullJitterMs, kindOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import {
  completeExecutions,
  endHandoffs,
  inTransaction,
  openFanOuts,
  releaseLeases,
  releaseLeasesLater,
  retryHandoffs,
  sendHandoffs,
} from '@baton/store'
import type {
  ClaimedHandoff,
  Database,
  Ending,
  Fence,
  OutboxEvent,
  Pool,
  Retry,
} from '@baton/store'
import { exemplarOf } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { endCanceled } from './cancel.ts'
import { withReceivers } from './choose-receiver.ts'
import { receiversOf } from './decide/next-handoffs.ts'
import {
  decideBlocked,
  decideDeclined,
  decideExecuted,
  decideFailed,
  decideQuarantined,
  decideRejected,
} from './decide/outcome.ts'
import type {
  Backoff,
  CompletedStep,
  Ended,
  Outcome,
  Quarantine,
  Refusal,
  ToldChange,
} from './decide/outcome.ts'
import type { Execution } from './execute-handoff.ts'
import { finishedStream, requireWhole } from './finish-stream.ts'
import { inSetOrSingly } from './in-set-or-singly.ts'
import type { KnownReceivers } from './known-receivers.ts'
import type { PrepareOptions } from './prepare-handoff.ts'
import type { EventShipper } from './record-audit.ts'
import { rerouteBlocked } from './reroute.ts'
import type { Blocked } from './reroute.ts'
import { refusedSend } from './commit-outgoing.ts'
import type { BlockedPolicy } from './settings.ts'
import { wakeRelays, wakeSenders } from './wake.ts'
import { withTries } from './with-tries.ts'

/** The state a handoff was settled in; undefined where the fencing token was lost and nothing was. */
export type SettledAs = 'COMPLETED' | 'PARTIAL' | Ending['state'] | 'QUEUED' | undefined

export interface Settler {
  executed(
    claimed: ClaimedHandoff,
    message: HandoffMessage,
    execution: Execution,
  ): Promise<SettledAs>
  rejected(claimed: ClaimedHandoff, verdict: Refusal): Promise<SettledAs>
  blocked(blocked: Blocked): Promise<SettledAs>
  /** No further attempt can mend it: a person must look. */
  quarantined(claimed: ClaimedHandoff, why: Quarantine): Promise<SettledAs>
  /** Nothing was decided: somebody may claim it again in a while, no attempt is counted. */
  released(claimed: Fence): Promise<void>
  drain(): Promise<void>
}

interface SettlerParts extends PrepareOptions {
  readonly pool: Pool
  /** Whom agents hand on to. */
  readonly receivers: KnownReceivers
  readonly shipper: EventShipper
  readonly backoff: Backoff
  readonly blockedPolicy: BlockedPolicy
  readonly metrics: Metrics
  readonly logger: Logger
  /** Told when a fan-out has become ready to be joined. */
  onFannedIn?(): void
}

const LIMITS = { maxItems: 64, maxQueued: 10_000, batchingDelayMs: 20 }
/** How long a released claim rests for want of a receipt; meanwhile consumers pause. */
const RELEASED_MIN_MS = 500
const RELEASED_WAIT = { baseMs: 1_000, capMs: 1_000 }

export function createSettler(parts: SettlerParts): Settler {
  const { backoff } = parts
  const sets = createSets(parts)
  const { commit, stopped, blocked, ended } = createCommits(parts, sets)
  return {
    async executed(claimed, message, execution) {
      switch (execution.kind) {
        case 'elsewhere':
          return undefined
        case 'abandoned':
        case 'canceled':
          return stopped(claimed, execution.kind)
        case 'declined':
          return commit(claimed, decideDeclined(claimed, execution))
        case 'blocked':
          return blocked({ claimed, message, unmet: execution.unmet })
        default:
          return ended(claimed, message, execution)
      }
    },
    blocked,
    rejected: (claimed, verdict) => commit(claimed, decideRejected(claimed, verdict, { backoff })),
    quarantined: (claimed, why) => commit(claimed, decideQuarantined(claimed, why)),
    released: sets.releaseLater,
    drain: sets.drain,
  }
}

type Sets = ReturnType<typeof createSets>

interface Addressing {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly execution: Ended
}

type Known = Pick<PrepareOptions, 'bounds'>

/** What an agent came to, with who gets what it hands on. */
async function addressed(
  parts: SettlerParts,
  step: Addressing,
): Promise<Pick<Addressing, 'execution'> & Known> {
  const { execution } = step
  if (execution.kind !== 'done') return { execution }
  const done = await withTries(() => withReceivers({ ...step, execution }, parts))
  const bounds = await parts.receivers.boundsOf(receiversOf({ ...step, execution: done }))
  return { execution: done, bounds }
}

/** What each kind of end does to the database. */
function createCommits(parts: SettlerParts, sets: Sets) {
  const { pool, shipper, metrics, backoff, blockedPolicy } = parts
  const options = { ...parts, onCompressed: () => metrics.contextCompressionsTotal.inc() }

  /** Commits with a few tries while the lease still holds; a lost fencing token changes nothing. */
  async function commit(claimed: ClaimedHandoff, outcome: Outcome): Promise<SettledAs> {
    const startedAt = performance.now()
    if (outcome.kind === 'end') crashPoint('rollback.before_commit')
    const held = await withTries(() => committed(sets.commit(outcome)))
    if (outcome.kind === 'end') crashPoint('rollback.after_commit')
    const seconds = (performance.now() - startedAt) / 1000
    metrics.hopSeconds.settle.observe(seconds, exemplarOf(claimed.traceparent))
    if (!held) return fenced(claimed, outcome)
    wakeFor(pool, outcome)
    if (outcome.events.length > 0) void shipper.ship(outcome.events)
    report(parts, claimed, outcome)
    return stateAfter(outcome)
  }

  // What is being canceled is neither tried again nor rolled back: its claim goes back, and it ends CANCELED.
  async function fenced(claimed: ClaimedHandoff, outcome: Outcome): Promise<undefined> {
    metrics.fencedCommitsTotal.inc()
    if (outcome.kind !== 'complete') await sets.release(claimed)
  }

  async function stopped(
    claimed: ClaimedHandoff,
    kind: 'abandoned' | 'canceled',
  ): Promise<undefined> {
    await sets.release(claimed)
    if (kind === 'abandoned') return
    const events = await endCanceled(pool)
    wakeRelays(pool)
    void shipper.ship(events)
  }

  async function blocked(blockedOne: Blocked): Promise<SettledAs> {
    const { claimed, unmet } = blockedOne
    const event = blockedPolicy === 'reroute' ? await rerouteBlocked(pool, blockedOne) : undefined
    if (event === undefined)
      return commit(claimed, decideBlocked(claimed, unmet, { blockedPolicy, backoff }))
    wakeRelays(pool)
    metrics.handoffsTotal.with({ outcome: 'BLOCKED', reason: 'REROUTED' }).inc()
    void shipper.ship([event])
    return 'QUEUED'
  }

  async function ended(
    claimed: ClaimedHandoff,
    message: HandoffMessage,
    came: Ended,
  ): Promise<SettledAs> {
    try {
      const stream = await withTries(() => finishedStream(pool, claimed, came))
      const { execution, bounds } = await addressed(parts, { claimed, message, execution: came })
      const outcome = decideExecuted(
        claimed,
        { message, execution, stream },
        { ...options, bounds },
      )
      const settled = await commit(claimed, outcome)
      if (outcome.kind !== 'complete') return settled
      if (settled === undefined) await requireWhole(pool, claimed, outcome.completion)
      else countSpent(metrics, execution)
      return settled
    } catch (error) {
      if (kindOf(error) !== 'permanent') throw error
      // What the agent asked for cannot be stored, now or later.
      const failure = { code: codeOf(error), retry: false, agent: came.agent }
      return commit(claimed, decideFailed(claimed, failure, { backoff }))
    }
  }

  return { commit, stopped, blocked, ended }
}

/** Deliveries that come to the same kind of outcome at the same time share a statement. */
function createSets({ pool, onFannedIn }: SettlerParts) {
  const completions = createBatcher({
    name: 'complete',
    ...LIMITS,
    flush: (steps: readonly CompletedStep[]) => completeSteps(pool, steps, onFannedIn),
  })
  const retries = createBatcher({
    name: 'retry',
    ...LIMITS,
    flush: (set: readonly ToldChange<Retry>[]) => retrySet(pool, set),
  })
  const endings = createBatcher({
    name: 'end',
    ...LIMITS,
    flush: (set: readonly ToldChange<Ending>[]) => endSet(pool, set),
  })
  const laterReleases = createBatcher<Fence, void>({
    name: 'release',
    ...LIMITS,
    flush: async (fences) => {
      await releaseLeasesLater(pool, fences, RELEASED_MIN_MS + fullJitterMs(0, RELEASED_WAIT))
      return fences.map(() => undefined)
    },
  })
  const releases = createBatcher<Fence, void>({
    name: 'release',
    ...LIMITS,
    flush: async (fences) => {
      await releaseLeases(pool, fences)
      wakeRelays(pool)
      return fences.map(() => undefined)
    },
  })
  const all = [completions, retries, endings, laterReleases, releases]
  return {
    commit(outcome: Outcome): Promise<Committed> {
      if (outcome.kind === 'complete') return completions.add(outcome)
      return outcome.kind === 'retry' ? retries.add(outcome) : endings.add(outcome)
    },
    /** Somebody may claim it again in a while. */
    releaseLater: laterReleases.add,
    /** Somebody may claim it at once. */
    release: releases.add,
    drain: async () => void (await Promise.all(all.map((batcher) => batcher.drain()))),
  }
}

/** Whether the fencing token was still held; or, where the set was committed singly, why this one failed. */
export type Committed = boolean | Error

/** Commits results together with the handoffs they send next (I5); answers who held the fencing token. */
export function completeSteps(
  pool: Pool,
  steps: readonly CompletedStep[],
  onFannedIn?: () => void,
): Promise<readonly Committed[]> {
  return ofLatestFencingTokens(
    steps,
    ({ completion }) => completion,
    async (set) => {
      // One statement is a transaction of its own; only what sends on needs a longer one.
      const sendsOn = set.some(({ next }) => next.length > 0)
      const { held, fannedIn } = sendsOn
        ? await inTransaction(pool, (transaction) => completeIn(transaction, set))
        : await completeIn(pool, set)
      if (fannedIn) onFannedIn?.()
      return held
    },
  )
}

async function completeIn(
  transaction: Database,
  steps: readonly CompletedStep[],
): Promise<{ readonly held: readonly boolean[]; readonly fannedIn: boolean }> {
  const done = await completeExecutions(
    transaction,
    steps.map(({ completion }) => completion),
    steps.flatMap(({ events }) => events),
  )
  const answers = steps.map(({ completion }) => done.get(completion.handoffId))
  // A canceled step keeps its result and hands nothing on.
  const passing = steps.filter((_, index) => answers[index]?.canceled === false)
  const next = passing.flatMap((step) => step.next)
  const fanOuts = passing.flatMap(({ fanOut }) => (fanOut === null ? [] : [fanOut]))
  if (fanOuts.length > 0) await openFanOuts(transaction, fanOuts)
  const outcomes = next.length === 0 ? [] : await sendHandoffs(transaction, next)
  for (const [index, outcome] of outcomes.entries()) {
    const handoff = next[index]
    if (outcome.kind !== 'sent' && handoff !== undefined) throw refusedSend(handoff, outcome)
  }
  return {
    held: answers.map((answer) => answer !== undefined),
    fannedIn: answers.some((answer) => answer?.fannedIn === true),
  }
}

/** Returns handoffs to their senders, or has them tried again. */
export const retrySet = (pool: Pool, set: readonly ToldChange<Retry>[]) =>
  changeSet(set, (changes, events) => retryHandoffs(pool, changes, events))

/** Ends handoffs without an effect. */
export const endSet = (pool: Pool, set: readonly ToldChange<Ending>[]) =>
  changeSet(set, (changes, events) => endHandoffs(pool, changes, events))

/** `statement` changes what still holds its fencing token and answers the handoffs that did. */
function changeSet<Change extends Fence>(
  all: readonly ToldChange<Change>[],
  statement: (
    changes: readonly Change[],
    events: readonly OutboxEvent[],
  ) => Promise<ReadonlySet<string>>,
): Promise<readonly Committed[]> {
  return ofLatestFencingTokens(
    all,
    ({ change }) => change,
    async (set) => {
      const held = await statement(
        set.map(({ change }) => change),
        set.flatMap(({ events }) => events),
      )
      return set.map(({ change }) => held.has(change.handoffId))
    },
  )
}

/**
 * Commits for each handoff what its latest fencing token came to, in one set where that goes, and answers false
 * for the earlier ones: a later claim stands, so theirs cannot. The statements tell handoffs apart, not
 * fencing tokens, so that without it an earlier step of the same set would pass as committed (I4).
 */
async function ofLatestFencingTokens<Item>(
  items: readonly Item[],
  fenceOf: (item: Item) => Fence,
  commit: (set: readonly Item[]) => Promise<readonly Committed[]>,
): Promise<readonly Committed[]> {
  const latest = new Map<string, Item>()
  for (const item of items) {
    const { handoffId, fencingToken } = fenceOf(item)
    const known = latest.get(handoffId)
    if (known === undefined || fenceOf(known).fencingToken < fencingToken)
      latest.set(handoffId, item)
  }
  const committing = [...latest.values()]
  const answers = await inSetOrSingly(committing, commit)
  const answerOf = new Map(committing.map((item, index) => [item, answers[index] ?? false]))
  return items.map((item) => answerOf.get(item) ?? false)
}

/** Throws why it was not committed; false where the fencing token is lost. */
async function committed(attempt: Promise<Committed>): Promise<boolean> {
  const answer = await attempt
  if (answer instanceof Error) throw answer
  return answer
}

function wakeFor(pool: Pool, outcome: Outcome): void {
  if (outcome.kind === 'complete' && outcome.next.length > 0) wakeRelays(pool)
  if (outcome.kind === 'end' || (outcome.kind === 'retry' && outcome.change.returned))
    wakeSenders(pool)
}

function stateAfter(outcome: Outcome): SettledAs {
  if (outcome.kind === 'complete') return outcome.completion.state ?? 'COMPLETED'
  return outcome.kind === 'end' ? outcome.change.state : 'QUEUED'
}

function report({ metrics, logger }: SettlerParts, claimed: ClaimedHandoff, outcome: Outcome) {
  if (outcome.kind === 'complete') {
    const { completion, next } = outcome
    metrics.handoffsTotal.with({ outcome: completion.state ?? 'COMPLETED', reason: '' }).inc()
    if (next.length > 0)
      metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc(next.length)
    return
  }
  const { change } = outcome
  const state = 'state' in change ? change.state : 'QUEUED'
  metrics.handoffsTotal.with({ outcome: state, reason: change.reason }).inc()
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

/** What a committed execution cost, by who executed. */
function countSpent(metrics: Metrics, execution: Ended): void {
  if (execution.kind !== 'done') return
  const { result, agent } = execution
  const { prompt, completion } = result.tokens
  metrics.tokensTotal.with({ agent: agent.type, direction: 'input' }).inc(prompt)
  metrics.tokensTotal.with({ agent: agent.type, direction: 'output' }).inc(completion)
  metrics.costMicroUsdTotal.with({ agent: agent.type }).inc(microUSD(result.costUSD))
}
