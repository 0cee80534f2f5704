-- A hold ends where a seal covers its lift, and an erasure takes what its record names. Before, whoever held the role that
-- appends lifted a hold at once by a record that nobody signed, and whoever held the eraser's role could put others among the
-- subjects of an erasure that was recorded already.
-- Locks: access exclusive on audit.legal_hold and share row exclusive on audit.chain_checkpoint for an instant (nullable
-- columns, a trigger). Run by a superuser, while no erasure is being carried out.

set local role audit_owner;

-- Where the lift stands that no seal covers yet. Sealers sign batches of append services alone: a lift that nobody signed stays
-- here, and holds.
alter table audit.legal_hold add column lifted_chain smallint, add column lifted_seq bigint;

-- A hold counts at once. Of two, the first that was not lifted is the one that holds.
create or replace function audit.follow_hold() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.event = 36 then
    insert into audit.legal_hold as h (task_id, chain, seq, held_at)
      values (new.task_id, new.chain, new.seq, new.recorded_at)
      on conflict (task_id) do update
        set chain = excluded.chain, seq = excluded.seq, held_at = excluded.held_at, lifted_chain = null, lifted_seq = null
        where h.lifted_seq is not null;
  else
    update audit.legal_hold h set lifted_chain = new.chain, lifted_seq = new.seq
      where h.task_id = new.task_id and h.lifted_seq is null;
  end if;
  return null;
end $$;

create function audit.end_lifted_holds() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from audit.legal_hold h where h.lifted_chain = new.chain and h.lifted_seq < new.size;
  return null;
end $$;
create trigger end_lifted_holds after insert or update on audit.chain_checkpoint for each row
  execute function audit.end_lifted_holds();
alter table audit.chain_checkpoint enable always trigger end_lifted_holds;

-- Closes subjects for a confirmed erasure and lists their segments, as before. Once its record is in the log, the list is final.
create or replace function audit.close_subjects(
  of_erasure uuid, refs uuid[],
  cold_chains smallint[], cold_seqs bigint[], cold_segments smallint[], cold_refs uuid[]
) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  lock table audit.erased_subject in exclusive mode;
  if not exists (select from audit.erasure e where e.id = of_erasure
    and e.state = 'CONFIRMED' and e.confirmed_by <> e.requested_by) then
    raise exception 'a second person has not confirmed this erasure'
      using errcode = 'insufficient_privilege';
  end if;
  if exists (select from audit.record r where r.handoff_id = of_erasure and r.event = 20) then
    return;
  end if;
  insert into audit.erased_subject (subject_ref, erasure_id)
    select r.ref, of_erasure from unnest(refs) as r (ref) order by r.ref on conflict do nothing;
  insert into audit.erased_segment (chain, seq, segment, subject_ref)
    select p.chain, p.seq, p.segment, p.subject_ref from audit.payload p
    where p.subject_ref = any(refs)
    union
    select * from unnest(cold_chains, cold_seqs, cold_segments, cold_refs) as c (chain, seq, segment, ref)
    where c.ref = any(refs)
    on conflict do nothing;
end $$;

-- Deletes the payloads of the subjects that the request in the log names; answers how many.
create or replace function audit.erase_payload(of_erasure uuid) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  deleted bigint;
begin
  if not exists (select from audit.record r where r.handoff_id = of_erasure and r.event = 20) then
    raise exception 'the erasure is not in the log' using errcode = 'insufficient_privilege';
  end if;
  delete from audit.payload p
    using audit.erased_segment s, audit.erased_subject e, (
      select distinct (convert_from(r.body, 'UTF8')::jsonb #>> '{erasure,subjectRef}')::uuid as subject_ref
      from audit.record r where r.handoff_id = of_erasure and r.event = 20
    ) told
    where e.erasure_id = of_erasure and e.subject_ref = told.subject_ref and s.subject_ref = e.subject_ref
      and p.chain = s.chain and p.seq = s.seq and p.segment = s.segment
      and p.subject_ref = s.subject_ref;
  get diagnostics deleted = row_count;
  return deleted;
end $$;

revoke all on function audit.end_lifted_holds from public;

reset role;
