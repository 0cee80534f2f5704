-- State that follows from the log is compared with it: what nothing reads is gone, what an action rests on is signed, and
-- legal holds are found among the records themselves.
-- Locks: writing to audit.record while the index is made, which reads every record that the database holds; for an instant
-- audit.erasure, and audit.subject, which goes.
-- Run by a superuser, after the auditors of before have stopped.

set local role audit_owner;

-- Which records set or lift a legal hold: those who drop, expire and erase ask them, not the table that follows.
create index record_hold on audit.record (chain, seq) where event in (36, 37);

-- What the auditor signed when a second person confirmed; without it nothing is erased. Null of those confirmed before.
alter table audit.erasure add column confirmation jsonb;
grant update (confirmation) on audit.erasure to audit_eraser;

-- The only way into the log, as before, without that table.
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
    insert into audit.payload (
      chain, seq, segment, recorded_at, subject_ref, nonce, ciphertext)
      select * from unnest(
        segment_chains, segment_seqs, segment_numbers, segment_times, subject_refs, nonces, ciphertexts);
  end if;
  return true;
end $$;

-- Which subjects the log has met and when: written by every append, and read by nobody.
drop table audit.subject;

reset role;
