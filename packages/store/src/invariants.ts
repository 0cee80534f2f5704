// What must hold in the operational database at every instant. Each rule answers the ids of what breaks it, at
// most 100. Used on live systems and after chaos, so each reads one consistent snapshot.
import { run } from './database.ts'
import type { Database } from './database.ts'
import { LEASED, OPEN } from './states.ts'

const IDS_MAX = 100

/** Checking bytes reads them all, so only the newest are checked. */
const BODIES_MAX = 5_000

const BODY_BYTES_MAX = 1_048_576

// Other bytes than the quarantined ones were judged for themselves.
const RUNS_AS_QUARANTINED = `h.state in ('EXECUTING', 'COMPLETED') and h.body_sha256 = d.message_sha256`

/** Each selects one column `id`. The engine names the promise that each belongs to. */
const RULES = {
  /** I1: a handoff whose checkpoint or signed bytes are not there. */
  findIncompleteSends: `select h.id from handoff h
   where not exists (select from checkpoint c where c.id = h.checkpoint_id)
     or not exists (select from handoff_body b where b.handoff_id = h.id)`,
  /** I1: a task that has no handoff: its send was torn apart. */
  findTasksWithoutHandoff: `select t.id from task t where not exists (select from handoff h where h.task_id = t.id)`,
  /** I2: a handoff under way that waits nowhere: not in the outbox, not for a retry, under no lease. */
  findStrandedHandoffs: `select h.id from handoff h
   where h.state in ('QUEUED', 'ACCEPTED', 'EXECUTING')
     and not exists (select from execution e where e.handoff_id = h.id and e.status in ${LEASED})
     and not (h.state = 'QUEUED' and (
       exists (select from outbox o where o.handoff_id = h.id)
       or exists (select from retry r where r.handoff_id = h.id)))`,
  /** I2: a handoff that waits for a person's approval while no approval is open for it, or the other way round. */
  findMisplacedApprovals: `select h.id from handoff h left join approval a on a.handoff_id = h.id
   where (h.state = 'AWAITING_APPROVAL') <> (a.handoff_id is not null and a.closed_at is null)`,
  /** I2: a handoff that has ended and is still held by an execution. */
  findUndeadHandoffs: `select h.id from handoff h join execution e on e.handoff_id = h.id
   where h.state not in ${OPEN} and e.status in ${LEASED}`,
  /** I2: quarantined without a dead letter that a person would see. */
  findLostDeadLetters: `select h.id from handoff h where h.state = 'DEAD_LETTERED'
     and not exists (select from dead_letter d where d.handoff_id = h.id)`,
  /** I3: executes or has executed without the receipt of its decision record. */
  findExecutionsWithoutReceipt: `select e.handoff_id as id from execution e join handoff h on h.id = e.handoff_id
   where e.audit_hash is null and (e.status = 'EXECUTING' or h.state = 'COMPLETED')`,
  /** I4: completed although its execution has not committed, or the other way round. */
  findUncommittedCompletions: `select h.id from handoff h left join execution e on e.handoff_id = h.id
   where h.state = 'COMPLETED' and (e.handoff_id is null or e.status <> 'DONE')`,
  /** I5: a task that is said to run while nothing of it is under way: a step was committed in part. */
  findHalfSteps: `select t.id from task t
   where (t.status = 'RUNNING'
       and not exists (select from handoff h where h.task_id = t.id and h.state in ${OPEN}))
     or (t.status = 'COMPLETED'
       and exists (select from handoff h where h.task_id = t.id and h.state in ${OPEN}))`,
  /** I6: refused for one of the five reasons and yet with the result of an execution. */
  findExecutedRejections: `select h.id from handoff h join execution e on e.handoff_id = h.id
   where h.state in ('REJECTED', 'DEAD_LETTERED') and e.result is not null`,
  /** I7: rolled back, but the task does not stand at that handoff's checkpoint. */
  findWrongRollbacks: `select t.id from task t
   join lateral (select h.state, h.checkpoint_id from handoff h where h.task_id = t.id
     order by h.task_seq desc limit 1) last on true
   where last.state = 'ROLLED_BACK'
     and (t.checkpoint_id is distinct from last.checkpoint_id or t.status not in ('PENDING_HANDOFF', 'CANCELED'))`,
  /** I7: a checkpoint whose bytes are not the ones that were saved, among the newest 5,000. */
  findChangedCheckpoints: `select c.id from (select id, body, sha256 from checkpoint
     where erased_at is null
     order by created_at desc limit ${BODIES_MAX}) c where sha256(c.body) <> c.sha256`,
  /** I8: spent and remaining do not add up to the task's budget. */
  findBudgetMismatches: `select h.id from handoff h join task t on t.id = h.task_id
   where h.spent_micro_usd + h.remaining_micro_usd <> t.budget_micro_usd`,
  /** I8: more remains than the parent handoff and its execution left over. */
  findRaisedBudgets: `select h.id from handoff h join handoff p on p.id = h.parent_id
   left join execution e on e.handoff_id = p.id
   where h.remaining_micro_usd > p.remaining_micro_usd - coalesce(e.cost_micro_usd, 0)`,
  /** I8: the task has booked less than its first handoff brought along and its executions cost. */
  findUnbookedCosts: `select t.id from task t
   join lateral (select h.spent_micro_usd from handoff h where h.task_id = t.id
     order by h.task_seq limit 1) first on true
   where t.spent_micro_usd < first.spent_micro_usd + coalesce((
     select sum(e.cost_micro_usd) from handoff h join execution e on e.handoff_id = h.id
     where h.task_id = t.id), 0)`,
  /** I9: a task whose handoffs do not all belong to one trace. */
  findSplitTraces: `select h.task_id as id from handoff h group by h.task_id
   having count(distinct split_part(h.traceparent, '-', 2)) > 1`,
  /** I12: tried more often than allowed. */
  findExcessAttempts: `select h.id from handoff h where h.attempt > h.attempts_max`,
  /** I12: a message larger than 1 MiB. */
  findOversizedMessages: `select h.id from handoff h where h.body_bytes > ${BODY_BYTES_MAX}`,
  /** I2: a dead letter that waits for nothing, or a quarantined handoff that nobody waits for. */
  findMisplacedDeadLetters: `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
   where (d.resolved_at is null and h.state <> 'DEAD_LETTERED')
     or (d.resolution <> 'DISCARDED' and h.state = 'DEAD_LETTERED')`,
  /** I6: a release that is not of this handoff and these bytes, or that outlived an ending without effect. */
  findUnboundReleases: `select h.id from handoff h left join release r on r.id = h.release_id
   where h.release_id is not null
     and (r.id is null or r.handoff_id <> h.id or r.body_sha256 <> h.body_sha256
       or (h.ended_at is not null and h.state not in ('COMPLETED', 'PARTIAL')))`,
  /** I6: executes what was quarantined although nobody, or not two others than its sender, let it go on. */
  findUnreviewedExecutions: `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
   left join release r on r.id = h.release_id
   where ${RUNS_AS_QUARANTINED}
     and (d.resolved_at is null or d.resolution = 'DISCARDED'
       or (d.resolution = 'RELEASED' and d.reason = 'SAFETY_VIOLATION'
         and (r.id is null or cardinality(r.reviewers) < 2
           or coalesce(h.sent_by = any(r.reviewers), false))))`,
} as const

