-- Erasure: which handoffs name a person, and which of them were erased.
-- Locks: access exclusive on handoff and checkpoint for an instant (nullable columns, nothing is
-- rewritten); share row exclusive on handoff_body while the trigger is added; then one pass over the
-- bodies, to list what stands there already. Roll-forward; never edited once landed.

-- Set when the text of a handoff was erased: its body, revisions and checkpoints are tombstones.
alter table handoff add column erased_at timestamptz;
alter table checkpoint add column erased_at timestamptz;

-- The key of the index below. Only its owner reads it: services ask `subject_lookup`.
create table subject_pepper (
  id boolean primary key default true check (id),
  pepper bytea not null
);
revoke all on subject_pepper from public, baton_app;
insert into subject_pepper (pepper)
values (sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

create function subject_lookup(subject text) returns bytea
  language sql stable strict security definer set search_path = pg_catalog, pg_temp as $$
  select sha256(p.pepper || sha256(p.pepper || convert_to(subject, 'UTF8'))) from public.subject_pepper p
$$;

-- The handoffs whose message names a person as a data subject.
create table handoff_subject (
  subject_lookup bytea not null,
  handoff_id uuid not null,
  primary key (subject_lookup, handoff_id)
);
create index handoff_subject_handoff on handoff_subject (handoff_id);

-- Written with the body, whatever wrote it: a send, a step, a correction or a redaction. Messages without
-- data subjects do not get here. What does not read as a message names nobody.
create function index_subjects() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  named json;
begin
  named := convert_from(new.body, 'UTF8')::json -> 'dataSubjects';
  if json_typeof(named) = 'array' then
    insert into public.handoff_subject (subject_lookup, handoff_id)
      select distinct public.subject_lookup(s), new.handoff_id from json_array_elements_text(named) s
      on conflict do nothing;
  end if;
  return null;
exception when data_exception then
  return null;
end $$;

create trigger index_subjects after insert or update on handoff_body for each row
  when (position('"dataSubjects":'::bytea in new.body) > 0) execute function index_subjects();

update handoff_body set body = body where position('"dataSubjects":'::bytea in body) > 0;

revoke all on function subject_lookup, index_subjects from public;
grant execute on function subject_lookup to baton_app;
