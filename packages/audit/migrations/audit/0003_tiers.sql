-- The cold tier: how far each log is archived, when a day may be dropped, and which tasks are held.
-- Locks: new tables; one trigger on audit.record, which waits for running appends and blocks new ones
-- for the moment it takes to add it. The grants take short locks on the catalog rows of the tables.
-- Run by a superuser; the role audit_archiver exists already.

set local role audit_owner;

-- One row per log; -1 is the seal log. Records below `size` stand in full bundles of the cold store,
-- those below `tail` in a partial one, those below `hot_from` nowhere else, those below `min_index`
-- nowhere at all any more.
create table audit.archive (
  log smallint primary key,
  size bigint not null default 0,
  tail bigint not null default 0,
  hot_from bigint not null default 0,
  min_index bigint not null default 0,
  -- The record before `min_index`, from which a verification starts.
  start_hash bytea not null default decode(repeat('00', 32), 'hex'),
  start_at timestamptz not null default 'epoch',
  -- Objects below this record are removed from the cold store.
  removed bigint not null default 0,
  check (removed <= min_index and min_index <= hot_from and hot_from <= size and size % 256 = 0
    and min_index % 256 = 0)
);

-- Follows from the chained records LEGAL_HOLD_SET (36) and LEGAL_HOLD_LIFTED (37), and from nothing else.
create table audit.legal_hold (
  task_id uuid primary key,
  chain smallint not null,
  seq bigint not null,
  held_at timestamptz not null
);

create function audit.follow_hold() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.event = 36 then
    insert into audit.legal_hold (task_id, chain, seq, held_at)
      values (new.task_id, new.chain, new.seq, new.recorded_at) on conflict do nothing;
  else
    delete from audit.legal_hold h where h.task_id = new.task_id;
  end if;
  return null;
end $$;

create trigger follow_hold after insert on audit.record for each row
  when (new.event in (36, 37)) execute function audit.follow_hold();
alter table audit.record enable always trigger follow_hold;

create function audit.refuse_less() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.log = old.log and new.size >= old.size and new.hot_from >= old.hot_from
    and new.min_index >= old.min_index and new.removed >= old.removed
  then
    return new;
  end if;
  raise exception 'what is archived only grows' using errcode = 'insufficient_privilege';
end $$;
create trigger refuse_less before update on audit.archive for each row
  execute function audit.refuse_less();
alter table audit.archive enable always trigger refuse_less;
select audit.guard('audit.archive', 'delete');
select audit.guard('audit.legal_hold', '');

-- Says that the cold store holds a log up to here. Never further than a seal covers.
create function audit.mark_archived(of_log smallint, to_size bigint, to_tail bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  sealed bigint;
begin
  if of_log = -1 then
    select max(s.seq) + 1 into sealed from audit.seal s;
  else
    select c.size into sealed from audit.chain_checkpoint c where c.chain = of_log;
  end if;
  if greatest(to_size, to_tail) > coalesce(sealed, 0) then
    raise exception 'only what is sealed can be archived' using errcode = 'insufficient_privilege';
  end if;
  insert into audit.archive as a (log, size, tail)
    values (of_log, to_size, greatest(to_size, to_tail))
    on conflict (log) do update
      set size = greatest(a.size, excluded.size), tail = greatest(a.tail, excluded.tail);
end $$;

-- Why a day cannot be dropped; null when it can.
create function audit.drop_obstacle(day date, hot_days integer) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  since timestamptz := (day || ' 00:00:00+00')::timestamptz;
  till timestamptz := (day + 1 || ' 00:00:00+00')::timestamptz;
begin
  if hot_days < 1 or day + hot_days >= (now() at time zone 'UTC')::date then
    return 'HOT';
  end if;
  if exists (select from audit.record r where r.recorded_at < since) then
    return 'EARLIER_DAY';
  end if;
  if exists (select from (
      select r.chain, max(r.seq) as last from audit.record r
      where r.recorded_at >= since and r.recorded_at < till group by r.chain
    ) d left join audit.archive a on a.log = d.chain
    where d.last >= coalesce(a.size, 0)) then
    return 'NOT_ARCHIVED';
  end if;
  if exists (select from audit.legal_hold h join audit.record r on r.task_id = h.task_id
    where r.recorded_at >= since and r.recorded_at < till) then
    return 'LEGAL_HOLD';
  end if;
  return null;
end $$;

-- Drops one day of records and payloads from the hot store, and answers how many records that were.
-- The record PARTITION_DROPPED (35) of that day must stand in the log already. Appends wait while it
-- waits for those who read, which is half a second at most; then it gives up and is tried again.
create function audit.drop_day(
  day date, hot_days integer, record_chain smallint, record_seq bigint
) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms' as $$
declare
  name text := to_char(day, 'YYYYMMDD');
  since timestamptz := (day || ' 00:00:00+00')::timestamptz;
  till timestamptz := (day + 1 || ' 00:00:00+00')::timestamptz;
  obstacle text;
  dropped bigint;
begin
  perform pg_advisory_xact_lock(hashtext('audit.extend_partitions'));
  if to_regclass('audit.record_' || name) is null then
    return 0;
  end if;
  lock table audit.record in share row exclusive mode;
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
  execute format('drop table audit.%I', 'record_' || name);
  execute format('drop table audit.%I', 'payload_' || name);
  return dropped;
end $$;

-- Lets the bundles of a chain below `to_index` expire. The record before it is named by its place in
-- its task, is found in the idempotency index, and must be older than 183 days whatever settings say.
create function audit.expire(
  of_chain smallint, to_index bigint, last_task uuid, last_task_seq integer
) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  last record;
begin
  select i.recorded_at, i.record_hash into last from audit.idem i
    where i.task_id = last_task and i.task_seq = last_task_seq
      and i.chain = of_chain and i.seq = to_index - 1;
  if not found or last.recorded_at > now() - interval '183 days' then
    raise exception 'records stay for 183 days at least' using errcode = 'insufficient_privilege';
  end if;
  if exists (select from audit.legal_hold h join audit.idem i on i.task_id = h.task_id
    join audit.archive a on a.log = i.chain
    where i.chain = of_chain and i.seq >= a.min_index and i.seq < to_index) then
    raise exception 'a task in these bundles is held' using errcode = 'insufficient_privilege';
  end if;
  update audit.archive a
    set min_index = to_index, start_hash = last.record_hash, start_at = last.recorded_at
    where a.log = of_chain and a.min_index < to_index;
end $$;

create function audit.mark_removed(of_chain smallint, to_index bigint) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  update audit.archive a set removed = to_index where a.log = of_chain and a.removed < to_index
$$;

revoke all on audit.archive, audit.legal_hold from public;
revoke all on all functions in schema audit from public;
grant select on audit.archive, audit.legal_hold to audit_reader, audit_archiver, audit_writer;
grant select on audit.archive to audit_sealer;
grant select on audit.head, audit.record, audit.payload, audit.idem, audit.batch_sig, audit.seal,
  audit.chain_checkpoint, audit.witnessed to audit_archiver;
grant execute on function audit.mark_archived, audit.drop_obstacle, audit.drop_day, audit.expire,
  audit.mark_removed to audit_archiver;

reset role;
