-- Returns, revisions and resumption: what a sender is told, what it corrected, what it took up again.
-- Locks: creates new tables and indexes on them; brief ACCESS EXCLUSIVE locks on handoff, execution and
-- checkpoint while columns with constant defaults and an unvalidated check are added (no rewrite, no
-- scan). The unique index on handoff scans the table once under a SHARE lock. Roll-forward.

-- How often the message was corrected; 1 is the message as it was first sent.
alter table handoff add column revision integer not null default 1;
-- Digest of what the sender asked for with the last correction; a repeated correction is recognised.
alter table handoff add column revision_sha256 bytea;
-- The rolled-back or expired handoff that this one takes up again.
alter table handoff add column resumes_id uuid;
create unique index handoff_resumes on handoff (resumes_id) where resumes_id is not null;

-- The oldest publication that may still be claimed: a claim that read the body before it was replaced
-- comes too late, however long it waited for the row.
alter table execution add column generation integer not null default 0;

-- A sender without a checkpoint cannot hand off.
alter table checkpoint add constraint checkpoint_not_empty check (octet_length(body) > 0) not valid;

-- The exact signed bytes that a correction replaced.
create table handoff_revision (
  handoff_id uuid not null,
  revision integer not null,
  body bytea not null,
  body_sha256 bytea not null,
  asked_sha256 bytea not null,
  key_id text not null,
  signature text not null,
  checkpoint_id uuid not null,
  replaced_at timestamptz not null default clock_timestamp(),
  primary key (handoff_id, revision)
);
alter table handoff_revision alter column body set storage external;

-- What a sender has to be told: taken with a lease, told at least once, bounded in age and in takes.
create table sender_notice (
  id uuid primary key,
  kind text not null check (kind in ('return', 'rollback')),
  handoff_id uuid not null,
  task_id uuid not null,
  from_agent text not null,
  attempt integer not null,
  revision integer not null,
  reason text not null,
  details jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz,
  taker text,
  takes integer not null default 0,
  acknowledged_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index sender_notice_waiting on sender_notice (from_agent, created_at)
  where acknowledged_at is null;
create index sender_notice_handoff on sender_notice (handoff_id) where acknowledged_at is null;
create index sender_notice_age on sender_notice (created_at);
create index sender_notice_done on sender_notice (acknowledged_at) where acknowledged_at is not null;
