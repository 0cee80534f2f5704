// A2A's words for how a task stands, and the extension by which its callers say what the standard has no words for.

/** What `externalRef` of its handoffs says. */
export const A2A = 'a2a'

/** Declared in the agent cards, and named in `A2A-Extensions` by who uses it. */
export const HANDOFF_EXTENSION = 'urn:baton:a2a:handoff:2'

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const
export type TaskState = (typeof TASK_STATES)[number]

const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
])

const INTERRUPTED: ReadonlySet<TaskState> = new Set<TaskState>([
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
])

/** Nothing of it goes on any more. */
export const isTerminal = (state: TaskState): boolean => TERMINAL.has(state)

/** It goes on once somebody has done something: whoever waits for it is answered. */
export const isInterrupted = (state: TaskState): boolean => INTERRUPTED.has(state)

/** By which an agent says that it cannot go on without more from who asked: it throws a permanent error with this code. */
export const INPUT_REQUIRED = 'BATON_INPUT_REQUIRED'
