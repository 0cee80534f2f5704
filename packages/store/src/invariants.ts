// What must hold in the operational database at every instant: the one list of it, for tests, chaos campaigns and
// `doctor`. Each statement answers the ids of what breaks its rule. Used on live systems, so each reads one consistent snapshot.
import { sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { LEASED, OPEN } from './states.ts'

/** How many ids of what breaks a rule are answered. */
const IDS_MAX = 100
/** Checking bytes reads them all, so only the newest are checked. */
const BODIES_MAX = 5_000
const BODY_BYTES_MAX = 1_048_576

// Postgres notes each record that a person signed in told_operation as it is stored, whoever forgets it afterwards.
const UNTOLD = `(decided.id, decided.event) not in (select t.handoff_id, t.event from told_operation t)`
// Before the first note there was none of anything.
const SINCE_NOTES = `(select min(t.told_at) from told_operation t)`

// Other bytes than the quarantined ones were judged for themselves.
const RUNS_AS_QUARANTINED = `h.state in ('EXECUTING', 'COMPLETED') and h.body_sha256 = d.message_sha256`

const RULES = [
  {
    promise: 'I1',
    rule: 'every handoff has its checkpoint and its signed bytes',
    statement: 'find_incomplete_sends',
    breaches: `select h.id from handoff h
      where not exists (select from checkpoint c where c.id = h.checkpoint_id)
        or not exists (select from handoff_body b where b.handoff_id = h.id)`,
  },
  {
    promise: 'I1',
    rule: 'every id of another protocol names a handoff',
    statement: 'find_refs_without_handoff',
    breaches: `select r.handoff_id as id from external_ref r
      where not exists (select from handoff h where h.id = r.handoff_id)`,
  },
  {
    promise: 'I1',
    rule: 'every task has a handoff',
    statement: 'find_tasks_without_handoff',
    breaches: `select t.id from task t where not exists (select from handoff h where h.task_id = t.id)`,
  },
  {
    promise: 'I2',
    rule: 'every open handoff waits somewhere or is held by a lease',
    statement: 'find_stranded_handoffs',
    breaches: `select h.id from handoff h
      where h.state in ('QUEUED', 'EXECUTING')
        and not exists (select from execution e where e.handoff_id = h.id and e.status in ${LEASED})
        and not (h.state = 'QUEUED' and (
          exists (select from outbox o where o.handoff_id = h.id)
          or exists (select from retry r where r.handoff_id = h.id)))`,
  },
  {
    promise: 'I2',
    rule: 'an approval is open exactly as long as its handoff waits for it',
    statement: 'find_misplaced_approvals',
    breaches: `select h.id from handoff h left join approval a on a.handoff_id = h.id
      where (h.state = 'AWAITING_APPROVAL') <> (a.handoff_id is not null and a.closed_at is null)`,
  },
  {
    promise: 'I2',
    rule: 'no handoff that has ended is still being executed',
    statement: 'find_ended_executing',
    breaches: `select h.id from handoff h join execution e on e.handoff_id = h.id
      where h.state not in ${OPEN} and e.status in ${LEASED}`,
  },
  {
    promise: 'I2',
    rule: 'every quarantined handoff shows up as a dead letter',
    statement: 'find_lost_dead_letters',
    breaches: `select h.id from handoff h where h.state = 'DEAD_LETTERED'
        and not exists (select from dead_letter d where d.handoff_id = h.id)`,
  },
  {
    promise: 'I2',
    rule: 'a dead letter waits exactly as long as its handoff is quarantined',
    statement: 'find_misplaced_dead_letters',
    breaches: `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
      where (d.resolved_at is null and h.state <> 'DEAD_LETTERED')
        or (d.resolution <> 'DISCARDED' and h.state = 'DEAD_LETTERED')`,
  },
  {
    promise: 'I3',
    rule: 'nothing executes without an audit receipt',
    statement: 'find_executions_without_receipt',
    breaches: `select e.handoff_id as id from execution e join handoff h on h.id = e.handoff_id
      where e.audit_hash is null and (e.status = 'EXECUTING' or h.state = 'COMPLETED')`,
  },
  {
    promise: 'I4',
    rule: 'every completed handoff has one committed execution',
    statement: 'find_uncommitted_completions',
    breaches: `select h.id from handoff h left join execution e on e.handoff_id = h.id
      where h.state = 'COMPLETED' and (e.handoff_id is null or e.status <> 'DONE')`,
  },
  {
    promise: 'I5',
    rule: 'no task runs without a handoff, none is complete with one',
    statement: 'find_half_steps',
    breaches: `select t.id from task t
      where (t.status = 'RUNNING' and t.fan_outs_open = 0
          and not exists (select from handoff h where h.task_id = t.id and h.state in ${OPEN}))
        or (t.status = 'COMPLETED'
          and exists (select from handoff h where h.task_id = t.id and h.state in ${OPEN}))`,
  },
  {
    promise: 'I6',
    rule: 'no rejected handoff has a result',
    statement: 'find_executed_rejections',
    breaches: `select h.id from handoff h join execution e on e.handoff_id = h.id
      where h.state in ('REJECTED', 'DEAD_LETTERED') and e.result is not null`,
  },
  {
    promise: 'I6',
    rule: 'an approval override covers one handoff and its bytes, and no ending without effect leaves it',
    statement: 'find_unbound_releases',
    breaches: `select h.id from handoff h left join approval_override r on r.id = h.approval_override_id
      where h.approval_override_id is not null
        and (r.id is null or r.handoff_id <> h.id or r.body_sha256 <> h.body_sha256
          or (h.ended_at is not null and h.state not in ('COMPLETED', 'PARTIAL')))`,
  },
  {
    promise: 'I6',
    rule: 'nothing quarantined executes unless two others than its sender released it',
    statement: 'find_unreviewed_executions',
    breaches: `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
      left join approval_override r on r.id = h.approval_override_id
      where ${RUNS_AS_QUARANTINED}
        and (d.resolved_at is null or d.resolution = 'DISCARDED'
          or (d.resolution = 'RELEASED' and d.reason = 'SAFETY_VIOLATION'
            and (r.id is null or cardinality(r.reviewers) < 2
              or coalesce(h.sent_by = any(r.reviewers), false) or h.earlier_senders && r.reviewers)))`,
  },
  {
    promise: 'I7',
    rule: 'a rolled-back task stands at its sender’s checkpoint',
    statement: 'find_wrong_rollbacks',
    breaches: `select t.id from task t
      join lateral (select h.state, h.checkpoint_id, h.branch_id from handoff h where h.task_id = t.id
        order by h.task_seq desc limit 1) last on true
      where last.state = 'ROLLED_BACK' and last.branch_id is null
        and (t.checkpoint_id is distinct from last.checkpoint_id or t.status not in ('PENDING_HANDOFF', 'CANCELED'))`,
  },
  {
    promise: 'I7',
    rule: 'the newest 5,000 checkpoints have the bytes that were saved',
    statement: 'find_changed_checkpoints',
    breaches: `select c.id from (select id, body, sha256 from checkpoint
        where erased_at is null
        order by created_at desc limit ${BODIES_MAX}) c where sha256(c.body) <> c.sha256`,
  },
  {
    promise: 'I8',
    rule: 'spent and remaining add up to the budget',
    statement: 'find_budget_mismatches',
    breaches: `select h.id from handoff h join task t on t.id = h.task_id left join branch b on b.id = h.branch_id
      where h.spent_micro_usd + h.remaining_micro_usd <> coalesce(b.budget_micro_usd, t.budget_micro_usd)`,
  },
  {
    promise: 'I8',
    rule: 'branches and their join were given no more than was left',
    statement: 'find_overspent_fan_outs',
    breaches: `select f.id from fan_out f
      join lateral (select sum(b.budget_micro_usd - f.spent_micro_usd) as given from branch b where b.fan_out_id = f.id) b on true
      where b.given + f.reserved_micro_usd > greatest(f.budget_micro_usd - f.spent_micro_usd, 0)`,
  },
  {
    promise: 'I2',
    rule: 'a task counts its open fan-outs, and each waits for a branch or is ready',
    statement: 'find_lost_fan_outs',
    breaches: `select t.id from task t
      left join lateral (select count(*) filter (where f.state in ('OPEN', 'READY')) as open,
          count(*) filter (where f.state = 'OPEN' and not exists (
            select from branch b where b.fan_out_id = f.id and b.outcome is null)) as lost
        from fan_out f where f.task_id = t.id) f on true
      where t.fan_outs_open <> f.open or f.lost > 0`,
  },
  {
    promise: 'I5',
    rule: 'nothing joins before its branches allow it',
    statement: 'find_early_joins',
    breaches: `select f.id from fan_out f
      where f.state = 'JOINED' and f.completed < f.join_after
        and (f.on_failure = 'fail' or f.completed + f.failed < f.branches)`,
  },
  {
    promise: 'I8',
    rule: 'no handoff has more left over than its parent gave on',
    statement: 'find_raised_budgets',
    breaches: `select h.id from handoff h join handoff p on p.id = h.parent_id
      left join execution e on e.handoff_id = p.id
      where h.remaining_micro_usd > p.remaining_micro_usd - coalesce(e.cost_micro_usd, 0)`,
  },
  {
    promise: 'I8',
    rule: 'every execution’s cost is booked on its task',
    statement: 'find_unbooked_costs',
    breaches: `select t.id from task t
      join lateral (select h.spent_micro_usd from handoff h where h.task_id = t.id
        order by h.task_seq limit 1) first on true
      where t.spent_micro_usd < first.spent_micro_usd + coalesce((
        select sum(e.cost_micro_usd) from handoff h join execution e on e.handoff_id = h.id
        where h.task_id = t.id), 0)`,
  },
  {
    promise: 'I9',
    rule: 'all handoffs of a task belong to one trace',
    statement: 'find_split_traces',
    breaches: `select h.task_id as id from handoff h group by h.task_id
      having count(distinct split_part(h.traceparent, '-', 2)) > 1`,
  },
  {
    promise: 'I10',
    rule: 'what people are said to have decided in the last week is told of as their decision',
    statement: 'find_untold_decisions',
    breaches: `select decided.id from (
        select d.handoff_id as id, d.resolved_at as at,
          case d.resolution when 'DISCARDED' then 'DEAD_LETTER_DISCARDED' else 'RELEASE_APPROVED' end as event
        from dead_letter d where d.resolution in ('RELEASED', 'REDACTED', 'DISCARDED')
        union all
        select h.id, h.ended_at, 'APPROVAL_REFUSED' from handoff h
        where h.state = 'REJECTED' and h.reason = 'APPROVAL_REFUSED'
      ) decided
      where decided.at > now() - interval '7 days' and decided.at > ${SINCE_NOTES} and ${UNTOLD}`,
  },
  {
    promise: 'I12',
    rule: 'nothing is tried more often than allowed',
    statement: 'find_excess_attempts',
    breaches: `select h.id from handoff h where h.attempt > h.attempts_max`,
  },
  {
    promise: 'I12',
    rule: 'no message is larger than 1 MiB',
    statement: 'find_oversized_messages',
    breaches: `select h.id from handoff h where h.body_bytes > ${BODY_BYTES_MAX}`,
  },
] as const

/** Every rule, bound to one database; each check answers at most 100 ids, none where the rule holds. */
export const storeInvariants = (db: Database) =>
  RULES.map(({ promise, rule, statement, breaches }) => ({
    promise,
    rule,
    async check(): Promise<readonly string[]> {
      const rows = await run<{ id: string }>(db, statement, `${breaches} limit ${IDS_MAX}`)
      return rows.map(({ id }) => id)
    },
  }))

/** A committed or running execution and the receipt it holds. */
export interface ExecutionReceipt {
  readonly handoffId: string
  /** The fencing token, as the log calls it. */
  readonly epoch: number
  /** Lower-case hex. */
  readonly auditHash: string
}

/** The newest executions that hold a receipt, for comparison with the audit store; at most `limit`. */
export function listExecutionReceipts(
  db: Database,
  limit: number,
): Promise<readonly ExecutionReceipt[]> {
  const written = tables
    .selectFrom('execution as e')
    .innerJoin('handoff as h', 'h.id', 'e.handoff_id')
    .select([
      'e.handoff_id as handoffId',
      'e.fencing_token as epoch',
      sql<string>`encode(e.audit_hash, 'hex')`.as('auditHash'),
    ])
    .where('e.audit_hash', 'is not', null)
    .orderBy('h.created_at', 'desc')
    .limit(limit)
  return run(db, 'list_execution_receipts', written)
}

/** How a handoff ended, as its record is known by. */
export interface PastEnding {
  readonly handoffId: string
  readonly event: string
  /** The fencing token, as the log calls it. */
  readonly epoch: number
}

interface EndingsPage {
  /** Only what ended so long ago; it need not be on its way to the log any more. */
  readonly settledMs: number
  readonly limit: number
}

const IN_TIME = (column: string): string =>
  `${column} > now() - interval '7 days' and ${column} < now() - $1::double precision * interval '1 millisecond'`

// An execution keeps the token that it ended with until the handoff is claimed again, and a dead letter the one that it was quarantined
// with. What a person refused is noted with the decision: its record has an id of its own.
const ENDINGS = `
with ended as (
  select h.id, h.state, h.reason, h.ended_at from handoff h
  where ${IN_TIME('h.ended_at')} and (h.state <> 'REJECTED' or h.reason is distinct from 'APPROVAL_REFUSED')
  order by h.ended_at desc limit $2
), past as (
  select h.id, coalesce(e.fencing_token, 0) as epoch, h.ended_at as at,
    case when h.state in ('COMPLETED', 'PARTIAL') then 'EXECUTION_COMPLETED'
      when h.state in ('EXPIRED', 'CANCELED', 'BLOCKED') then 'HANDOFF_' || h.state
      when h.state = 'REJECTED' and h.reason = 'DECLINED' then 'EXECUTION_FAILED'
      when h.state = 'REJECTED' then 'HANDOFF_REJECTED'
      else h.state end as event
  from ended h left join execution e on e.handoff_id = h.id
  union all
  select d.handoff_id, d.fencing_token, d.created_at, 'DEAD_LETTERED'
  from dead_letter d join handoff h on h.id = d.handoff_id
  where h.state <> 'DEAD_LETTERED' and d.fencing_token is not null and ${IN_TIME('d.created_at')}
)
select id as "handoffId", event, epoch from past order by at desc limit $2`

/** The newest endings of a week: each is in the log, or its record waits to be shipped. */
export const listEndings = (
  db: Database,
  { settledMs, limit }: EndingsPage,
): Promise<PastEnding[]> => run<PastEnding>(db, 'list_endings', ENDINGS, [settledMs, limit])

const WAITING_MAX = 50_000

// One pass over all that waits, however much that is: there is no index by handoff, and a subquery within "is true" is hashed.
const WAITING = `
select o.handoff_id as "handoffId", coalesce(substring(o.entry from '"event":"([A-Z_]+)"'), '') as event,
  coalesce(substring(o.entry from '"epoch":([0-9]{1,9})')::integer, 0) as epoch
from audit_outbox o where (o.handoff_id in (select unnest($1::uuid[]))) is true
limit ${WAITING_MAX}`

/** What waits to be shipped of these handoffs. */
export const listWaitingRecords = (
  db: Database,
  handoffIds: readonly string[],
): Promise<PastEnding[]> => run<PastEnding>(db, 'list_waiting_records', WAITING, [handoffIds])
