// What a worker's TASK_RESULT comes to: the outcome of the execution that it was dispatched.
import type { RemoteOutcome } from '@baton/engine'
import type { HandoffMessage } from '@baton/protocol'
import type { NextHandoff } from '@baton/protocol/settlement'
import { compareTokens, WORKER_BLOCKED } from '@baton/protocol/dialects/session'
import type { TaskResult } from '@baton/protocol/dialects/session'

export interface Counted {
  /** Tokens of what was said to the worker, and of what it said. */
  readonly computed: number
  readonly budget: number | null
  readonly tolerance: number
}

/** Who gets the next steps that a worker names, after what was left to do already. */
export interface HandingOn {
  readonly to: string | null
  readonly remaining: HandoffMessage['remainingSubtasks']
}

export interface Settlement {
  readonly outcome: RemoteOutcome
  /** Its report of what it spent cannot be right, or is above what it was allowed. */
  readonly isFlagged: boolean
}

const EXPECTED_MAX = 256
/** As long as the task of a handoff may be. */
const DESCRIPTION_MAX = 8_192

export function settlementOf(
  result: TaskResult,
  counted: Counted,
  handingOn: HandingOn,
): Settlement {
  const { tokens_spent: reported } = result
  const flags = compareTokens({ reported, ...counted }, counted.tolerance)
  const isFlagged = flags.mismatch || flags.overBudget
  return {
    outcome: outcomeOf(result, { reported, computed: counted.computed, ...flags }, handingOn),
    isFlagged,
  }
}

function outcomeOf(result: TaskResult, tokens: object, handingOn: HandingOn): RemoteOutcome {
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
      return {
        kind: 'done',
        result:
          result.status === 'partial'
            ? { ...done, remaining: subtasksOf(result, 'remaining') }
            : { ...done, next: nextOf(result, handingOn) },
      }
    }
  }
}

const ID_OF = { remaining: 'rest', next_steps: 'next' } as const

const subtasksOf = (result: TaskResult, from: keyof typeof ID_OF) =>
  result[from].map((description, index) => ({
    subtaskId: `${result.task_id}-${ID_OF[from]}-${index + 1}`,
    description,
  }))

/** A worker names no agents: its steps go on where its operator says, all in one handoff. */
function nextOf(result: TaskResult, { to, remaining }: HandingOn): readonly NextHandoff[] {
  const said = result.next_steps.filter((step) => step.trim() !== '')
  if (to === null || said.length === 0) return []
  const steps = subtasksOf({ ...result, next_steps: said }, 'next_steps')
  const taskDescription = said.join('\n').slice(0, DESCRIPTION_MAX).toWellFormed()
  return [{ to, taskDescription, remainingSubtasks: [...remaining, ...steps] }]
}

const unmetDetail = (reason: string) => ({
  pointer: '',
  rule: WORKER_BLOCKED,
  message: 'the session worker could not start',
  fix: 'See what it says is missing, or hand off to an agent that has it.',
  expected: reason.slice(0, EXPECTED_MAX).toWellFormed(),
})
