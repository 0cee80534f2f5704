// The states of tasks and handoffs, once: which there are, and in which nothing happens any more.

/**
 * To accept a handoff is a decision, and its record stands in the log as ACCEPTED. It is no state of its own: the receipt of
 * that record and the start of the execution commit together, so that what is accepted is EXECUTING.
 */
const HANDOFF_OPEN = ['QUEUED', 'AWAITING_APPROVAL', 'DISPATCHED', 'EXECUTING'] as const
/** What fails for good is ROLLED_BACK: its sender has its checkpoint again, whatever failed. */
const HANDOFF_ENDED = [
  'COMPLETED',
  'PARTIAL',
  'REJECTED',
  'BLOCKED',
  'EXPIRED',
  'CANCELED',
  'DEAD_LETTERED',
  'ROLLED_BACK',
] as const

export const HANDOFF_STATES = [...HANDOFF_OPEN, ...HANDOFF_ENDED] as const

const ENDED_HANDOFF: ReadonlySet<string> = new Set(HANDOFF_ENDED)

/** Whether a handoff in this state has ended. */
export const hasHandoffEnded = (state: string): boolean => ENDED_HANDOFF.has(state)

/** The statuses of a task of which nothing is executed any more. */
export const TASK_ENDED = ['COMPLETED', 'FAILED', 'CANCELED'] as const

export const TASK_STATUSES = [
  'PENDING_HANDOFF',
  'RUNNING',
  'AWAITING_HUMAN',
  ...TASK_ENDED,
] as const

const ENDED_TASK: ReadonlySet<string> = new Set(TASK_ENDED)

/** Whether a task of this status has ended. */
export const hasTaskEnded = (status: string): boolean => ENDED_TASK.has(status)
