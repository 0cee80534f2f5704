-- Rotation of the wrapping and the lookup key: which key each row is under, and what re-indexing in the background needs.
-- Locks: access exclusive on the four tables for an instant (nothing is rewritten) and while the indexes are made.
-- Run by a superuser.

set local role audit_owner;

-- An empty id: from before ids were kept. The auditor writes in the id of the earliest key that it has.
alter table vault.subject_key add column lookup_key_id text not null default '';
-- The name that `lookup` is of, and those of the members of a set, encrypted with the subject's own key: it goes with that key.
alter table vault.subject_key add column sealed_names bytea;
create index subject_key_by_wrapping_key on vault.subject_key (wrapping_key_id, subject_ref);
create index subject_key_by_lookup_key on vault.subject_key (lookup_key_id, subject_ref);

-- While the lookup key changes, every subject is found under each key: one row here for each of them.
alter table vault.subject_member add column lookup_key_id text not null default '';
create index subject_member_by_lookup_key on vault.subject_member (lookup_key_id);

alter table vault.erasure add column lookup_key_id text not null default '';
alter table vault.erasure drop constraint erasure_pkey;
alter table vault.erasure add primary key (erasure_id, lookup);

-- The key that digests of requests are under comes from a lookup key and outlives it: the index of the log is never written anew.
create table vault.request_key (
  lookup_key_id text primary key,
  wrapped_key bytea not null,
  wrapping_key_id text not null
);

revoke all on vault.request_key from public;
grant update (wrapped_key, wrapping_key_id, lookup_key_id, sealed_names) on vault.subject_key to vault_keeper;
grant update (lookup_key_id) on vault.subject_member, vault.erasure to vault_keeper;
grant select, insert on vault.request_key to vault_keeper;
grant update (wrapped_key, wrapping_key_id) on vault.request_key to vault_keeper;

reset role;
