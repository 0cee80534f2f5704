-- What delivers hides less: records of what was done to the installation are noted where it cannot forget them, settings cannot be
-- called recorded without their record, and nobody who sent a handoff is taken out of it.
-- Locks: access exclusive on audit_outbox and handoff for an instant. Roll-forward; never edited once landed.

-- Whoever delivers brings records to the log and forgets them in audit_outbox then. What is noted here is kept for 90 days, so that
-- `doctor` finds what never came there.
create table told_operation (
  -- That of its row in audit_outbox.
  id uuid primary key,
  event text not null,
  handoff_id uuid not null,
  act_id uuid not null,
  told_at timestamptz not null default clock_timestamp()
);
create index told_operation_age on told_operation (told_at);
revoke insert, update, delete on told_operation from baton_app;

create function note_operation() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  entry jsonb := new.entry::jsonb;
begin
  if entry ? 'operation' then
    insert into public.told_operation (id, event, handoff_id, act_id)
      values (new.id, entry ->> 'event', new.handoff_id, (entry #>> '{act,id}')::uuid);
    delete from public.told_operation where id in (select t.id from public.told_operation t
      where t.told_at < clock_timestamp() - interval '90 days' order by t.told_at limit 10 for update skip locked);
  end if;
  return null;
end $$;
create trigger note_operation after insert on audit_outbox for each row
  when (strpos(new.entry, '"operation":') > 0) execute function note_operation();
-- A record is stored and forgotten; nobody changes one that waits.
revoke update on audit_outbox from baton_app;

-- Says what a process began with, where that is something else than before: its digest is of the very details that are recorded.
create function record_settings(process text, id uuid, handoff_id uuid, entry text) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  digest bytea := sha256(convert_to((entry::json #> '{operation,details}')::text, 'UTF8'));
begin
  if (entry::json ->> 'event', entry::json #>> '{operation,subject}') is distinct from ('SETTINGS_CHANGED', process) then
    raise exception 'this is no record of the settings of %', process using errcode = 'insufficient_privilege';
  end if;
  insert into public.recorded_settings as r (process, sha256) values (record_settings.process, digest)
    on conflict on constraint recorded_settings_pkey do update set sha256 = excluded.sha256, recorded_at = clock_timestamp()
    where r.sha256 <> excluded.sha256;
  if not found then
    return false;
  end if;
  insert into public.audit_outbox (id, handoff_id, entry)
    values (record_settings.id, record_settings.handoff_id, record_settings.entry);
  return true;
end $$;
revoke execute on function record_settings from public;
grant execute on function record_settings to baton_app;
revoke insert, update on recorded_settings from baton_app;

-- Of those who sent a handoff, or what it was corrected from, none is ever left out: nobody of them decides about it.
create function keep_senders() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not (array_remove(old.earlier_senders || old.sent_by, null) <@ array_remove(new.earlier_senders || new.sent_by, null)) then
    raise exception 'who sent handoff % stays among its senders', old.id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger keep_senders before update of sent_by, earlier_senders on handoff for each row execute function keep_senders();
