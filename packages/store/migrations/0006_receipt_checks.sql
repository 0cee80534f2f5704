-- How far the receipts of executions have been compared with the audit log; one row.
-- Locks: a new table only.

create table receipt_check (
  id boolean primary key default true check (id),
  after_handoff uuid not null,
  checked_at timestamptz not null
);
