-- When a drill last passed, so that its age outlives the auditor and the days that leave the database.
-- Locks: a new table only. The grants take short locks on catalog rows.
-- Run by a superuser.

set local role audit_owner;

-- One row. Where none has passed yet it is when one began to be due.
create table audit.last_drill (
  id boolean primary key default true check (id),
  passed_at timestamptz not null default now()
);
insert into audit.last_drill default values;
select audit.guard('audit.last_drill', 'delete');

create function audit.store_passed_drill() returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  update audit.last_drill set passed_at = now()
$$;

revoke all on audit.last_drill from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.store_passed_drill to audit_writer;
grant select on audit.last_drill to audit_reader;

reset role;
