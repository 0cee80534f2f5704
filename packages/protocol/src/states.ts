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

interface TaskHandoff {
  readonly state: string
  /** Null while it is open. */
  readonly endedAt: Date | string | null
}

/** Nothing of it is under way any more. Between the last branch and the join no handoff is open: the task's status says that one comes. */
export function isTaskAtRest(status: string, handoffs: readonly TaskHandoff[]): boolean {
  if (handoffs.some(({ endedAt }) => endedAt === null)) return false
  const joins = status === 'PENDING_HANDOFF' || status === 'RUNNING'
  return !(joins && handoffs.every(({ state }) => state === 'COMPLETED'))
}
