-- What the re-reading of the cold store has reached and found. A verification reads the store itself and believes none of it.
-- Locks: two new tables only. The grants take short locks on catalog rows.
-- Run by a superuser.

set local role audit_owner;

create table audit.cold_watch (
  id boolean primary key default true check (id),
  reached jsonb not null
);
-- One row per bundle of a log (-1 is the seal log) of which an object is missing or changed; the last one may be partial.
create table audit.cold_fault (
  log smallint not null,
  bundle bigint not null,
  found_at timestamptz not null default now(),
  seq bigint not null,
  rule text not null,
  message text not null,
  primary key (log, bundle)
);
select audit.guard('audit.cold_watch', 'delete');
select audit.guard('audit.cold_fault', '');

create function audit.store_cold_watch(at_position jsonb) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into audit.cold_watch (reached) values (at_position)
    on conflict (id) do update set reached = excluded.reached
$$;

-- The time of a fault is when it was found first.
create function audit.store_cold_fault(
  of_log smallint, of_bundle bigint, at_seq bigint, of_rule text, of_message text
) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into audit.cold_fault (log, bundle, seq, rule, message)
    values (of_log, of_bundle, at_seq, of_rule, of_message)
    on conflict (log, bundle) do update
      set seq = excluded.seq, rule = excluded.rule, message = excluded.message
$$;

create function audit.clear_cold_fault(of_log smallint, of_bundle bigint) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from audit.cold_fault f where f.log = of_log and f.bundle = of_bundle
$$;

revoke all on audit.cold_watch, audit.cold_fault from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.store_cold_watch, audit.store_cold_fault, audit.clear_cold_fault
  to audit_archiver;
grant select on audit.cold_watch, audit.cold_fault to audit_reader, audit_archiver;

reset role;
