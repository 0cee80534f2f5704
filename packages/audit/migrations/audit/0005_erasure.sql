-- Erasure: what was asked, which subjects are closed, and which segments they had.
-- Locks: access exclusive on audit.payload for an instant, to exchange a trigger; waits for running
-- appends. New tables otherwise. Run by a superuser; the role audit_eraser exists already.

set local role audit_owner;

-- How far each erasure has come. Proves nothing: the chained records ERASURE_REQUESTED (20) and
-- ERASURE_COMPLETED (21) do. Names no person; the handoffs are needed again after a restore.
create table audit.erasure (
  id uuid primary key,
  state text not null check (state in
    ('PLANNED', 'DEFERRED', 'CONFIRMED', 'ERASED', 'COMPLETED')),
  basis text not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  confirmed_by text,
  confirmed_at timestamptz,
  completed_at timestamptz,
  handoff_ids uuid[] not null,
  task_ids uuid[] not null,
  receipt jsonb,
  check (state in ('PLANNED', 'DEFERRED') or confirmed_by <> requested_by)
);
create index erasure_open on audit.erasure (requested_at) where state in ('CONFIRMED', 'ERASED');

-- A subject that is closed gets no segment any more; its list of segments is final.
create table audit.erased_subject (
  subject_ref uuid primary key,
  erasure_id uuid not null references audit.erasure,
  erased_at timestamptz not null default now()
);
create table audit.erased_segment (
  chain smallint not null,
  seq bigint not null,
  segment smallint not null,
  subject_ref uuid not null references audit.erased_subject,
  primary key (chain, seq, segment)
);
create index erased_segment_subject on audit.erased_segment (subject_ref);
select audit.guard('audit.erased_subject', 'update or delete');
select audit.guard('audit.erased_segment', 'update or delete');

-- Payloads are deleted only where an erasure lists them.
create function audit.refuse_payload_change() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' and exists (
    select from audit.erased_segment e
    where (e.chain, e.seq, e.segment, e.subject_ref)
      = (old.chain, old.seq, old.segment, old.subject_ref)
  ) then
    return old;
  end if;
  raise exception '% of %.% is refused: no erasure names it', tg_op, tg_table_schema, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;

drop trigger refuse_change on audit.payload;
create trigger refuse_change before update or delete on audit.payload for each row
  execute function audit.refuse_payload_change();
alter table audit.payload enable always trigger refuse_change;
do $$
declare
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'audit.payload'::regclass loop
    execute format('alter table %s enable always trigger refuse_change', part);
  end loop;
end $$;

-- Closes subjects for a confirmed erasure and lists their segments: those in the hot store, and those
-- that the caller found in the cold one. Waits for appends under way, so that the list is final.
create function audit.close_subjects(
  of_erasure uuid, refs uuid[],
  cold_chains smallint[], cold_seqs bigint[], cold_segments smallint[], cold_refs uuid[]
) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtext('audit.erase'));
  if not exists (select from audit.erasure e where e.id = of_erasure
    and e.state <> 'PLANNED' and e.confirmed_by <> e.requested_by) then
    raise exception 'a second person has not confirmed this erasure'
      using errcode = 'insufficient_privilege';
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

-- Deletes the listed payloads of an erasure whose request stands in the log; answers how many.
create function audit.erase_payload(of_erasure uuid) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  deleted bigint;
begin
  if not exists (select from audit.record r where r.handoff_id = of_erasure and r.event = 20) then
    raise exception 'the erasure is not in the log' using errcode = 'insufficient_privilege';
  end if;
  delete from audit.payload p
    using audit.erased_segment s, audit.erased_subject e
    where e.erasure_id = of_erasure and s.subject_ref = e.subject_ref
      and p.chain = s.chain and p.seq = s.seq and p.segment = s.segment
      and p.subject_ref = s.subject_ref;
  get diagnostics deleted = row_count;
  return deleted;
