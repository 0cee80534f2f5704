// A branch that ended without a result, and that somebody gives up: what joins it waits for it no longer.
import { run } from './database.ts'
import type { Database } from './database.ts'
import { END_BRANCHES } from './fan-outs.ts'

/** How the last handoff of a branch ended that a person can give up; a dead letter is discarded by its reviewers. */
export const GIVEN_UP_FROM: readonly string[] = ['ROLLED_BACK', 'EXPIRED', 'REJECTED', 'BLOCKED']

const STATES = GIVEN_UP_FROM.map((state) => `'${state}'`).join(', ')

// A resumption locks the task: either it is the last handoff of the branch by then, or this one finds another after it.
const LOCK_TASK = `select from task where id = $1 for no key update`
const LOCK_HANDOFF = `select from handoff where id = $1 for update`
const GIVE_UP = `
with given_up as (
  update handoff h set cancel_requested = true
  where h.id = $1 and h.state in (${STATES})
    and exists (select from branch b where b.id = h.branch_id and b.outcome is null)
    and not exists (select from handoff later where later.branch_id = h.branch_id and later.task_seq > h.task_seq)
  returning h.id, h.branch_id, h.state, h.reason, h.spent_micro_usd
), escalations as (
  update escalation set resolved_at = clock_timestamp()
  where resolved_at is null and handoff_id in (select id from given_up)
), ${END_BRANCHES(`select branch_id, id as handoff_id, state as outcome, reason, null::text as result, null::text as mac,
    spent_micro_usd as spent, true as is_over
  from given_up`)}
select id from given_up`

/** Ends the branch of its last handoff, which had ended without a result; false where it is none such, or the branch is over. */
export async function giveUpBranch(
  transaction: Database,
  { handoffId, taskId }: { readonly handoffId: string; readonly taskId: string },
): Promise<boolean> {
  await run(transaction, 'lock_given_up_handoff', LOCK_HANDOFF, [handoffId])
  await run(transaction, 'lock_given_up_task', LOCK_TASK, [taskId])
  return (await run(transaction, 'give_up_branch', GIVE_UP, [handoffId])).length > 0
}
