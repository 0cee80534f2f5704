-- The append-only log: chains, records, payload segments, and the only function that writes them.
-- Locks nothing that is in use: every object here is new.
-- Run by a superuser; roles exist already. Everything belongs to audit_owner, who cannot log in.

create schema audit authorization audit_owner;
revoke all on schema public from public;
set local role audit_owner;

-- Chains -----------------------------------------------------------------------------------------

create table audit.head (
  chain smallint primary key,
  origin text not null unique,
  epoch integer not null,
  shard smallint not null,
  shards smallint not null,
  size bigint not null default 0,
  last_hash bytea not null default decode(repeat('00', 32), 'hex'),
  last_recorded_at timestamptz not null default 'epoch',
  unique (epoch, shard)
) with (fillfactor = 50);

-- Records ----------------------------------------------------------------------------------------

create table audit.record (
  chain smallint not null,
  seq bigint not null,
  recorded_at timestamptz not null,
  task_id uuid not null,
  handoff_id uuid not null,
  event smallint not null,
  spent_micro bigint,
  body bytea not null,
  record_hash bytea not null,
  primary key (chain, seq, recorded_at),
  constraint record_hash_fits check (record_hash = sha256('\x00'::bytea || body)),
  constraint body_bytes_max check (octet_length(body) <= 65535)
) partition by range (recorded_at);
alter table audit.record alter column body set storage external;
create index record_task on audit.record (task_id, seq);
create index record_handoff on audit.record (handoff_id);

-- One row per record, never partitioned: makes an append idempotent over all time, answers a
-- repeated request, and knows each task's last record.
create table audit.idem (
  key uuid primary key,
  request_hash bytea not null,
  chain smallint not null,
  seq bigint not null,
  recorded_at timestamptz not null,
  record_hash bytea not null,
  task_id uuid not null,
  task_seq integer not null,
  unique (task_id, task_seq)
);

create table audit.batch_sig (
  chain smallint not null,
  last_seq bigint not null,
  first_seq bigint not null,
  last_hash bytea not null,
  key_id text not null,
  signature bytea not null,
  primary key (chain, last_seq)
);

-- Payload segments -------------------------------------------------------------------------------

create table audit.subject (
  subject_ref uuid primary key,
  first_recorded_at timestamptz not null,
  erased_at timestamptz
);

-- No constraint may ever quote a row of this table, so it has none beyond its key.
create table audit.payload (
  chain smallint not null,
  seq bigint not null,
  segment smallint not null,
  recorded_at timestamptz not null,
  subject_ref uuid not null,
  nonce bytea not null,
  ciphertext bytea not null,
  primary key (chain, seq, segment, recorded_at)
) partition by range (recorded_at);
alter table audit.payload alter column ciphertext set storage external;
create index payload_subject on audit.payload (subject_ref);

-- Guards -----------------------------------------------------------------------------------------

create function audit.refuse_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception '% of %.% is refused: the audit log is append-only',
    tg_op, tg_table_schema, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;

-- A head only moves forward, and stays the head of its chain.
create function audit.refuse_backward() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.size > old.size and new.last_recorded_at > old.last_recorded_at
    and new.last_hash <> old.last_hash
    and (new.chain, new.origin, new.epoch, new.shard, new.shards)
      = (old.chain, old.origin, old.epoch, old.shard, old.shards)
  then
    return new;
  end if;
  raise exception 'a head of the audit log only moves forward'
    using errcode = 'insufficient_privilege';
end $$;

