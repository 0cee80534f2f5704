-- Streams: what executions of a handoff yield while they run, in numbered chunks that are read as they come.
-- Locks: a new table; `alter table` takes ACCESS EXCLUSIVE on execution for an instant (constant defaults, no rewrite).
-- Roll-forward; never edited once landed.

create table stream_chunk (
  handoff_id uuid not null,
  -- From 1 without gaps, over all attempts of the handoff.
  seq integer not null check (seq between 1 and 10000),
  -- Under which it was committed.
  fencing_token integer not null,
  -- Canonical JSON (RFC 8785) of its content and kind.
  body bytea not null check (octet_length(body) <= 65536),
  sha256 bytea not null generated always as (sha256(body)) stored,
  created_at timestamptz not null default clock_timestamp(),
  primary key (handoff_id, seq)
);

-- How many chunks of the handoff are committed, and their bytes. They stand beside the fencing token, so that a chunk and
-- what settles the execution exclude each other.
alter table execution add column chunks integer not null default 0;
alter table execution add column chunk_bytes bigint not null default 0;
