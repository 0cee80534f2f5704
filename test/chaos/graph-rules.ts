// What holds of every graph of handoffs once nothing is under way, whatever died meanwhile. Both campaigns ask it of Postgres.

// Of bodies that are no JSON there is none.
const label = (body: string): string =>
  `case when convert_from(${body}.body, 'UTF8') is json then convert_from(${body}.body, 'UTF8')::jsonb ->> 'dataClassification' end`

/** Each begins with the promise it stands for; its statement answers the ids that break it. */
export const GRAPH_RULES: Readonly<Record<string, string>> = {
  'I2 no fan-out is open in a task or a branch that is over': `
    select f.id from fan_out f join task t on t.id = f.task_id left join branch b on b.id = f.branch_id
    where f.state in ('OPEN', 'READY')
      and (t.status in ('COMPLETED', 'FAILED', 'CANCELED') or b.outcome is not null)`,
  'I5 a fan-out that is joined has one join, and no other has any': `
    select f.id from fan_out f left join (select joins_id, count(*) as joins from handoff
      where joins_id is not null and resumes_id is null group by joins_id) j on j.joins_id = f.id
    where coalesce(j.joins, 0) <> case f.state when 'JOINED' then 1 else 0 end`,
  'I5 a join is sent once enough branches have completed, or all are over': `
    select f.id from fan_out f join handoff j on j.joins_id = f.id
    join lateral (select count(*) filter (where b.outcome = 'COMPLETED' and b.ended_at <= j.created_at) as completed,
        count(*) filter (where b.outcome is null or b.ended_at > j.created_at) as open
      from branch b where b.fan_out_id = f.id) b on true
    where b.completed < f.join_after and (f.on_failure = 'fail' or b.open > 0)`,
  'I5 a branch is over when its last handoff is': `
    select b.id from branch b join handoff h on h.branch_id = b.id
    where b.outcome = 'COMPLETED' and h.ended_at > b.ended_at`,
  'I8 branches and their join are given no more than there is': `
    select f.id from fan_out f
    join lateral (select sum(b.budget_micro_usd - f.spent_micro_usd) as given from branch b where b.fan_out_id = f.id) b on true
    where b.given + f.reserved_micro_usd > greatest(f.budget_micro_usd - f.spent_micro_usd, 0)`,
  'I9 every handoff of a task is as sensitive as the task began': `
    select h.id from handoff h join handoff_body m on m.handoff_id = h.id
    join lateral (select ${label('m')} as label) own on true
    join handoff root on root.task_id = h.task_id and root.task_seq = 1 join handoff_body r on r.handoff_id = root.id
    where own.label is distinct from ${label('r')}`,
}
