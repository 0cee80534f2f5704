// A finished step as one transaction takes it: result, cost, the event that tells of it, what it sends next (I5).
import { microUSD } from '@baton/protocol'
import type { HandoffMessage } from '@baton/protocol'
import type { AuditIntent, ClaimedHandoff, Completion, NewHandoff } from '@baton/store'
import { lifecycleEntry, toIntent } from './audit-entries.ts'
import type { Execution } from '../execute-handoff.ts'

/** A result, its cost and the handoffs it sends next: one transaction (I5). */
export interface CompletedStep {
  readonly completion: Completion
  readonly intents: readonly AuditIntent[]
  readonly next: readonly NewHandoff[]
}

interface DoneStep {
  readonly message: HandoffMessage
  readonly execution: Extract<Execution, { kind: 'done' }>
  readonly next: readonly NewHandoff[]
}

/** The agent's own cost is added to what the message had spent; amounts are integer micro-USD. */
export function completedStep(
  claimed: ClaimedHandoff,
  { message, execution, next }: DoneStep,
): CompletedStep {
  const { result } = execution
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = message.costTracking
  const costMicroUSD = microUSD(result.costUSD)
  const entry = {
    ...lifecycleEntry(claimed, 'EXECUTION_COMPLETED'),
    cost: {
      spentMicroUSD: microUSD(costSpentSoFarUSD) + costMicroUSD,
      remainingMicroUSD: microUSD(costBudgetRemainingUSD) - costMicroUSD,
      promptTokens: result.tokens.prompt,
      completionTokens: result.tokens.completion,
    },
  }
  const answer = result.subtask.result ?? null
  return {
    completion: {
      handoffId: claimed.handoffId,
      epoch: claimed.epoch,
      costMicroUSD,
      result: JSON.stringify(answer),
      taskResult: next.length === 0 ? JSON.stringify(result.result ?? answer) : null,
    },
    intents: [toIntent(entry)],
    next,
  }
}
