-- Executions that an agent outside of Baton's processes has taken: who settles them, and for how long each lease holds.
-- Locks: a new table only. Roll-forward; never edited once landed.

create table remote_execution (
  handoff_id uuid primary key,
  fencing_token integer not null,
  -- The operator of the API key that took it: nobody else keeps its lease or settles it.
  taken_by text not null,
  agent_type text not null,
  agent_version text not null,
  lease_ms integer not null check (lease_ms > 0),
  traceparent text not null,
  taken_at timestamptz not null default clock_timestamp()
) with (fillfactor = 90);
create index remote_execution_age on remote_execution (taken_at);
