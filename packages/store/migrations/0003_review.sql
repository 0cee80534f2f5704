-- Review of dead letters: who sent, what the judge saw, votes, releases and re-drives.
-- Locks: access exclusive on handoff and dead_letter for an instant; the columns take no default, so
-- nothing is rewritten. The update touches each dead letter once. Roll-forward; never edited once landed.

-- The operator whose API key sent it; nobody reviews a handoff of their own.
alter table handoff add column sent_by text;
-- The release under which it may pass the safety check; set to null by whatever ends it without effect.
alter table handoff add column release_id uuid;

-- A release that failed or a revision brings the same handoff back: the next round, decided anew.
alter table dead_letter add column round integer not null default 1;
alter table dead_letter add column epoch integer;
alter table dead_letter add column attempt integer;
-- The bytes and the scanner that were judged; a release is bound to both.
alter table dead_letter add column message_sha256 bytea;
alter table dead_letter add column artefact_id text;
-- The reason with its rules and places, array indexes left out: equal ones have one cause.
alter table dead_letter add column cluster text;
alter table dead_letter add column asked_at timestamptz;
update dead_letter set cluster = reason;
create index dead_letter_cluster on dead_letter (cluster, created_at) where resolved_at is null;

-- One row per person and proposal. What is proposed is stored, so that the second person can see it.
create table review_vote (
  id uuid primary key,
  handoff_id uuid not null references dead_letter,
  round integer not null,
  action text not null check (action in ('RELEASE', 'REDACT')),
  proposal_sha256 bytea not null,
  proposal jsonb not null,
  reviewer text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (handoff_id, round, action, proposal_sha256, reviewer)
);

-- The signed permission to pass the safety check once: for these bytes, this scanner, until then.
create table release (
  id uuid primary key,
  handoff_id uuid not null references dead_letter,
  body_sha256 bytea not null,
  artefact_id text not null,
  reason text not null,
  reviewers text[] not null,
  expires_at timestamptz not null,
  key_id text not null,
  signature text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index release_handoff on release (handoff_id);

-- A bulk re-drive: first its canary, then the rest at its rate. The sweeper advances it.
create table redrive (
  id uuid primary key,
  state text not null check (state in ('CANARY', 'RUNNING', 'DONE', 'STOPPED', 'CANCELED')),
  cluster text,
  created_by text not null,
  rate_per_second integer not null check (rate_per_second between 1 and 100),
  next_at timestamptz not null default clock_timestamp(),
  canary_until timestamptz not null,
  stopped_by text,
  why jsonb,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create index redrive_open on redrive (next_at) where ended_at is null;

create table redrive_letter (
  redrive_id uuid not null references redrive,
  position integer not null,
  handoff_id uuid not null,
  round integer not null,
  canary boolean not null,
  state text not null default 'WAITING' check (state in ('WAITING', 'DRIVEN', 'SKIPPED')),
  act_id uuid not null,
  primary key (redrive_id, position)
);
-- A letter waits in one re-drive at a time.
create unique index redrive_letter_waiting on redrive_letter (handoff_id) where state = 'WAITING';
