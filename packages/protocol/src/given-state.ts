// What a sender may leave out of an agent's state, and what stands for it: the same again whenever it is sent again.
import { hash } from 'node:crypto'
import type { AgentState } from './agent-state.ts'
import { INITIAL } from './checks/completeness.ts'

type LeftOut = 'taskDescription' | 'completedSubtasks' | 'remainingSubtasks' | 'traceparent'

/**
 * An agent's state as a sender gives it. Where `taskDescription` is left out, nothing is completed and no handoff came before, it is a first
 * handoff, `INITIAL`: what is to be done then stands in `currentState`. Without `traceparent` the task has a trace of its own, the same for every handoff of it.
 */
export type GivenState = Omit<AgentState, LeftOut> & Partial<Pick<AgentState, LeftOut>>

/** Fills in what was left out, before anything is signed. What is ambiguous stays out, so that the schema refuses it. */
export function completeState(given: GivenState): AgentState {
  const {
    completedSubtasks = [],
    remainingSubtasks = [],
    traceparent = traceparentOf(given),
  } = given
  const isFirst = completedSubtasks.length === 0 && (given.parentHandoffId ?? null) === null
  const taskDescription = given.taskDescription ?? (isFirst ? INITIAL : undefined)
  return {
    ...given,
    taskDescription: taskDescription as string,
    completedSubtasks,
    remainingSubtasks,
    traceparent,
  }
}

/** One trace for one task (I9), and one span for one handoff: a repeated send says the same. */
function traceparentOf({ taskId, handoffId }: GivenState): string {
  const traceId = hash('sha256', `trace ${taskId}`).slice(0, 32)
  const spanId = hash('sha256', `span ${taskId} ${handoffId ?? ''}`).slice(0, 16)
  return `00-${traceId}-${spanId}-01`
}
