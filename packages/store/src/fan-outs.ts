// Work that fans out: the branches of one execution, how they end, and when what joins them is due.
import { columns, int4, int8, nullable, text, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { requireBounds } from './fan-out-bounds.ts'
import type { FanOutBounds } from './fan-out-bounds.ts'
import { ENDED_TASK } from './states.ts'

/** What becomes of a fan-out when a branch ends without a result: a person decides, it goes on without, or it fails. */
export type BranchFailurePolicy = 'wait' | 'skip' | 'fail'

export interface NewBranch {
  readonly branchId: string
  readonly name: string
  /** What had been spent at the fan-out, and all that the branch is given on top. */
  readonly budgetMicroUSD: number
}

/** Several handoffs after one, and what joins them. */
export interface NewFanOut {
  readonly fanOutId: string
  readonly taskId: string
  /** The handoff whose execution fanned out, and the branch it stood in; of a sender's, the copy for its target. */
  readonly handoffId: string
  readonly branchId: string | null
  readonly onFailure: BranchFailurePolicy
  /** How many branches must have completed; null where nothing joins. */
  readonly joinAfter: number | null
  /** JSON of the request that the join is built from; null where nothing joins. */
  readonly joinRequest: string | null
  readonly budgetMicroUSD: number
  readonly spentMicroUSD: number
  readonly reservedMicroUSD: number
  readonly branches: readonly NewBranch[]
  /** Made with a key that Postgres does not hold, over all of it: what joins is built from nothing else. */
  readonly mac: string
  readonly bounds: FanOutBounds
}

const FAN_OUTS = columns({
  fanOutId: uuid,
  taskId: uuid,
  handoffId: uuid,
  branchId: nullable(uuid),
  onFailure: text,
  joinAfter: nullable(int4),
  joinRequest: nullable(text),
  budgetMicroUSD: int8,
  spentMicroUSD: int8,
  reservedMicroUSD: int8,
  branchCount: int4,
  mac: text,
})
const BRANCHES = columns({
  branchId: uuid,
  fanOutId: uuid,
  taskId: uuid,
  position: int4,
  name: text,
  budgetMicroUSD: int8,
})

const OPEN_FAN_OUTS = `
with fan_outs as (
  insert into fan_out (id, task_id, handoff_id, branch_id, on_failure, join_after, join_request, budget_micro_usd,
    spent_micro_usd, reserved_micro_usd, branches, mac)
  select * from ${FAN_OUTS.unnest('f')} order by fan_out_id
  returning task_id
), tasks as (
  update task t set fan_outs_open = t.fan_outs_open + f.opened
  from (select task_id, count(*) as opened from fan_outs group by task_id) f where t.id = f.task_id
)
insert into branch (id, fan_out_id, task_id, position, name, budget_micro_usd)
select * from ${BRANCHES.unnest('b', { after: FAN_OUTS.width })}`

/**
 * Stores fan-outs with their branches, before their handoffs and in the same transaction, which has locked their tasks.
 * Throws BATON_FAN_OUT_TOO_DEEP and BATON_BRANCHES_OPEN.
 */
export async function openFanOuts(
  transaction: Database,
  fanOuts: readonly NewFanOut[],
): Promise<void> {
  const rows = fanOuts.map((one) => ({ ...one, branchCount: one.branches.length }))
  await requireBounds(transaction, rows)
  const branches = fanOuts.flatMap(({ fanOutId, taskId, branches: all }) =>
    all.map((branch, position) => ({ ...branch, fanOutId, taskId, position })),
  )
  await run(transaction, 'open_fan_outs', OPEN_FAN_OUTS, [
    ...FAN_OUTS.values(rows),
    ...BRANCHES.values(branches),
  ])
}

// Of `f` with its counts after the change: whether nothing more of it is waited for.
const IS_READY = (completed: string, failed: string): string => `(
  (f.join_after is not null and ${completed} >= f.join_after)
  or (f.on_failure = 'fail' and ${failed} > 0)
  or ${completed} + ${failed} >= f.branches)`

/**
 * Ends the branches that `from` names (branch_id, handoff_id, outcome, reason, result, mac, spent, is_over): those that are
 * over for good, and by the policy of their fan-out those that failed. A fan-out of which nothing more is waited for
 * becomes READY. Locks branches and fan-outs in the order of their ids, after executions, handoffs and tasks.
 */
export const END_BRANCHES = (from: string): string => `
branch_ends as (
  update branch b set outcome = e.outcome, reason = e.reason, last_handoff_id = e.handoff_id, result = e.result,
    mac = e.mac, spent_micro_usd = e.spent, ended_at = clock_timestamp()
  from (${from}) e, fan_out o
  where b.id = e.branch_id and b.outcome is null and o.id = b.fan_out_id and (e.is_over or o.on_failure <> 'wait')
  returning b.fan_out_id, b.outcome
), counted as (
  select fan_out_id, count(*) filter (where outcome = 'COMPLETED')::int as completed,
    count(*) filter (where outcome <> 'COMPLETED')::int as failed
  from branch_ends group by fan_out_id
), locked_fan_outs as (
  select id from fan_out where id in (select fan_out_id from counted) order by id for no key update
), fan_out_ends as (
  update fan_out f set completed = f.completed + c.completed, failed = f.failed + c.failed,
    state = case when f.state = 'OPEN' and ${IS_READY('f.completed + c.completed', 'f.failed + c.failed')}
      then 'READY' else f.state end,
    ready_at = case when f.state = 'OPEN' and ${IS_READY('f.completed + c.completed', 'f.failed + c.failed')}
      then clock_timestamp() else f.ready_at end
  from counted c join locked_fan_outs l on l.id = c.fan_out_id where f.id = c.fan_out_id
  returning f.state
)`

/** A fan-out of which nothing more is waited for. */
export interface ReadyFanOut extends Omit<NewFanOut, 'bounds' | 'branches' | 'mac'> {
  /** Null where it was opened before there were any. */
  readonly mac: string | null
  /** The operator for whom the handoff that fanned out was sent. */
  readonly sentBy: string | null
  readonly branches: readonly EndedBranch[]
  /** The last messages of branches within a branch whose results it has as its own: nothing has joined them. */
  readonly within: readonly (SignedBody & Pick<EndedBranch, 'outcome' | 'handoffId'>)[]
}

/** The message of its last handoff, and who signed it; null where nothing of it was sent. */
interface SignedBody {
  readonly body: Buffer | null
  readonly keyId: string | null
  readonly signature: string | null
  /** JSON array of the people whom the answer to it names beside it; null where there are none. */
  readonly named: string | null
}

export interface EndedBranch extends SignedBody {
  readonly branchId: string
  readonly name: string
  readonly position: number
  /** Null where it was not waited for. */
  readonly outcome: string | null
  readonly reason: string | null
  readonly handoffId: string | null
  /** JSON; null where nothing came out of it. */
  readonly result: string | null
  /** Of its result; null where it has none. */
  readonly mac: string | null
  /** What had been spent when it began, and all that was spent in it. */
  readonly spentMicroUSD: number
}

const READY = `select id as "fanOutId", task_id as "taskId" from fan_out where state = 'READY' order by ready_at limit $1`

export interface DueFanOut {
  readonly fanOutId: string
  readonly taskId: string
}

/** Fan-outs that are due to be joined or ended, the longest waiting first. */
export function listReadyFanOuts(db: Database, limit: number): Promise<DueFanOut[]> {
  return run(db, 'list_ready_fan_outs', READY, [limit])
}

const JOIN_REQUEST = `select join_request as "joinRequest" from fan_out where id = $1`

/**
 * The agent type that joins a fan-out; null where nothing does. Null for what is no JSON too: somebody
 * wrote it there, and it is not joined. Postgres never reads the request as JSON: a text in it
 * that Postgres knows no character for would keep every fan-out from being joined.
 */
export async function findJoinAgent(db: Database, fanOutId: string): Promise<string | null> {
  const [row] = await run<{ joinRequest: string | null }>(db, 'find_join_request', JOIN_REQUEST, [
    fanOutId,
  ])
  if (row?.joinRequest == null) return null
  try {
    return (JSON.parse(row.joinRequest) as { readonly targetAgentType: string }).targetAgentType
  } catch {
    return null
  }
}

// Whoever cannot have the task at once leaves it to whoever has it.
const LOCK_TASK = `select status in ${ENDED_TASK} or cancel_requested as over from task where id = $1
  for no key update skip locked`
const LOAD = `
select f.id as "fanOutId", f.task_id as "taskId", f.handoff_id as "handoffId", f.branch_id as "branchId",
  f.on_failure as "onFailure", f.join_after as "joinAfter", f.join_request as "joinRequest",
  f.budget_micro_usd as "budgetMicroUSD", f.spent_micro_usd as "spentMicroUSD", f.reserved_micro_usd as "reservedMicroUSD",
  f.mac, (select h.sent_by from handoff h where h.id = f.handoff_id) as "sentBy"
from fan_out f where f.id = $1 and f.state = 'READY' for no key update`
// What a branch has cost is the sum of all its executions, also where it was given up or not waited for (I8).
const LOAD_BRANCHES = `
with recursive inside as (
  select id, id as branch_id from branch where fan_out_id = $1
  union all
  select b.id, i.branch_id from inside i join fan_out f on f.branch_id = i.id join branch b on b.fan_out_id = f.id
), costs as (
  select i.branch_id, sum(e.cost_micro_usd)::bigint as cost
  from fan_out f join handoff h on h.task_id = f.task_id join inside i on i.id = h.branch_id
    join execution e on e.handoff_id = h.id and e.status = 'DONE'
  where f.id = $1 group by i.branch_id
)
select b.id as "branchId", b.name, b.position, b.outcome, b.last_handoff_id as "handoffId", b.result, b.mac,
  case when b.outcome = 'CANCELED' and b.ended_at >= f.ready_at then 'NOT_WAITED_FOR' else b.reason end as reason,
  f.spent_micro_usd + coalesce(c.cost, 0) as "spentMicroUSD", m.body, h.key_id as "keyId", h.signature, last.named
from branch b join fan_out f on f.id = b.fan_out_id left join costs c on c.branch_id = b.id
  left join handoff_body m on m.handoff_id = b.last_handoff_id left join handoff h on h.id = b.last_handoff_id
  left join execution last on last.handoff_id = b.last_handoff_id
where b.fan_out_id = $1 order by b.position`

const LOAD_WITHIN = `
with recursive within as (
  select b.id, null::uuid as last_handoff_id, null::text as outcome from branch b where b.fan_out_id = $1
  union all
  select b.id, b.last_handoff_id, b.outcome from within w join fan_out f on f.branch_id = w.id and f.state = 'ENDED'
    join branch b on b.fan_out_id = f.id
)
select m.body, w.outcome, w.last_handoff_id as "handoffId", h.key_id as "keyId", h.signature, last.named
from within w join handoff h on h.id = w.last_handoff_id left join handoff_body m on m.handoff_id = h.id
  left join execution last on last.handoff_id = h.id order by w.id`

/** Locks a fan-out and its task for this transaction; undefined where somebody else has it, or had it. */
export async function lockReadyFanOut(
  transaction: Database,
  { fanOutId, taskId }: { readonly fanOutId: string; readonly taskId: string },
): Promise<{ readonly fanOut: ReadyFanOut; readonly isTaskOver: boolean } | undefined> {
  const [task] = await run<{ over: boolean }>(transaction, 'lock_task_of_fan_out', LOCK_TASK, [
    taskId,
  ])
  if (task === undefined) return undefined
  const [row] = await run<Omit<ReadyFanOut, 'branches' | 'within'>>(
    transaction,
    'load_fan_out',
    LOAD,
    [fanOutId],
  )
  if (row === undefined) return undefined
  const branches = await run<EndedBranch>(transaction, 'load_branches', LOAD_BRANCHES, [fanOutId])
  const within = await run<ReadyFanOut['within'][number] & object>(
    transaction,
    'load_within_branches',
    LOAD_WITHIN,
    [fanOutId],
  )
  const fanOut = { ...row, branches, within }
  return { fanOut, isTaskOver: task.over }
}

/** How a fan-out is over: joined, ended with what came out of each branch, failed, or canceled with its task. */
export interface FanOutEnd {
  readonly fanOutId: string
  readonly state: 'JOINED' | 'ENDED' | 'FAILED' | 'CANCELED'
  /** JSON of what came out of all branches, where nothing joins them. */
  readonly result: string | null
  /** Of the result, where a branch ends with it. */
  readonly mac: string | null
  readonly spentMicroUSD: number
  readonly reason: string | null
}

// The branches of fan-out $1, and those of fan-outs within them.
const INSIDE = `inside as (
  select b.id from branch b where b.fan_out_id = $1
  union all
  select b.id from inside i join fan_out f on f.branch_id = i.id join branch b on b.fan_out_id = f.id
)`

// Nobody waits for what is within a fan-out that is closed: the task would wait for it for ever.
// On the task's own way the end of a fan-out that nothing joins is the end of the task; within a branch it is the end of
// that branch, whatever the policy: nobody could take anything of it up again.
const CLOSE = `
with recursive ${INSIDE}, closed as (
  update fan_out set state = $2, ended_at = clock_timestamp() where id = $1
  returning id, task_id, branch_id, handoff_id
), nested as (
  update fan_out set state = 'CANCELED', ended_at = clock_timestamp()
  where branch_id in (select id from inside) and state in ('OPEN', 'READY') returning id
), left_over as (
  update branch set outcome = 'CANCELED', reason = 'NOT_WAITED_FOR', ended_at = clock_timestamp()
  where (fan_out_id = $1 or fan_out_id in (select id from nested)) and outcome is null
), tasks as (
  update task t set fan_outs_open = t.fan_outs_open - 1 - (select count(*) from nested), updated_at = clock_timestamp(),
    result = case when c.branch_id is null and $2 = 'ENDED' then $3 else t.result end,
    status = case when c.branch_id is not null or $2 in ('JOINED', 'CANCELED') or t.status in ${ENDED_TASK} then t.status
      when $2 = 'FAILED' then 'FAILED'
      when exists (select from handoff h where h.task_id = t.id and h.ended_at is null) then t.status
      else 'COMPLETED' end
  from closed c where t.id = c.task_id
), alerts as (
  insert into alert_occurrence (kind, handoff_id, task_id, reason)
  select 'handoff.branches_failed', handoff_id, task_id, $5 from closed where $2 = 'FAILED'
), ${END_BRANCHES(`select c.branch_id, c.handoff_id, case $2 when 'ENDED' then 'COMPLETED' else $2 end as outcome,
    $5::text as reason, $3::text as result, $6::text as mac, $4::bigint as spent, true as is_over
  from closed c where $2 <> 'JOINED'`)}
select count(*) from closed`

/** Ends a fan-out that this transaction has locked; one that failed raises an alert. A branch that was not waited for ends with it. */
export async function closeFanOut(
  transaction: Database,
  { fanOutId, state, result, mac, spentMicroUSD, reason }: FanOutEnd,
): Promise<void> {
  const values = [fanOutId, state, result, spentMicroUSD, reason, mac]
  await run(transaction, 'close_fan_out', CLOSE, values)
}

const CLOSE_ALL = `
with closed as (
  update fan_out set state = 'CANCELED', ended_at = clock_timestamp()
  where task_id = $1 and state in ('OPEN', 'READY') returning id
), left_over as (
  update branch set outcome = 'CANCELED', reason = 'CANCELED', ended_at = clock_timestamp()
  where fan_out_id in (select id from closed) and outcome is null
)
update task set fan_outs_open = 0 where id = $1`

/** Closes every fan-out of a canceled task, which this transaction has locked. */
export async function closeFanOutsOf(transaction: Database, taskId: string): Promise<void> {
  await run(transaction, 'close_fan_outs_of', CLOSE_ALL, [taskId])
}

const OPEN_OF_OTHERS = `
with recursive ${INSIDE}
select h.id as "handoffId" from handoff h
where h.task_id = $2 and h.ended_at is null and h.branch_id in (select id from inside)`

/** Handoffs of a fan-out’s branches that have not ended, those of fan-outs within them too. */
export async function listOpenInBranches(
  db: Database,
  { fanOutId, taskId }: { readonly fanOutId: string; readonly taskId: string },
): Promise<readonly string[]> {
  const rows = await run<{ handoffId: string }>(db, 'list_open_in_branches', OPEN_OF_OTHERS, [
    fanOutId,
    taskId,
  ])
  return rows.map(({ handoffId }) => handoffId)
}
