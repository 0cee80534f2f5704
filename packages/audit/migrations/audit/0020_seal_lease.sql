-- One sealer of several publishes seals: it holds a lease by the clock of this database, and every lease has a number. Whoever was
-- overtaken while it slept stores nothing more, whatever it believes.
-- Locks: new tables only; functions are exchanged. Run by a superuser. A sealer of before goes on until one of this version holds the lease.

set local role audit_owner;

-- One row: who seals, and until when. Which witness cosigns each seal before it is published stands beside it, so that two
-- sealers that would ask different ones never follow one another.
create table audit.seal_lease (
  id boolean primary key default true check (id),
  epoch bigint not null default 0,
  holder text not null default '',
  witness text,
  taken_at timestamptz not null default now(),
  held_until timestamptz not null default '-infinity',
  constraint seal_lease_bytes_max check (octet_length(holder) <= 512 and octet_length(witness) <= 1024)
);
insert into audit.seal_lease default values;
select audit.guard('audit.seal_lease', 'delete');

-- Who waits for the lease, and when it asked last: for people who look, and nothing rests on it.
create table audit.seal_standby (
  holder text primary key,
  seen_at timestamptz not null,
  constraint seal_standby_bytes_max check (octet_length(holder) <= 512)
);

-- A seal that is about to be shown to the witness. There is one at a place for good: whoever takes over goes on with it, since
-- the witness may have it already, and whoever verifies finds it where the witness knows one seal more.
create table audit.proposed_seal (
  seq bigint primary key,
  body bytea not null,
  note text not null,
  epoch bigint not null,
  constraint proposed_seal_bytes_max check (octet_length(body) <= 65535 and octet_length(note) <= 65535)
);
select audit.guard('audit.proposed_seal', 'update');

-- Asks for the lease. It is taken where nobody holds it, or where `restarted` says that who holds it is the same one, started
-- again. `taken`, `held` by another one, or `other_witness`: seals are shown first to a witness that is not this one.
create function audit.take_seal_lease(
  asking text, lease_ms integer, asked_witness text, restarted boolean, anew boolean
) returns table (outcome text, epoch bigint, holder text, left_ms bigint)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lease audit.seal_lease;
begin
  select * into lease from audit.seal_lease l;
  if not (lease.held_until > clock_timestamp() and (lease.holder <> asking or not restarted)) then
    select * into lease from audit.seal_lease l for update;
  end if;
  if lease.held_until > clock_timestamp() and (lease.holder <> asking or not restarted) then
    delete from audit.seal_standby s where s.seen_at < clock_timestamp() - interval '1 hour';
    if (select count(*) from audit.seal_standby) < 64 then
      insert into audit.seal_standby as s (holder, seen_at) values (asking, clock_timestamp())
        on conflict on constraint seal_standby_pkey do update set seen_at = excluded.seen_at;
    end if;
    return query select 'held', lease.epoch, lease.holder,
      ceil(extract(epoch from lease.held_until - clock_timestamp()) * 1000)::bigint;
    return;
  end if;
  if lease.witness is not null and lease.witness is distinct from asked_witness and not anew then
    return query select 'other_witness', lease.epoch, lease.holder, 0::bigint;
    return;
  end if;
  update audit.seal_lease l set epoch = lease.epoch + 1, holder = asking, witness = asked_witness,
    taken_at = clock_timestamp(), held_until = clock_timestamp()
      + least(greatest(lease_ms, 100), 600000) * interval '1 millisecond';
  delete from audit.seal_standby s where s.holder = asking;
  return query select 'taken', lease.epoch + 1, asking, 0::bigint;
end $$;

-- Longer, while it is held: one that ended is taken anew, with another number. False says that it is lost.
create function audit.renew_seal_lease(held_epoch bigint, holding text, lease_ms integer) returns boolean
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  with renewed as (
    update audit.seal_lease l set held_until = clock_timestamp()
        + least(greatest(lease_ms, 100), 600000) * interval '1 millisecond'
      where l.epoch = held_epoch and l.holder = holding and l.held_until > clock_timestamp()
      returning 1
  )
  select exists (select from renewed)
$$;

