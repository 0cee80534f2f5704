-- One row per data subject: the wrapped key of its segments and the only way back to who it is.
-- Deleting the row makes the segments unreadable for ever. Locks nothing that is in use.
-- Run by a superuser; everything belongs to audit_owner, who cannot log in.

create schema vault authorization audit_owner;
revoke all on schema public from public;
set local role audit_owner;

create table vault.subject_key (
  subject_ref uuid primary key,
  -- HMAC of the subject's id: finds the row, tells nothing without the lookup key.
  lookup bytea not null unique,
  wrapped_key bytea not null,
  wrapping_key_id text not null,
  created_at timestamptz not null default now()
);

revoke all on all tables in schema vault from public;
grant usage on schema vault to vault_keeper;
grant select, insert, delete on vault.subject_key to vault_keeper;

reset role;