type RuleName = keyof typeof RULES

/** Every rule, bound to one database. */
export const invariantReads = (
  db: Database,
): Readonly<Record<RuleName, () => Promise<readonly string[]>>> =>
  Object.fromEntries(
    Object.entries(RULES).map(([name, text]) => [name, () => ids(db, name, text)]),
  ) as Record<RuleName, () => Promise<readonly string[]>>

async function ids(db: Database, rule: string, text: string): Promise<readonly string[]> {
  const rows = await run<{ id: string }>(db, rule, `${text} limit ${IDS_MAX}`)
  return rows.map((row) => row.id)
}

/** A committed or running execution and the receipt it holds. */
export interface ExecutionReceipt {
  readonly handoffId: string
  readonly epoch: number
  /** Lower-case hex. */
  readonly auditHash: string
}

/** The newest executions that hold a receipt, for comparison with the audit store; at most `limit`. */
export function listExecutionReceipts(
  db: Database,
  limit: number,
): Promise<readonly ExecutionReceipt[]> {
  return run(
    db,
    'list_execution_receipts',
    `select e.handoff_id as "handoffId", e.epoch, encode(e.audit_hash, 'hex') as "auditHash"
     from execution e join handoff h on h.id = e.handoff_id
     where e.audit_hash is not null order by h.created_at desc limit $1`,
    [limit],
  )
}
