-- Copies of what the sealer signed, for serving and for checking; the truth is outside this database.
-- Locks: new tables only. The grants take short locks on the catalog rows of the log's tables.
-- Run by a superuser; the role audit_sealer exists already.

grant usage on schema audit to audit_sealer;
set local role audit_owner;

-- One row per entry of the seal log, in its order. The note is the seal log's checkpoint after it.
create table audit.seal (
  seq bigint primary key,
  sealed_at timestamptz not null,
  body bytea not null,
  note text not null,
  constraint seal_body_bytes_max check (octet_length(body) <= 65535)
);
select audit.guard('audit.seal', 'update or delete');

-- The newest checkpoint of each chain, and of the seal log as witnesses have cosigned it.
create table audit.chain_checkpoint (
  chain smallint primary key,
  size bigint not null,
  note text not null
);
create table audit.witnessed (
  id boolean primary key default true check (id),
  size bigint not null,
  note text not null,
  witnessed_at timestamptz not null
);

-- A copy only ever moves to a larger tree.
create function audit.refuse_smaller() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.size >= old.size then
    return new;
  end if;
  raise exception 'a copy of %.% only grows', tg_table_schema, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;

create trigger refuse_smaller before update on audit.chain_checkpoint for each row
  execute function audit.refuse_smaller();
create trigger refuse_smaller before update on audit.witnessed for each row
  execute function audit.refuse_smaller();
alter table audit.chain_checkpoint enable always trigger refuse_smaller;
alter table audit.witnessed enable always trigger refuse_smaller;
select audit.guard('audit.chain_checkpoint', 'delete');
select audit.guard('audit.witnessed', 'delete');

-- Stores one seal. Safe to repeat; answers false when another seal stands in its place.
create function audit.store_seal(
  seal_seq bigint, seal_at timestamptz, seal_body bytea, seal_note text,
  chains smallint[], sizes bigint[], notes text[]
) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  stored bytea;
begin
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

-- Stores the seal log's checkpoint with the cosignatures that were enough.
create function audit.store_witnessed(witnessed_size bigint, cosigned text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into audit.witnessed as w (size, note, witnessed_at)
    values (witnessed_size, cosigned, now())
    on conflict (id) do update
      set size = excluded.size, note = excluded.note, witnessed_at = excluded.witnessed_at
    where w.size <= excluded.size;
end $$;

-- Where the scrubber is. It says what was re-read, and nothing that is relied on follows from it.
create table audit.scrub (
  id boolean primary key default true check (id),
  reached jsonb not null
);
create function audit.store_scrub(at_position jsonb) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into audit.scrub (reached) values (at_position)
    on conflict (id) do update set reached = excluded.reached
$$;

revoke all on audit.seal, audit.chain_checkpoint, audit.witnessed, audit.scrub from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.store_seal, audit.store_witnessed to audit_sealer;
grant execute on function audit.store_scrub to audit_writer;
grant select on audit.head, audit.record, audit.idem, audit.batch_sig,
  audit.seal, audit.chain_checkpoint, audit.witnessed to audit_sealer;
grant select on audit.seal, audit.chain_checkpoint, audit.witnessed, audit.scrub to audit_reader;

reset role;
