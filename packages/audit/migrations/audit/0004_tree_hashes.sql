-- Hashes of full subtrees, so that a proof reads a few hundred rows instead of every record of a log.
-- Locks: one new table only. The grants take short locks on catalog rows.
-- Run by a superuser.

set local role audit_owner;

-- Level 8 over 256 leaves, level 16 over 65,536, and so on; -1 is the seal log. Nothing is trusted
-- because it stands here: a proof counts only when it leads to a signed root, and is made from the
-- records again when it does not.
create table audit.tree_hash (
  log smallint not null,
  level smallint not null,
  index bigint not null,
  hash bytea not null,
  primary key (log, level, index),
  check (level > 0 and level % 8 = 0 and octet_length(hash) = 32)
);
select audit.guard('audit.tree_hash', 'update or delete');

create function audit.store_tree_hashes(
  of_log smallint, levels smallint[], indexes bigint[], hashes bytea[]
) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into audit.tree_hash (log, level, index, hash)
    select of_log, n.level, n.index, n.hash
    from unnest(levels, indexes, hashes) as n (level, index, hash)
    order by n.level, n.index
    on conflict do nothing
$$;

revoke all on audit.tree_hash from public;
revoke all on all functions in schema audit from public;
grant execute on function audit.store_tree_hashes to audit_writer;
grant select on audit.tree_hash to audit_reader, audit_writer;

reset role;
