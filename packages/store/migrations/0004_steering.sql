-- What people and policies steer: approvals, cancellation, live agents and the queue a blocked handoff goes to.
-- Locks: `alter table` takes ACCESS EXCLUSIVE on handoff and task for an instant (no rewrite: the columns are
-- null or have a constant default); the index on handoff and the insert read it once, so run this while it is small or idle.

alter table handoff
  -- The agent type whose queue gets the handoff instead of `to_agent`, after it was blocked there.
  add column routed_to text,
  -- Agent types that could not take it; none of them is tried twice.
  add column blocked_at_types text[] not null default '{}',
  -- Until when a result of an execution that is being canceled still commits.
  add column cancel_grace_until timestamptz;

-- Holds only what is being canceled; no column of it changes when an execution starts.
create index handoff_canceling on handoff (cancel_grace_until)
  where ended_at is null and cancel_grace_until is not null;

-- A task that is being canceled takes no further handoffs; it ends when its last execution has.
alter table task add column cancel_requested boolean not null default false;

-- One row per handoff that was held for a person; `closed_at` says that it no longer waits.
create table approval (
  handoff_id uuid primary key,
  task_id uuid not null,
  requested_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  decision text check (decision in ('approve', 'reject')),
  decided_by text,
  reason_code text,
  check ((decision is null) = (decided_by is null)),
  check (decision is null or closed_at is not null)
);
create index approval_waiting on approval (requested_at) where closed_at is null;

insert into approval (handoff_id, task_id, requested_at)
select id, task_id, created_at from handoff where ended_at is null and state = 'AWAITING_APPROVAL';

-- Which workers host which agent types now; a row that was not renewed for 30 s does not count.
create table agent_registration (
  type text not null,
  worker uuid not null,
  version text not null,
  requires text[] not null,
  capabilities text[] not null,
  mcp text[] not null,
  context_window integer,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (type, worker)
);
create index agent_registration_seen on agent_registration (seen_at);
