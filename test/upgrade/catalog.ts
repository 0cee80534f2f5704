// What a database is made of, one line for each thing in it: equal lines are equal schemas, rights included.
import type { Queryable } from './dump.ts'

/** Partitions are data of a day; what the library of migrations keeps is named after its own version. */
const DESCRIBE = `
with space as (
  select oid, nspname from pg_namespace where nspname !~ '^(pg_|information_schema)'
), own as (
  select c.*, s.nspname || '.' || c.relname as name from pg_class c join space s on s.oid = c.relnamespace
  where not c.relispartition and c.relname !~ '^kysely_'
)
select 'schema ' || n.nspname || ' owned by ' || pg_get_userbyid(n.nspowner) as line
  from pg_namespace n join space using (oid)
union all
select 'relation ' || name || ' ' || relkind::text || relpersistence::text || ' owned by ' || pg_get_userbyid(relowner)
  || ' rows ' || relrowsecurity || relforcerowsecurity || ' ' || coalesce(array_to_string(reloptions, ','), '')
  from own where relkind in ('r', 'p', 'v', 'm', 'S')
union all
select 'column ' || o.name || ' ' || a.attnum || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
  || a.attidentity::text || a.attgenerated::text || ' ' || a.attstorage::text || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
  from own o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
  where o.relkind in ('r', 'p', 'v', 'm')
union all
select 'constraint ' || o.name || ' ' || c.conname || ' ' || c.convalidated || ' ' || pg_get_constraintdef(c.oid)
  from own o join pg_constraint c on c.conrelid = o.oid
union all
select 'index ' || i.indisvalid || ' ' || pg_get_indexdef(i.indexrelid) from own o join pg_index i on i.indrelid = o.oid
union all
select 'trigger ' || t.tgenabled::text || ' ' || pg_get_triggerdef(t.oid) from own o join pg_trigger t on t.tgrelid = o.oid
  where not t.tgisinternal
union all
select 'view ' || name || ' ' || md5(pg_get_viewdef(oid)) from own where relkind in ('v', 'm')
union all
select 'function ' || p.oid::regprocedure || ' owned by ' || pg_get_userbyid(p.proowner) || ' ' || md5(pg_get_functiondef(p.oid))
  from pg_proc p join space s on s.oid = p.pronamespace where p.prokind <> 'a'
union all
select 'type ' || s.nspname || '.' || t.typname || ' ' || t.typtype::text || ' '
  || coalesce((select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid), '')
  from pg_type t join space s on s.oid = t.typnamespace where t.typtype in ('d', 'e', 'r')
union all
select 'policy ' || schemaname || '.' || tablename || ' ' || policyname || ' ' || permissive || ' ' || cmd || ' to '
  || (select string_agg(r, ',' order by r) from unnest(roles) r) || ' using ' || coalesce(qual, '') || ' check ' || coalesce(with_check, '')
  from pg_policies
union all
select 'right ' || w.what || ' ' || case when a.grantee = 0 then 'everybody' else pg_get_userbyid(a.grantee) end || ' '
  || a.privilege_type || ' ' || a.is_grantable
  from (
    select 'schema ' || nspname as what, coalesce(nspacl, acldefault('n', nspowner)) as acl from pg_namespace join space using (oid, nspname)
    union all select 'relation ' || name, coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))
      from own where relkind in ('r', 'p', 'v', 'm', 'S')
    union all select 'column ' || o.name || '.' || a.attname, a.attacl from own o join pg_attribute a on a.attrelid = o.oid
      where a.attacl is not null
    union all select 'function ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner))
      from pg_proc p join space s on s.oid = p.pronamespace
    union all select 'later ' || pg_get_userbyid(defaclrole) || ' ' || defaclobjtype::text, defaclacl from pg_default_acl
  ) w cross join aclexplode(w.acl) a`

export async function describeDatabase(database: Queryable): Promise<readonly string[]> {
  // Postgres names what stands outside the search path with its schema, whatever the database's own path is.
  await database.query('set search_path to pg_catalog')
  const { rows } = await database.query<{ line: string }>(DESCRIBE)
  return rows.map(({ line }) => line).toSorted()
}
