-- With which key the processes of a kind signed handoffs when they said so last, so that the next one says which key it follows.
-- Locks: access exclusive on recorded_settings for an instant. Roll-forward; never edited once landed.

-- The name of the key, nothing of its secret; null until a process of this version has begun, and where it has too many keys to name.
alter table recorded_settings add column signing_key text;

-- As record_settings, which processes of earlier versions call; both keys are taken from the records themselves.
create function tell_settings(
  process text, id uuid, handoff_id uuid, entry text, out changed boolean, out signed_before text, out signs_now text
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  select split_part(d ->> 'value', ':', 1) into signs_now
    from json_array_elements(entry::json #> '{operation,details}') d
    where d ->> 'code' = 'SIGNING_KEY' and d ->> 'value' like '%:active' limit 1;
  select r.signing_key into signed_before
    from public.recorded_settings r where r.process = tell_settings.process for update;
  changed := public.record_settings(process, id, handoff_id, entry);
  update public.recorded_settings r set signing_key = signs_now
    where r.process = tell_settings.process and r.signing_key is distinct from signs_now;
end $$;
revoke execute on function tell_settings from public;
grant execute on function tell_settings to baton_app;