end $$;

-- The only way into the log, as before; now a segment of a closed subject is refused.
create or replace function audit.append(
  chains smallint[], expected_sizes bigint[], expected_hashes bytea[],
  sizes bigint[], last_hashes bytea[], last_times timestamptz[], key_id text, signatures bytea[],
  record_chains smallint[], record_seqs bigint[], record_times timestamptz[],
  task_ids uuid[], handoff_ids uuid[], events smallint[], spent bigint[],
  bodies bytea[], hashes bytea[], keys uuid[], request_hashes bytea[], task_seqs integer[],
  segment_chains smallint[], segment_seqs bigint[], segment_numbers smallint[],
  segment_times timestamptz[], subject_refs uuid[], nonces bytea[], ciphertexts bytea[]
) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  current integer;
begin
  -- Whoever closes a subject waits for appends that are under way; later ones see it closed.
  if cardinality(segment_chains) > 0 then
    perform pg_advisory_xact_lock_shared(hashtext('audit.erase'));
    if exists (select from audit.erased_subject e where e.subject_ref = any(subject_refs)) then
      raise exception 'a segment has the key of an erased subject' using errcode = 'BT001';
    end if;
  end if;

  select count(*) into current from (
    select from audit.head h
      join unnest(chains, expected_sizes, expected_hashes) as e (chain, size, last_hash)
        on h.chain = e.chain
      where h.size = e.size and h.last_hash = e.last_hash
      order by h.chain for update of h
  ) locked;
  if current <> cardinality(chains) then
    return false;
  end if;

  update audit.head h
    set size = n.size, last_hash = n.last_hash, last_recorded_at = n.last_recorded_at
    from unnest(chains, sizes, last_hashes, last_times) as n (chain, size, last_hash, last_recorded_at)
    where h.chain = n.chain;

  insert into audit.idem (
    key, request_hash, chain, seq, recorded_at, record_hash, task_id, task_seq)
    select * from unnest(
      keys, request_hashes, record_chains, record_seqs, record_times, hashes, task_ids, task_seqs);

  insert into audit.record (
    chain, seq, recorded_at, task_id, handoff_id, event, spent_micro, body, record_hash)
    select * from unnest(
      record_chains, record_seqs, record_times, task_ids, handoff_ids, events, spent, bodies, hashes);

  insert into audit.batch_sig (chain, last_seq, first_seq, last_hash, key_id, signature)
    select n.chain, n.size - 1, n.expected, n.last_hash, append.key_id, n.signature
    from unnest(chains, sizes, expected_sizes, last_hashes, signatures)
      as n (chain, size, expected, last_hash, signature);

  if cardinality(segment_chains) > 0 then
    insert into audit.subject (subject_ref, first_recorded_at)
      select distinct on (s.ref) s.ref, s.at from unnest(subject_refs, segment_times) as s (ref, at)
      order by s.ref, s.at
      on conflict do nothing;

    insert into audit.payload (
      chain, seq, segment, recorded_at, subject_ref, nonce, ciphertext)
      select * from unnest(
        segment_chains, segment_seqs, segment_numbers, segment_times, subject_refs, nonces, ciphertexts);
  end if;
  return true;
end $$;

revoke all on audit.erasure, audit.erased_subject, audit.erased_segment from public;
revoke all on all functions in schema audit from public;
grant select, insert on audit.erasure to audit_eraser;
grant update (state, confirmed_by, confirmed_at, completed_at, handoff_ids, task_ids, receipt) on audit.erasure to audit_eraser;
grant select on audit.erased_subject, audit.erased_segment, audit.head, audit.record, audit.payload,
  audit.batch_sig, audit.idem, audit.legal_hold to audit_eraser;
grant execute on function audit.close_subjects, audit.erase_payload to audit_eraser;
grant select on audit.erasure, audit.erased_subject, audit.erased_segment
  to audit_reader, audit_archiver;

reset role;
