-- The role that appends can only continue chains: what it adds stands record by record where a chain ended, with times of
-- now, in chains that it names. A head without its records, a record without its chain and a time of the year 9999 are refused.
-- Locks: none; a call that is under way ends as it began.

set local role audit_owner;

-- The only way into the log: whoever holds its role continues chains, one record after the other, and does nothing else.
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
  continued bigint;
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

  -- Every record stands in one chain that is named and continues it: its place, its time, the last one's hash. A time is
  -- ahead of this clock by a minute at most, or where a chain stands further ahead already, next to what is there.
  select coalesce(sum(g.records), 0) into continued
  from unnest(chains, expected_sizes, sizes, last_hashes, last_times)
      as n (chain, expected, size, last_hash, last_time)
    join audit.head h on h.chain = n.chain
    cross join lateral (
      select count(*) as records,
        bool_and(r.seq = n.expected + r.place - 1 and r.recorded_at > coalesce(r.before, h.last_recorded_at)) as goes_on,
        (array_agg(r.hash order by r.seq desc))[1] as last_hash,
        max(r.recorded_at) as last_time
      from (
        select u.*, row_number() over in_order as place, lag(u.recorded_at) over in_order as before
        from unnest(record_chains, record_seqs, record_times, hashes) as u (chain, seq, recorded_at, hash)
        where u.chain = n.chain
        window in_order as (order by u.seq)
      ) r
    ) g
  where g.goes_on and n.size = n.expected + g.records
    and n.last_hash = g.last_hash and n.last_time = g.last_time
    and n.last_time <= greatest(
      clock_timestamp() + interval '1 minute', h.last_recorded_at + g.records * interval '1 microsecond');
  if continued <> cardinality(record_seqs) or continued > 10000 or cardinality(chains) > 1000
    or exists (select c from unnest(chains) as c group by c having count(*) > 1)
    or exists (select from unnest(chains) as c where c <> all (record_chains))
  then
    raise exception 'what is appended does not continue its chains' using errcode = 'check_violation';
  end if;
  if exists (
    select from unnest(segment_chains, segment_seqs, segment_times) as s (chain, seq, recorded_at)
    where not exists (
      select from unnest(record_chains, record_seqs, record_times) as r (chain, seq, recorded_at)
      where (r.chain, r.seq, r.recorded_at) = (s.chain, s.seq, s.recorded_at))
  ) then
    raise exception 'a segment belongs to no record of this call' using errcode = 'check_violation';
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
    insert into audit.payload (
      chain, seq, segment, recorded_at, subject_ref, nonce, ciphertext)
      select * from unnest(
        segment_chains, segment_seqs, segment_numbers, segment_times, subject_refs, nonces, ciphertexts);
  end if;
  return true;
end $$;

reset role;
