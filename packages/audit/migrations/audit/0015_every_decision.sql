-- The view of decisions shows those that a receiver cannot take and refusals at the door, and says of a task whose first
-- records have left the database where they are. No column changes.
-- Locks: the view for the moment it takes to exchange it.

set local role audit_owner;

-- One row per handoff: its latest decision (1 accepted, 2 rejected, 25 blocked: it passed its checks, and its receiver cannot
-- take it), or where nobody decided, its refusal at the door (38); and beside it everything that was decided about it.
-- An acceptance that rests on a release also shows the verdict that people overrode.
-- One row more, without a handoff, where the first records of a task stand in the cold store alone: how many, and how to read them.
create or replace view audit.handoff_audit as
  select
    r.handoff_id as handoffid,
    r.task_id as taskid,
    (b.body ->> 'parentHandoffId')::uuid as parenthandoffid,
    b.body -> 'fromAgent' ->> 'agentId' as fromagent,
    b.body -> 'toAgent' ->> 'agentType' as toagent,
    case r.event when 1 then 'ACCEPTED' when 25 then 'BLOCKED' else 'REJECTED' end as status,
    b.body ->> 'reason' as reason,
    (b.body ->> 'attempt')::integer as attempt,
    b.body -> 'verdicts' as verdicts,
    b.body -> 'cost' as costs,
    (r.spent_micro / 1000000.0)::numeric(20, 6) as costathandoff,
    r.recorded_at as "timestamp",
    b.body ->> 'traceparent' as traceparent,
    h.origin as chain,
    r.seq,
    encode(r.record_hash, 'hex') as recordhash,
    b.body ->> 'previousRecordHash' as previousrecordhash,
    (b.body ->> 'release')::uuid as releaseid,
    case when b.body ? 'release' then a.rejection ->> 'reason' end as overriddenreason,
    case when b.body ? 'release' then a.rejection -> 'verdicts' end as overriddenverdicts,
    a.decidedby,
    a.decisions,
    a.executedversion
  from (
      select distinct on (task_id, handoff_id) *
      from audit.record
      where event in (1, 2, 25, 38)
      order by task_id, handoff_id, event = 38, recorded_at desc, seq desc
    ) r
    join audit.head h on h.chain = r.chain
    cross join lateral (select convert_from(r.body, 'UTF8')::jsonb as body offset 0) b
    join (
      select
        e.task_id,
        e.handoff_id,
        -- The newest rejection.
        (array_agg(d.body order by e.recorded_at desc, e.seq desc) filter (where e.event = 2))[1] as rejection,
        -- Whoever acted, once each.
        array_agg(distinct d.body -> 'act' ->> 'actor') filter (where d.body ? 'act') as decidedby,
        -- Verdicts of the checks and acts of people, in their order.
        jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'event', d.body -> 'event', 'by', d.body -> 'act' -> 'actor', 'reason', d.body -> 'reason',
          'release', d.body -> 'release', 'at', d.body -> 'recordedAt', 'seq', e.seq
        )) order by e.recorded_at, e.seq) filter (where e.event not in (4, 5, 6)) as decisions,
        -- Of the newest execution that ended: what was asked for is a range, and not shown.
        (array_agg(substring(d.body -> 'toAgent' ->> 'agentVersion' from '^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$')
          order by e.recorded_at desc, e.seq desc)
          filter (where e.event in (4, 5) or (e.event = 6 and d.body ->> 'reason' like 'BATON\_%')))[1] as executedversion
      from audit.record e
        cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as body offset 0) d
      -- Decisions (1, 2, 25), ends of executions (4 to 6), what people do about a handoff (10 to 19, 26, 28, 29), and
      -- refusals at the door (38).
      where e.event in (1, 2, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 25, 26, 28, 29, 38)
      group by e.task_id, e.handoff_id
    ) a on a.task_id = r.task_id and a.handoff_id = r.handoff_id
  union all
  select
    null, i.task_id, null, null, null, 'ARCHIVED',
    format('in the cold store: %s of its records; read all with baton trace %s, or GET /v2/tasks/%s/trace',
      count(*), i.task_id, i.task_id),
    null, null, null, null::numeric(20, 6), max(i.recorded_at), null, h.origin, max(i.seq),
    (array_agg(encode(i.record_hash, 'hex') order by i.seq desc))[1],
    null, null, null, null, null, null, null
  from audit.idem i
    join audit.head h on h.chain = i.chain
    join audit.archive c on c.log = i.chain and i.seq < c.hot_from and i.seq >= c.min_index
  group by i.task_id, h.chain;

reset role;
