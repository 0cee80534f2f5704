// Settlements on Postgres: each set is one transaction, and one bad step never takes the others with it.
import type { Committed } from './settle-handoff.ts'
import type { CompletedStep } from './decide/completed-step.ts'
import type { Settled } from './decide/outcome.ts'
import { refusedSend } from './send-handoff.ts'
import {
  completeExecutions,
  endHandoffs,
  inTransaction,
  retryHandoffs,
  sendHandoffs,
} from '@baton/store'
import type { Database, Ending, Fence, Pool, Retry } from '@baton/store'
import { inSetOrSingly } from './in-set-or-singly.ts'
import { ofLatestEpochs } from './latest-epochs.ts'

/** Commits results together with the handoffs they send next (I5); answers who held the epoch. */
export function completeSteps(
  pool: Pool,
  steps: readonly CompletedStep[],
): Promise<readonly Committed[]> {
  const fenceOf = (step: CompletedStep): Fence => step.completion
  return ofLatestEpochs(steps, fenceOf, (latest) =>
    inSetOrSingly(latest, (set) => {
      // One statement is a transaction of its own; only what sends on needs a longer one.
      const sendsOn = set.some((step) => step.next.length > 0)
      if (!sendsOn) return completeIn(pool, set)
      return inTransaction(pool, (transaction) => completeIn(transaction, set))
    }),
  )
}

async function completeIn(
  transaction: Database,
  steps: readonly CompletedStep[],
): Promise<readonly Committed[]> {
  const done = await completeExecutions(
    transaction,
    steps.map((step) => step.completion),
    steps.flatMap((step) => step.intents),
  )
  const answers = steps.map((step) => done.get(step.completion.handoffId))
  const held = answers.map((answer) => answer !== undefined)
  // A canceled step keeps its result and hands nothing on.
  const next = steps.flatMap((step, index) => (answers[index]?.canceled === false ? step.next : []))
  if (next.length === 0) return held
  const outcomes = await sendHandoffs(transaction, next)
  for (const [index, outcome] of outcomes.entries()) {
    const handoff = next[index]
    if (outcome.kind !== 'sent' && handoff !== undefined) throw refusedSend(handoff, outcome)
  }
  return held
}

export function retrySet(
  pool: Pool,
  set: readonly Settled<Retry>[],
): Promise<readonly Committed[]> {
  return settleSet(set, (changes, intents) => retryHandoffs(pool, changes, intents))
}

export function endSet(pool: Pool, set: readonly Settled<Ending>[]): Promise<readonly Committed[]> {
  return settleSet(set, (changes, intents) => endHandoffs(pool, changes, intents))
}

/** Changes what still holds its epoch; answers the handoffs that did. */
type Statement<Change> = (
  changes: readonly Change[],
  intents: readonly Settled<Change>['intents'][number][],
) => Promise<ReadonlySet<string>>

function settleSet<Change extends Fence>(
  set: readonly Settled<Change>[],
  statement: Statement<Change>,
): Promise<readonly Committed[]> {
  const fenceOf = ({ change }: Settled<Change>): Fence => change
  return ofLatestEpochs(set, fenceOf, (latest) =>
    inSetOrSingly(latest, (some) => fenced(some, statement)),
  )
}

async function fenced<Change extends Fence>(
  set: readonly Settled<Change>[],
  statement: Statement<Change>,
): Promise<readonly Committed[]> {
  const held = await statement(
    set.map((one) => one.change),
    set.flatMap((one) => one.intents),
  )
  return set.map((one) => held.has(one.change.handoffId))
}
