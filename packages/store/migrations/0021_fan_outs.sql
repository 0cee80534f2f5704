-- Order as a graph: work that fans out into branches, and the join that waits for them.
-- Locks: two new tables; `alter table` takes ACCESS EXCLUSIVE on handoff and task for an instant (no rewrite: null or a
-- constant default). Roll-forward; never edited once landed.

-- Several handoffs after one: each begins a branch. Where a join is asked for, it is sent once the branches allow it.
create table fan_out (
  id uuid primary key,
  task_id uuid not null,
  -- The handoff whose execution fanned out, and the branch that stood in; null is the task's own way.
  handoff_id uuid not null,
  branch_id uuid,
  branches integer not null check (branches > 0),
  -- How many branches must have completed; null where nothing joins.
  join_after integer check (join_after between 1 and branches),
  on_failure text not null check (on_failure in ('wait', 'skip', 'fail')),
  -- JSON of the request that the join is built from; null where nothing joins.
  join_request text check ((join_request is null) = (join_after is null)),
  -- What the task, or the branch it stands in, may cost in all; of that spent when it fanned out, and held back for the join.
  budget_micro_usd bigint not null,
  spent_micro_usd bigint not null,
  reserved_micro_usd bigint not null check (reserved_micro_usd >= 0),
  completed integer not null default 0,
  failed integer not null default 0,
  state text not null default 'OPEN' check (state in ('OPEN', 'READY', 'JOINED', 'ENDED', 'FAILED', 'CANCELED')),
  created_at timestamptz not null default clock_timestamp(),
  ready_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 70);
create index fan_out_task on fan_out (task_id);
create index fan_out_ready on fan_out (ready_at) where state = 'READY';

create table branch (
  id uuid primary key,
  fan_out_id uuid not null references fan_out,
  task_id uuid not null,
  position integer not null,
  name text not null,
  -- What had been spent when it began, and all that it was given on top.
  budget_micro_usd bigint not null,
  -- As its handoff ended; null while it goes on.
  outcome text check (outcome in
    ('COMPLETED', 'REJECTED', 'BLOCKED', 'EXPIRED', 'CANCELED', 'DEAD_LETTERED', 'ROLLED_BACK', 'FAILED')),
  reason text,
  last_handoff_id uuid,
  -- JSON of what came out of it.
  result text,
  -- The running total at its end.
  spent_micro_usd bigint,
  ended_at timestamptz,
  unique (fan_out_id, position)
) with (fillfactor = 70);

-- The branch it belongs to; null is the task's own way.
alter table handoff add column branch_id uuid;
-- The fan-out that it joins; null of all others.
alter table handoff add column joins_id uuid;
-- Fan-outs that are not over: until then the task has not ended, and its own way waits.
alter table task add column fan_outs_open integer not null default 0;
