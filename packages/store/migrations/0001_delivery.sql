-- The operational database: tasks, handoffs and what is needed to deliver each of them once.
-- Locks: creates new tables only. Roll-forward; never edited once landed.

create table task (
  id uuid primary key,
  status text not null check (status in
    ('PENDING_HANDOFF', 'RUNNING', 'AWAITING_HUMAN', 'COMPLETED', 'FAILED', 'CANCELED')),
  checkpoint_id uuid,
  next_seq integer not null default 1,
  failed_handoffs integer not null default 0,
  budget_micro_usd bigint not null check (budget_micro_usd >= 0),
  spent_micro_usd bigint not null default 0,
  result text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
) with (fillfactor = 80);
create index task_recent on task (created_at desc);

-- The sender's saved state; a rollback hands these exact bytes back.
create table checkpoint (
  id uuid primary key,
  task_id uuid not null,
  body bytea not null,
  sha256 bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
alter table checkpoint alter column body set storage external;

create table handoff (
  id uuid primary key,
  task_id uuid not null references task,
  task_seq integer not null,
  parent_id uuid,
  from_agent text not null,
  from_version text not null,
  from_execution uuid not null,
  to_agent text not null,
  to_version text,
  priority smallint not null check (priority between 0 and 3),
  state text not null check (state in
    ('QUEUED', 'AWAITING_APPROVAL', 'DISPATCHED', 'ACCEPTED', 'EXECUTING', 'COMPLETED', 'PARTIAL',
     'FAILED', 'REJECTED', 'BLOCKED', 'EXPIRED', 'CANCELED', 'DEAD_LETTERED', 'ROLLED_BACK')),
  reason text,
  generation integer not null default 1,
  attempt integer not null default 1,
  attempts_max integer not null,
  checkpoint_id uuid not null,
  body_sha256 bytea not null,
  request_sha256 bytea not null,
  body_bytes integer not null,
  key_id text not null,
  signature text not null,
  traceparent text not null,
  tracestate text,
  expires_at timestamptz,
  spent_micro_usd bigint not null,
  remaining_micro_usd bigint not null,
  cancel_requested boolean not null default false,
  last_error jsonb,
  created_at timestamptz not null default clock_timestamp(),
  queued_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  accepted_at timestamptz,
  ended_at timestamptz,
  unique (task_id, task_seq)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
-- Only handoffs that are still under way stand in these, so they stay small for ever. They name no
-- column that changes when an execution starts, so that step touches no index.
create index handoff_open on handoff (task_id, task_seq) where ended_at is null;
create index handoff_dispatched on handoff (dispatched_at)
  where ended_at is null and dispatched_at is not null;
create index handoff_expiring on handoff (expires_at)
  where ended_at is null and expires_at is not null;

-- The exact signed bytes (RFC 8785, without the signature member).
create table handoff_body (
  handoff_id uuid primary key,
  body bytea not null
);
alter table handoff_body alter column body set storage external;

-- One row per publication that has not reached the queue yet; the relay claims by deleting.
create table outbox (
  seq bigint generated always as identity primary key,
  handoff_id uuid not null,
  task_id uuid not null,
  generation integer not null,
  queue text not null,
  priority smallint not null,
  sha256 bytea not null,
  bytes integer not null,
  traceparent text not null,
  tracestate text,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_limit = 2000);
create index outbox_claim on outbox (queue, priority, seq);

-- Work that waits for its time stays out of the hot index.
create table retry (
  handoff_id uuid primary key,
  due timestamptz not null
);
create index retry_due on retry (due);

-- One claimed attempt to execute a handoff. `epoch` is the fencing token: an effect commits only
-- where the epoch is still the committer's own. Nothing executes without an audit receipt.
create table execution (
  handoff_id uuid primary key,
  epoch integer not null,
  status text not null check (status in ('CLAIMED', 'EXECUTING', 'DONE', 'ABANDONED')),
  owner uuid not null,
  lease_until timestamptz not null,
  lapses integer not null default 0,
  audit_origin text,
  audit_seq bigint,
  audit_hash bytea,
  result text,
  cost_micro_usd bigint not null default 0,
  check (status <> 'EXECUTING' or audit_hash is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index execution_leased on execution (lease_until) where status in ('CLAIMED', 'EXECUTING');

-- A rejected handoff handed back to its sender, with what was wrong and where.
create table handoff_return (
  handoff_id uuid not null,
  attempt integer not null,
  reason text not null,
  details jsonb not null,
  retry_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (handoff_id, attempt)
);

create table dead_letter (
  handoff_id uuid primary key,
  task_id uuid not null,
  reason text not null,
  details jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz,
  resolution text
);
create index dead_letter_waiting on dead_letter (created_at) where resolved_at is null;

create table alert (
  id bigint generated always as identity primary key,
  kind text not null,
  handoff_id uuid not null,
  task_id uuid not null,
  reason text not null,
  created_at timestamptz not null default clock_timestamp()
);

create table escalation (
  handoff_id uuid primary key,
  task_id uuid not null,
  attempts integer not null,
  reason text not null,
  created_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);

-- Lifecycle events that must still reach the audit store; they commit with what they tell of.
create table audit_outbox (
  id uuid primary key,
  handoff_id uuid not null,
  entry text not null,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index audit_outbox_age on audit_outbox (created_at);

-- One answer per Idempotency-Key of the HTTP gateway.
create table idempotency_key (
  api_key_id text not null,
  key text not null,
  request_sha256 bytea not null,
  handoff_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (api_key_id, key)
);
