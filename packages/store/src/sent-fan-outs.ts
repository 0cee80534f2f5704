// A fan-out that a sender begins: its task may begin with it, and the same send again finds it there.
import { transient } from '@baton/runtime'
import { hasCode } from '@baton/postgres'
import { hasTaskEnded } from '@baton/protocol'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { openFanOuts } from './fan-outs.ts'
import type { NewFanOut } from './fan-outs.ts'
import type { SendOutcome } from './send.ts'
import { ENDED_TASK } from './states.ts'

interface SentFanOut {
  readonly fanOut: NewFanOut
  /** The handoff that its sender had received; null where the task begins. */
  readonly parentId: string | null
  /** What the sender spent since its own handoff was settled; added to a task that was there before. */
  readonly addedCostMicroUSD: number
  /** As of one handoff that is sent. */
  readonly tenant: string | null
}

/** `known`: it is there already, and its handoffs say whether this is the same send. */
export type OpenedFanOut =
  | { readonly kind: 'opened' | 'known' }
  | { readonly kind: 'refused'; readonly outcome: SendOutcome }

// As for one handoff (I8): spent and remaining are the task's budget, and no more remains than the parent was given, or the task began with.
const TAKE_TASK = `
with known as (
  select id from fan_out where id = $1::uuid
), task_row as (
  insert into task as t (id, tenant, status, budget_micro_usd, spent_micro_usd)
  select $2::uuid, coalesce($7::text, (select tenant from task where id = $2::uuid), 'default'), 'PENDING_HANDOFF', $3::bigint, $4::bigint where not exists (select from known)
  on conflict (id) do update set status = 'PENDING_HANDOFF', spent_micro_usd = t.spent_micro_usd + $5::bigint,
    updated_at = clock_timestamp()
  where t.status not in ${ENDED_TASK} and not t.cancel_requested and t.tenant = excluded.tenant and t.budget_micro_usd = excluded.budget_micro_usd
    and excluded.budget_micro_usd - excluded.spent_micro_usd <= coalesce(least(
      (select remaining_micro_usd from handoff where id = $6::uuid and task_id = t.id),
      t.budget_micro_usd - (select spent_micro_usd from handoff where task_id = t.id and task_seq = 1)),
      excluded.budget_micro_usd)
  returning id
)
select exists (select from known) as known, exists (select from task_row) as taken`

const WHY_NOT = `
select case when t.cancel_requested then 'CANCELED' else t.status end as status, t.budget_micro_usd as "budgetMicroUSD",
  coalesce(t.tenant <> $3::text, false) as "isOther",
  (select remaining_micro_usd from handoff where id = $2::uuid and task_id = t.id) as "parentRemainingMicroUSD"
from task t where t.id = $1`

const UNIQUE_VIOLATION = '23505'

/**
 * Opens a sender's fan-out, before its handoffs and in the same transaction. Throws a transient BATON_SEND_RACE where
 * the same is being sent at this moment: sent again, it is known.
 */
export async function openSentFanOut(
  transaction: Database,
  { fanOut, parentId, addedCostMicroUSD, tenant }: SentFanOut,
): Promise<OpenedFanOut> {
  const { fanOutId, taskId, budgetMicroUSD, spentMicroUSD } = fanOut
  try {
    const [row] = await run<{ known: boolean; taken: boolean }>(
      transaction,
      'take_task_of_sent_fan_out',
      TAKE_TASK,
      [fanOutId, taskId, budgetMicroUSD, spentMicroUSD, addedCostMicroUSD, parentId, tenant],
    )
    if (row?.known === true) return { kind: 'known' }
    if (row?.taken !== true) return await whyNotTaken(transaction, [taskId, parentId, tenant])
    await openFanOuts(transaction, [fanOut])
    return { kind: 'opened' }
  } catch (error) {
    if (!hasCode(error, UNIQUE_VIOLATION)) throw error
    throw transient('BATON_SEND_RACE', 'the same handoffs are being sent twice at this moment', {
      cause: error,
    })
  }
}

interface TaskRow {
  readonly status: string
  readonly isOther: boolean
  readonly budgetMicroUSD: number
  readonly parentRemainingMicroUSD: number | null
}

async function whyNotTaken(
  transaction: Database,
  values: (string | null)[],
): Promise<OpenedFanOut> {
  const [task] = await run<TaskRow & object>(transaction, 'why_not_taken', WHY_NOT, values)
  if (task?.isOther === true) return { kind: 'refused', outcome: { kind: 'task_of_other' } }
  if (task === undefined || hasTaskEnded(task.status))
    return { kind: 'refused', outcome: { kind: 'task_ended' } }
  const { budgetMicroUSD, parentRemainingMicroUSD } = task
  const outcome = { kind: 'budget_mismatch', budgetMicroUSD, parentRemainingMicroUSD } as const
  return { kind: 'refused', outcome }
}