-- At a clean stop: the next one need not wait.
create function audit.release_seal_lease(held_epoch bigint, holding text) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  update audit.seal_lease l set held_until = '-infinity'
    where l.epoch = held_epoch and l.holder = holding
$$;

-- Whether the lease is held now; until the caller's transaction ends nobody takes it.
create function audit.holds_seal_lease(held_epoch bigint, holding text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from audit.seal_lease l
    where l.epoch = held_epoch and l.holder = holding and l.held_until > clock_timestamp() for share;
  return found;
end $$;

-- Keeps a seal before it is shown to the witness. `stored`, `fenced`, or `other`: another one stands at this place, or it is not the next.
create function audit.propose_seal(
  held_epoch bigint, holding text, seal_seq bigint, seal_body bytea, seal_note text
) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  stored bytea;
begin
  if not audit.holds_seal_lease(held_epoch, holding) then
    return 'fenced';
  end if;
  select s.body into stored from audit.seal s where s.seq = seal_seq;
  if not found then
    if seal_seq <> (select coalesce(max(s.seq), -1) + 1 from audit.seal s) then
      return 'other';
    end if;
    insert into audit.proposed_seal (seq, body, note, epoch)
      values (seal_seq, seal_body, seal_note, held_epoch) on conflict do nothing;
    select p.body into stored from audit.proposed_seal p where p.seq = seal_seq;
  end if;
  return case when stored is distinct from seal_body then 'other' else 'stored' end;
end $$;

-- Publishes one seal. Safe to repeat. `stored`, `fenced`, or `other`: another one stands in its place.
create function audit.publish_seal(
  held_epoch bigint, holding text,
  seal_seq bigint, seal_at timestamptz, seal_body bytea, seal_note text,
  chains smallint[], sizes bigint[], notes text[]
) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  stored bytea;
begin
  if not audit.holds_seal_lease(held_epoch, holding) then
    return 'fenced';
  end if;
  insert into audit.seal (seq, sealed_at, body, note)
    values (seal_seq, seal_at, seal_body, seal_note) on conflict do nothing;
  select s.body into stored from audit.seal s where s.seq = seal_seq;
  if stored is distinct from seal_body then
    return 'other';
  end if;
  insert into audit.chain_checkpoint as c (chain, size, note)
    select n.chain, n.size, n.note from unnest(chains, sizes, notes) as n (chain, size, note)
    order by n.chain
    on conflict (chain) do update set size = excluded.size, note = excluded.note
    where c.size < excluded.size;
  delete from audit.proposed_seal p where p.seq <= seal_seq;
  return 'stored';
end $$;

-- What sealers of before call: beside one that holds the lease they would fork the log, so they store nothing then.
create or replace function audit.store_seal(
  seal_seq bigint, seal_at timestamptz, seal_body bytea, seal_note text,
  chains smallint[], sizes bigint[], notes text[]
) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  stored bytea;
begin
  perform from audit.seal_lease l where l.held_until > clock_timestamp() for share;
  if found then
    raise exception 'another sealer holds the lease' using errcode = 'object_in_use';
  end if;
  insert into audit.seal (seq, sealed_at, body, note)
    values (seal_seq, seal_at, seal_body, seal_note) on conflict do nothing;
  select s.body into stored from audit.seal s where s.seq = seal_seq;
  if stored is distinct from seal_body then
    return false;
  end if;
  insert into audit.chain_checkpoint as c (chain, size, note)
    select n.chain, n.size, n.note from unnest(chains, sizes, notes) as n (chain, size, note)
    order by n.chain
    on conflict (chain) do update set size = excluded.size, note = excluded.note
    where c.size < excluded.size;
  return true;
end $$;

revoke all on audit.seal_lease, audit.seal_standby, audit.proposed_seal from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.take_seal_lease, audit.renew_seal_lease, audit.release_seal_lease,
  audit.propose_seal, audit.publish_seal to audit_sealer;
grant select on audit.seal_lease, audit.seal_standby, audit.proposed_seal to audit_sealer;
grant select on audit.seal_lease, audit.seal_standby, audit.proposed_seal to audit_reader;

reset role;
