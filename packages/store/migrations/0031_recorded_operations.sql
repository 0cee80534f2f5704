-- Which settings of which process, and which migrations, the audit log has been told of: each is recorded once, with what it tells of.
-- Locks: none on what is there. Roll-forward; never edited once landed.

-- By the kind of process: the digest of what its record says.
create table recorded_settings (
  process text primary key,
  sha256 bytea not null check (octet_length(sha256) = 32),
  recorded_at timestamptz not null default clock_timestamp()
);
revoke delete on recorded_settings from baton_app;

create table recorded_migration (
  name text primary key,
  recorded_at timestamptz not null default clock_timestamp()
);
-- Only who migrates says so.
revoke insert, update, delete on recorded_migration from baton_app;
