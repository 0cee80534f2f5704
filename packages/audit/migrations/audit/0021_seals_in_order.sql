-- A seal is published at the next place only. Behind a gap nobody goes on: whoever had the role of the sealers could leave one for good, and
-- with it delete the proposal that the witness has cosigned already, which nobody can make again.
-- Locks: functions are exchanged. Run by a superuser; sealers of before go on.

set local role audit_owner;

-- As before; at a later place than the next it answers `other`.
create or replace function audit.publish_seal(
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
  if seal_seq > (select coalesce(max(s.seq), -1) + 1 from audit.seal s) then
    return 'other';
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

-- As before; at a later place than the next it stores nothing.
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
  if seal_seq > (select coalesce(max(s.seq), -1) + 1 from audit.seal s) then
    return false;
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

reset role;
