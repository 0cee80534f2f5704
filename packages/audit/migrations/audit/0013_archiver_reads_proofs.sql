-- The archiver proves from the records who is held before it drops or expires anything: it reads the hashes that lead to signed heads.
-- Locks: a catalog row for an instant. Run by a superuser.

set local role audit_owner;
grant select on audit.tree_hash to audit_archiver;
reset role;
