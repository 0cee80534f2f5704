// Whether anything is left to spend (E08, E20).
import type { Detail } from '../detail.ts'
import type { HandoffMessage } from '../handoff-message.ts'
import { microUSD } from '../money.ts'

/** A remaining budget that rounds to zero micro-USD, or lies below, pays for nothing. */
export function checkBudget({ costTracking }: HandoffMessage): readonly Detail[] {
  if (microUSD(costTracking.costBudgetRemainingUSD) > 0) return []
  return [
    {
      pointer: '/costTracking/costBudgetRemainingUSD',
      rule: 'budget',
      message: 'the budget of the task is exhausted',
      fix: 'Raise the budget of the task and hand off again.',
      expected: '> 0',
    },
  ]
}
