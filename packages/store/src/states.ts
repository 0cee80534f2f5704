// The states that statements and code distinguish, and the conditions on them that several statements share.
import { TASK_ENDED } from '@baton/protocol'

const list = (states: readonly string[]): string =>
  `(${states.map((one) => `'${one}'`).join(', ')})`

/** A task of which nothing is executed any more. */
export const ENDED_TASK = list(TASK_ENDED)

/** A handoff that may be claimed, and one that has not ended. */
export const CLAIMABLE = list(['QUEUED', 'DISPATCHED', 'EXECUTING'])
export const OPEN = list(['QUEUED', 'AWAITING_APPROVAL', 'DISPATCHED', 'EXECUTING'])

/** An execution that somebody holds under a lease. */
export const LEASED = list(['CLAIMED', 'EXECUTING'])

/** Handoff `h` is held by an execution, whether or not its lease still runs. */
export const IS_HELD = `exists (select from execution e where e.handoff_id = h.id and e.status in ${LEASED})`

/**
 * Handoff `h` must wait its turn: an earlier one of its task is still open, on the task’s own way or in the same branch.
 * Branches wait for nothing of each other; the task’s own way goes on when none of them is open.
 */
export const EARLIER_IS_OPEN = `(exists (select from handoff earlier
    where earlier.task_id = h.task_id and earlier.task_seq < h.task_seq and earlier.ended_at is null
      and earlier.branch_id is not distinct from h.branch_id)
  or (h.branch_id is null and exists (select from task fanned where fanned.id = h.task_id and fanned.fan_outs_open > 0)))`

/** The branch of handoff `h` is over: nothing more of it counts. */
export const BRANCH_IS_OVER = `exists (select from branch over_branch
  where over_branch.id = h.branch_id and over_branch.outcome is not null)`

/** The deadline of handoff `h` has not passed. */
export const IN_TIME = `(h.expires_at is null or h.expires_at > clock_timestamp())`
