-- What the auditor signed of an erasure: when it was planned, and again when a second person confirmed it. The column has
-- been there for the latter alone, and unused.
-- Locks: audit.erasure for an instant. Run by a superuser, while no erasure is being carried out: those that were confirmed
-- before and are not through are refused afterwards.

set local role audit_owner;
alter table audit.erasure rename column confirmation to signed;
reset role;
