-- What Postgres lets everybody do in any database is taken back: advisory locks, which also fill the lock
-- table of the whole server, large objects, writing to the WAL, and ending other sessions of the same role.
-- Locks nothing that is in use. Run by a superuser.

do $$
declare
  everyones regprocedure;
begin
  for everyones in select p.oid from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and (p.proname ~ '^pg_(try_)?advisory_'
      or p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message',
        'pg_cancel_backend', 'pg_terminate_backend'))
  loop
    execute format('revoke execute on function %s from public', everyones);
  end loop;
end $$;
