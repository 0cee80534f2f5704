// What a worker's TASK_RESULT comes to: the outcome of the execution that it was dispatched.
import type { RemoteOutcome } from '@baton/engine'
import { compareTokens } from '@baton/protocol/dialects/session'
import type { TaskResult } from '@baton/protocol/dialects/session'

export interface Counted {
  /** Tokens of what was said to the worker, and of what it said. */
  readonly computed: number
  readonly budget: number | null
  readonly tolerance: number
}

export interface Settlement {
  readonly outcome: RemoteOutcome
  /** Its report of what it spent cannot be right, or is above what it was allowed. */
  readonly isFlagged: boolean
}

const EXPECTED_MAX = 256

export function settlementOf(result: TaskResult, counted: Counted): Settlement {
  const { tokens_spent: reported } = result
  const flags = compareTokens({ reported, ...counted }, counted.tolerance)
  const isFlagged = flags.mismatch || flags.overBudget
  return {
    outcome: outcomeOf(result, { reported, computed: counted.computed, ...flags }),
    isFlagged,
  }
}

function outcomeOf(result: TaskResult, tokens: object): RemoteOutcome {
  switch (result.status) {
    case 'blocked':
      return { kind: 'blocked', unmet: [unmetDetail(result.blocked_reason ?? '')] }
    case 'error':
      return { kind: 'failed', code: 'BATON_SESSION_ERROR', retry: false }
    case 'done':
    case 'partial': {
      const said = JSON.parse(JSON.stringify({ ...result, tokens })) as TaskResult & object
      const completion = Math.min(result.tokens_spent, Number.MAX_SAFE_INTEGER)
      const done = { result: { ...said }, tokens: { prompt: 0, completion } }
      const remaining = result.remaining.map((description, index) => ({
        subtaskId: `${result.task_id}-rest-${index + 1}`,
        description,
      }))
      return { kind: 'done', result: result.status === 'partial' ? { ...done, remaining } : done }
    }
  }
}

const unmetDetail = (reason: string) => ({
  pointer: '',
  rule: 'sessionBlocked',
  message: 'the session worker could not start',
  fix: 'See what it says is missing, or hand off to an agent that has it.',
  expected: reason.slice(0, EXPECTED_MAX).toWellFormed(),
})
