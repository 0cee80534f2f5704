-- What people decided, and signed, is noted as what was done to the installation is: doctor finds what never came to the log.
-- Locks: access exclusive on audit_outbox and told_operation for an instant. Roll-forward; never edited once landed.

alter table told_operation add column epoch integer not null default 0;

create or replace function note_operation() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  entry jsonb := new.entry::jsonb;
begin
  if entry ? 'operation' or entry #> '{act,signed}' is not null then
    insert into public.told_operation (id, event, handoff_id, act_id, epoch)
      values (new.id, entry ->> 'event', new.handoff_id, (entry #>> '{act,id}')::uuid, (entry ->> 'epoch')::integer);
    delete from public.told_operation where id in (select t.id from public.told_operation t
      where t.told_at < clock_timestamp() - interval '90 days' order by t.told_at limit 10 for update skip locked);
  end if;
  return null;
end $$;
drop trigger note_operation on audit_outbox;
create trigger note_operation after insert on audit_outbox for each row
  when (strpos(new.entry, '"operation":') > 0 or strpos(new.entry, '"signed":') > 0) execute function note_operation();