-- Guards one table. Row triggers of a partitioned table reach its partitions by themselves;
-- truncate triggers do not, so this runs for every partition as well. ENABLE ALWAYS keeps them in
-- force under session_replication_role = replica.
create function audit.guard(guarded regclass, changes text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes <> '' then
    execute format('create trigger refuse_change before %s on %s for each row
      execute function audit.refuse_change()', changes, guarded);
  end if;
  execute format('create trigger refuse_truncate before truncate on %s for each statement
    execute function audit.refuse_change()', guarded);
  execute format('alter table %s enable always trigger refuse_truncate', guarded);
  if exists (select from pg_trigger where tgrelid = guarded and tgname = 'refuse_change') then
    execute format('alter table %s enable always trigger refuse_change', guarded);
  end if;
end $$;

select audit.guard('audit.record', 'update or delete');
select audit.guard('audit.payload', 'update or delete');
select audit.guard('audit.idem', 'update or delete');
select audit.guard('audit.batch_sig', 'update or delete');
select audit.guard('audit.subject', 'update or delete');
select audit.guard('audit.head', 'delete');
create trigger refuse_backward before update on audit.head for each row
  execute function audit.refuse_backward();
alter table audit.head enable always trigger refuse_backward;

-- Partitions -------------------------------------------------------------------------------------

-- Makes the daily partitions from yesterday to seven days ahead; answers how many it made.
create function audit.extend_partitions() returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  parent text;
  day date;
  name text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('audit.extend_partitions'));
  foreach parent in array array['record', 'payload'] loop
    for ahead in -1..7 loop
      day := (now() at time zone 'UTC')::date + ahead;
      name := parent || to_char(day, '_YYYYMMDD');
      continue when to_regclass('audit.' || name) is not null;
      execute format('create table audit.%I partition of audit.%I for values from (%L) to (%L)',
        name, parent, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
      perform audit.guard(to_regclass('audit.' || name), '');
      made := made + 1;
    end loop;
  end loop;
  return made;
end $$;

select audit.extend_partitions();

-- Append -----------------------------------------------------------------------------------------

-- The only way into the log. Takes a batch for one or more chains; all of it or nothing is stored.
-- Answers false, with nothing written, when any chain's head is not the expected one: another
-- writer was faster. That comparison is the fence; heads are locked in order of chain, so that two
-- writers cannot block each other for ever. A repeated key is a unique violation on audit.idem.
create function audit.append(
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

-- Views ------------------------------------------------------------------------------------------

-- Every record, readable: column names fold to what unquoted SQL asks for.
create view audit.handoff_events as
  select
    r.handoff_id as handoffid,
    r.task_id as taskid,
    (b.body ->> 'parentHandoffId')::uuid as parenthandoffid,
    b.body ->> 'event' as event,
    b.body -> 'fromAgent' ->> 'agentId' as fromagent,
    b.body -> 'fromAgent' ->> 'agentVersion' as fromagentversion,
    b.body -> 'fromAgent' ->> 'executionId' as executionid,
    b.body -> 'toAgent' ->> 'agentType' as toagent,
    b.body ->> 'reason' as reason,
    (b.body ->> 'attempt')::integer as attempt,
    (b.body ->> 'epoch')::bigint as epoch,
    b.body -> 'verdicts' as verdicts,
    b.body -> 'cost' as costs,
    (r.spent_micro / 1000000.0)::numeric(20, 6) as costathandoff,
    r.recorded_at as "timestamp",
    b.body ->> 'traceparent' as traceparent,
    h.origin as chain,
    r.seq,
    (b.body ->> 'taskSeq')::integer as taskseq,
    encode(r.record_hash, 'hex') as recordhash,
    b.body ->> 'previousRecordHash' as previousrecordhash,
    (b.body ->> 'recordId')::uuid as recordid
  from audit.record r
    join audit.head h on h.chain = r.chain
    cross join lateral (select convert_from(r.body, 'UTF8')::jsonb as body offset 0) b;

-- One row per handoff: its latest decision (1 accepted, 2 rejected).
create view audit.handoff_audit as
  select
    r.handoff_id as handoffid,
    r.task_id as taskid,
    (b.body ->> 'parentHandoffId')::uuid as parenthandoffid,
    b.body -> 'fromAgent' ->> 'agentId' as fromagent,
    b.body -> 'toAgent' ->> 'agentType' as toagent,
    case r.event when 1 then 'ACCEPTED' else 'REJECTED' end as status,
    b.body ->> 'reason' as reason,
    (b.body ->> 'attempt')::integer as attempt,
    b.body -> 'verdicts' as verdicts,
    b.body -> 'cost' as costs,
    (r.spent_micro / 1000000.0)::numeric(20, 6) as costathandoff,
    r.recorded_at as "timestamp",
    b.body ->> 'traceparent' as traceparent,
    h.origin as chain,
    r.seq,
    encode(r.record_hash, 'hex') as recordhash,
    b.body ->> 'previousRecordHash' as previousrecordhash
  from (
      select distinct on (task_id, handoff_id) *
      from audit.record
      where event in (1, 2)
      order by task_id, handoff_id, recorded_at desc, seq desc
    ) r
    join audit.head h on h.chain = r.chain
    cross join lateral (select convert_from(r.body, 'UTF8')::jsonb as body offset 0) b;

-- Rights -----------------------------------------------------------------------------------------

revoke all on all tables in schema audit from public;
revoke all on all functions in schema audit from public;
grant usage on schema audit to audit_writer, audit_reader, audit_eraser, audit_archiver;
grant execute on function audit.append to audit_writer;
grant execute on function audit.extend_partitions to audit_writer;
grant select on audit.head, audit.idem to audit_writer;
grant select on audit.head, audit.record, audit.idem, audit.batch_sig, audit.subject, audit.payload,
  audit.handoff_audit, audit.handoff_events to audit_reader;

reset role;
