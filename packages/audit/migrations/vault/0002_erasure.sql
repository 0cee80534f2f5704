-- Erasure: who belongs to a set whose messages share a key, and which keys an erasure destroys.
-- Locks: access exclusive on vault.subject_key for an instant (a constraint is dropped, nothing is
-- rewritten); new tables otherwise. Run by a superuser.

set local role audit_owner;

-- Null once the map from the person to the key is gone; the key itself goes with the row.
alter table vault.subject_key alter column lookup drop not null;

-- The members of a set of people whose messages share a key: erasing one of them destroys it.
create table vault.subject_member (
  subject_ref uuid not null references vault.subject_key on delete cascade,
  member_lookup bytea not null,
  primary key (subject_ref, member_lookup)
);
create index subject_member_lookup on vault.subject_member (member_lookup);

-- Whom a planned erasure is about; deleted when it is carried out or given up.
create table vault.erasure (
  erasure_id uuid primary key,
  lookup bytea not null
);

-- The keys an erasure has taken from the map and destroys. Stays: after a restore they are destroyed again.
create table vault.erasure_key (
  erasure_id uuid not null,
  subject_ref uuid not null,
  primary key (erasure_id, subject_ref)
);

revoke all on vault.subject_member, vault.erasure, vault.erasure_key from public;
grant select, insert on vault.subject_member to vault_keeper;
grant delete on vault.subject_member to vault_keeper;
grant select, insert, delete on vault.erasure, vault.erasure_key to vault_keeper;
grant update (lookup) on vault.subject_key to vault_keeper;

reset role;
