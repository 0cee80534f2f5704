-- Nobody holds a lock that stops the log: what functions of the log wait for is locked through tables on
-- which no role has the right to such a lock, and what every role may do in any database is taken back.
-- Locks: no table that is in use; functions are exchanged, and the grants take short locks on catalog rows.
-- Run by a superuser, while no erasure is being carried out: an append that began before still has the lock
-- of before.

-- Postgres lets everybody take advisory locks, which also fill the lock table of the whole server, make
-- large objects, write to the WAL, and end other sessions of the same role. Nothing here needs any of it.
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

set local role audit_owner;

-- Makes the daily partitions from yesterday to seven days ahead; answers how many it made. Waits for
-- nobody who reads or appends, and keeps nobody waiting: a partition is made apart and then attached.
create or replace function audit.extend_partitions() returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  parent text;
  day date;
  name text;
  made integer := 0;
begin
  foreach parent in array array['record', 'payload'] loop
    for ahead in -1..7 loop
      day := (now() at time zone 'UTC')::date + ahead;
      name := parent || to_char(day, '_YYYYMMDD');
      continue when to_regclass('audit.' || name) is not null;
      -- One at a time: this mode conflicts with itself, and with no append and no reader.
      lock table only audit.record in share update exclusive mode;
      continue when to_regclass('audit.' || name) is not null;
      execute format('create table audit.%I (like audit.%I including constraints including storage)',
        name, parent);
      execute format('alter table audit.%I attach partition audit.%I for values from (%L) to (%L)',
        parent, name, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
      perform audit.guard(to_regclass('audit.' || name), '');
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

-- Drops one day of records and payloads from the hot store, and answers how many records that were.
-- The record PARTITION_DROPPED (35) of that day must stand in the log already. While it looks, only that
-- day and legal holds are locked. Then appends wait while it waits for those who read: twice a quarter of a
-- second at most; then it gives up and is tried again.
create or replace function audit.drop_day(
  day date, hot_days integer, record_chain smallint, record_seq bigint
) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '250ms' as $$
declare
  name text := to_char(day, 'YYYYMMDD');
  since timestamptz := (day || ' 00:00:00+00')::timestamptz;
  till timestamptz := (day + 1 || ' 00:00:00+00')::timestamptz;
  obstacle text;
  dropped bigint;
begin
  if to_regclass('audit.record_' || name) is null then
    return 0;
  end if;
  execute format('lock table audit.%I, audit.%I in share mode', 'record_' || name, 'payload_' || name);
  lock table audit.legal_hold in share mode;
  obstacle := audit.drop_obstacle(day, hot_days);
  if obstacle is null and not exists (
    select from audit.record r
    where r.chain = record_chain and r.seq = record_seq and r.event = 35 and r.recorded_at >= till
      and convert_from(r.body, 'UTF8')::jsonb ->> 'reason' = 'DAY_' || name
  ) then
    obstacle := 'NOT_RECORDED';
  end if;
  if obstacle is not null then
    raise exception 'day % stays: %', name, obstacle using errcode = 'insufficient_privilege';
  end if;
  select count(*) into dropped from audit.record r
    where r.recorded_at >= since and r.recorded_at < till;
  update audit.archive a set hot_from = greatest(a.hot_from, d.last + 1)
    from (select r.chain, max(r.seq) as last from audit.record r
      where r.recorded_at >= since and r.recorded_at < till group by r.chain) d
    where a.log = d.chain;
  lock table only audit.record, only audit.payload in access exclusive mode;
  execute format('drop table audit.%I, audit.%I', 'record_' || name, 'payload_' || name);
  return dropped;
end $$;

-- Closes subjects for a confirmed erasure and lists their segments: those in the hot store, and those
-- that the caller found in the cold one. Waits for appends under way, so that the list is final: every
-- append of segments holds this table in a mode that conflicts with the one here.
create or replace function audit.close_subjects(
  of_erasure uuid, refs uuid[],
  cold_chains smallint[], cold_seqs bigint[], cold_segments smallint[], cold_refs uuid[]
) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  lock table audit.erased_subject in exclusive mode;
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

-- The only way into the log, as before; only what waits for it is another lock.
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
  -- Whoever closes a subject waits for appends that are under way; later ones see it closed. Roles with
  -- the right to read get no lock that conflicts with this one.
  if cardinality(segment_chains) > 0 then
    lock table audit.erased_subject in row share mode;
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

-- The auditor sees how far its log is sealed with the role that it appends with, so that appends do not
-- depend on a role that people have too. Of a record it reads where it stands and when it was written.
grant select on audit.seal, audit.chain_checkpoint, audit.witnessed to audit_writer;
grant select (chain, seq, recorded_at) on audit.record to audit_writer;

reset role;
