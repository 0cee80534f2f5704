-- By which scanner the processes of a kind judge, told to the audit log whenever that changes, and which artefacts it has had: their
-- versions only rise, also over restarts.
-- Locks: none on what is there. Roll-forward; never edited once landed.

create table if not exists recorded_ruleset (
  process text primary key,
  ruleset text not null check (ruleset ~ '^[0-9a-f]{64}$'),
  -- The highest artefact that was ever activated; 0 and null until there was one.
  artefact_version integer not null default 0,
  artefact_sha256 text check (artefact_sha256 ~ '^[0-9a-f]{64}$'),
  recorded_at timestamptz not null default clock_timestamp()
);
revoke insert, update, delete on recorded_ruleset from baton_app;

-- Says that processes of a kind judge by another scanner, with the record of just that: `told`; `known` where the log has it already;
-- `other` where the record says that it followed another one than it does; `not_rising` where the artefact is older than one that was
-- activated, or another one of its version.
create or replace function tell_ruleset(process text, id uuid, handoff_id uuid, entry text, out told text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  said jsonb := (select jsonb_object_agg(d ->> 'code', d ->> 'value')
    from jsonb_array_elements(entry::jsonb #> '{operation,details}') d);
  version integer := coalesce((said ->> 'ARTEFACT_VERSION')::integer, 0);
  before public.recorded_ruleset;
begin
  if (entry::jsonb ->> 'event', entry::jsonb #>> '{operation,subject}') is distinct from ('RULESET_ACTIVATED', process) then
    raise exception 'this is no record of the scanner of %', process using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('recorded_ruleset ' || process, 0));
  select * into before from public.recorded_ruleset r where r.process = tell_ruleset.process;
  if version > 0 and before.process is not null and (version < before.artefact_version
    or (version = before.artefact_version and said ->> 'ARTEFACT_SHA256' is distinct from before.artefact_sha256)) then
    told := 'not_rising';
  elsif before.ruleset = said ->> 'TO' and version in (0, before.artefact_version) then
    told := 'known';
  elsif before.ruleset is distinct from said ->> 'FROM' then
    told := 'other';
  else
    insert into public.recorded_ruleset as r (process, ruleset, artefact_version, artefact_sha256)
      values (tell_ruleset.process, said ->> 'TO', version, said ->> 'ARTEFACT_SHA256')
      on conflict on constraint recorded_ruleset_pkey do update set ruleset = excluded.ruleset, recorded_at = clock_timestamp(),
        artefact_version = greatest(r.artefact_version, excluded.artefact_version),
        artefact_sha256 = coalesce(excluded.artefact_sha256, r.artefact_sha256);
    insert into public.audit_outbox (id, handoff_id, entry)
      values (tell_ruleset.id, tell_ruleset.handoff_id, tell_ruleset.entry);
    told := 'told';
  end if;
end $$;
revoke execute on function tell_ruleset from public;
grant execute on function tell_ruleset to baton_app;
