-- The map from each task to its last record, whose root the sealer signs: without it, the end of a task can be cut.
-- Locks: a new table only.
-- Run by a superuser; the roles exist already.

set local role audit_owner;

-- A node of the map as it is from a number of seals on, until a newer version of it. What stands here is hashed by
-- whoever reads it, so nothing keeps it from being changed: it would only prove nothing any more.
create table audit.task_map (
  prefix text collate "C" not null,
  seals bigint not null,
  node bytea not null,
  primary key (prefix, seals)
);
alter table audit.task_map alter column node set storage external;
create index task_map_seals on audit.task_map (seals);

-- Stores nodes of one version. Safe to repeat.
create function audit.store_task_map(map_seals bigint, prefixes text[], nodes bytea[]) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into audit.task_map (prefix, seals, node)
    select n.prefix, map_seals, n.node from unnest(prefixes, nodes) as n (prefix, node) order by n.prefix
    on conflict (prefix, seals) do update set node = excluded.node
$$;

-- Removes what newer versions, above `from_seals` and up to `to_seals`, have taken the place of: the map can be read from
-- `to_seals` on. Answers how many nodes that were.
create function audit.prune_task_map(from_seals bigint, to_seals bigint) returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  with newer as (
    select t.prefix, max(t.seals) as seals from audit.task_map t
      where t.seals > from_seals and t.seals <= to_seals group by t.prefix
  ), pruned as (
    delete from audit.task_map t using newer n where t.prefix = n.prefix and t.seals < n.seals
    returning 1
  )
  select count(*) from pruned
$$;

revoke all on audit.task_map from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.store_task_map, audit.prune_task_map to audit_sealer;
grant select on audit.task_map to audit_sealer, audit_reader, audit_eraser, audit_archiver;

reset role;
