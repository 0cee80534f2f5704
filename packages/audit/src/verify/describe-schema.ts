// The schema of the log as one line for each thing in it, said the same way by every version of Postgres that is known.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { ROLES } from '../roles.ts'

export type SchemaName = 'audit' | 'vault'

/** What each thing is, by what it is called. */
export type Description = ReadonlyMap<string, string>

/** The days of the two tables that have one partition for each. */
const DAY = '^(?:record|payload)_(\\d{8})$'

/** An operator sets time, memory, plans, logs and spelling; every other setting of a role or a database changes what is kept or answered. */
const HARMLESS = [
  '^(enable|log|jit|track|geqo|tcp|auto_explain|pg_stat_statements|lc|max_parallel|min_parallel|parallel|effective)_',
  '(_timeout|_cost|_collapse_limit|_mem|_buffers|_file_limit|_min_messages)$',
  '^(jit|timezone|datestyle|intervalstyle|client_encoding|bytea_output|extra_float_digits|application_name|plan_cache_mode|geqo|hash_mem_multiplier|default_statistics_target)$',
].join('|')

/** $1 the schema, $2 the tables and views it has, or null for all, $3 its roles, $4 DAY, $5 HARMLESS. */
const DESCRIBE = `
with space as (
  select n.oid, n.nspname, n.nspowner, n.nspacl from pg_namespace n where n.nspname = $1
), role as (
  select r.oid, r.rolname from pg_roles r where r.rolname = any($3::text[])
), own as (
  select c.oid, c.relname as name, c.relkind as kind, c.relpersistence as persistence, c.relowner, c.relacl,
    c.relam, c.relrowsecurity, c.relforcerowsecurity, c.reloptions, c.relispartition, c.relpartbound
  from pg_class c join space on c.relnamespace = space.oid
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
    and ($2::text[] is null or c.relname = any($2::text[]) or c.relname ~ $4)
  union
  select c.oid, case when c.relnamespace = space.oid then c.relname else c.oid::regclass::text end, c.relkind,
    c.relpersistence, c.relowner, c.relacl, c.relam, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
    c.relispartition, c.relpartbound
  from pg_inherits i join pg_class p on p.oid = i.inhparent join space on p.relnamespace = space.oid
    join pg_class c on c.oid = i.inhrelid
  where c.relkind not in ('i', 'I') and ($2::text[] is null or p.relname = any($2::text[]))
), described (object, state) as (
  select 'schema ' || s.nspname, 'owned by ' || pg_get_userbyid(s.nspowner) from space s
  union all
  select 'table ' || o.name, case o.kind when 'r' then 'table' when 'p' then 'partitioned table'
    when 'v' then 'view' when 'm' then 'materialised view' when 'f' then 'foreign table' end
    || coalesce(' kept as ' || a.amname, '') || ', owned by ' || pg_get_userbyid(o.relowner)
  from own o left join pg_am a on a.oid = o.relam
  union all
  select 'persistence of ' || name, case persistence when 'p' then 'logged'
    else 'unlogged: a crash empties it' end from own where kind in ('r', 'p', 'm')
  union all
  select 'row security of ' || name, case when relforcerowsecurity then 'forced on everybody, which can hide rows'
    when relrowsecurity then 'on, which can hide rows' else 'off' end from own where kind in ('r', 'p')
  union all
  select 'policy ' || p.polname || ' of ' || o.name, 'shows or hides rows' from pg_policy p join own o on o.oid = p.polrelid
  union all
  select 'partitions of ' || name, pg_get_partkeydef(oid) from own where kind = 'p'
  union all
  select 'rows of ' || o.name || ' in ' || p.relname, case when not o.relispartition then 'inherited'
    when pg_get_expr(o.relpartbound, o.oid) = format('FOR VALUES FROM (%L) TO (%L)', d.day || ' 00:00:00+00', d.day + 1 || ' 00:00:00+00')
    then 'one day' else pg_get_expr(o.relpartbound, o.oid) end
  from own o join pg_inherits i on i.inhrelid = o.oid join pg_class p on p.oid = i.inhparent
    left join lateral (select to_date(substring(o.name from $4), 'YYYYMMDD') as day) d on true
  union all
  select 'column ' || o.name || '.' || a.attname, concat_ws(', ', format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> 0 then 'collation ' || a.attcollation::regcollation end,
    case when a.attnotnull then 'not null' end,
    'default ' || pg_get_expr(d.adbin, d.adrelid), nullif('generated ' || a.attgenerated::text, 'generated '),
    nullif('identity ' || a.attidentity::text, 'identity '),
    case when o.kind <> 'v' then 'storage ' || case a.attstorage when 'p' then 'plain' when 'e' then 'external'
      when 'm' then 'main' else 'extended' end end)
  from own o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
  union all
  select 'constraint ' || o.name || '.' || c.conname, pg_get_constraintdef(c.oid)
    || case when c.convalidated then '' else ', not validated' end
  from own o join pg_constraint c on c.conrelid = o.oid
  where case when o.relispartition then c.contype not in ('n', 'p', 'u') or not c.convalidated
    else c.contype <> 'n' or not c.convalidated end
  union all
  select 'index ' || case when o.relispartition and p.oid is not null then o.name || ' of ' || p.relname else x.relname end,
    case when o.relispartition and p.oid is not null then 'attached' else pg_get_indexdef(i.indexrelid) end
    || case when i.indisvalid and i.indisready and i.indislive then '' else ', not valid: it answers nothing' end
  from own o join pg_index i on i.indrelid = o.oid join pg_class x on x.oid = i.indexrelid
    left join pg_inherits h on h.inhrelid = x.oid left join pg_class p on p.oid = h.inhparent
  union all
  select 'trigger ' || o.name || '.' || case when t.tgisinternal then c.conname || ' ' || t.tgfoid::regproc else t.tgname end,
    case t.tgenabled when 'A' then 'always' when 'O' then 'enabled' when 'R' then 'in replicas alone' else 'switched off' end
    || case when t.tgisinternal then '' else ', ' || replace(pg_get_triggerdef(t.oid), ' ON ' || o.oid::regclass, '') end
  from own o join pg_trigger t on t.tgrelid = o.oid left join pg_constraint c on c.oid = t.tgconstraint
  union all
  select 'rule ' || o.name || '.' || r.rulename, 'rewrites statements' from own o join pg_rewrite r on r.ev_class = o.oid
  where r.rulename <> '_RETURN'
  union all
  select 'view ' || name, concat_ws(' ', 'with (' || array_to_string(reloptions, ', ') || ')', pg_get_viewdef(oid)) from own where kind in ('v', 'm')
  union all
  select 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
    concat_ws(', ', case p.prokind when 'f' then 'function' when 'p' then 'procedure' else 'aggregate' end
      || ' in ' || l.lanname, 'answers ' || pg_get_function_result(p.oid),
      case when p.prosecdef then 'as its owner' else 'as its caller' end, 'owned by ' || pg_get_userbyid(p.proowner),
      case p.provolatile when 'v' then 'volatile' when 's' then 'stable' else 'immutable' end,
      case when p.proisstrict then 'strict' end, case when p.proleakproof then 'leakproof' end,
      'set ' || array_to_string(p.proconfig, '; '),
      'body ' || encode(sha256(convert_to(coalesce(p.probin, '') || p.prosrc, 'UTF8')), 'hex'))
  from pg_proc p join space on p.pronamespace = space.oid join pg_language l on l.oid = p.prolang
  union all
  select 'operator ' || o.oprname, 'stands in the schema' from pg_operator o join space on o.oprnamespace = space.oid
  union all
  select 'rights of ' || g.grantee || ' on ' || g.what, string_agg(g.privilege, ', ' order by g.privilege) from (
    select w.what, w.owner, case when a.grantee = 0 then 'everybody' else pg_get_userbyid(a.grantee) end as grantee,
      a.grantee as grantee_oid,
      a.privilege_type || case when a.is_grantable then ' and to grant it' else '' end as privilege
    from (
      select 'schema ' || nspname as what, nspowner as owner, coalesce(nspacl, acldefault('n', nspowner)) as acl from space
      union all
      select name, relowner, coalesce(relacl, acldefault('r', relowner)) from own
      union all
      select o.name || '.' || a.attname, o.relowner, a.attacl from own o join pg_attribute a on a.attrelid = o.oid
        where a.attnum > 0 and not a.attisdropped and a.attacl is not null
      union all
      select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', p.proowner,
        coalesce(p.proacl, acldefault('f', p.proowner)) from pg_proc p join space on p.pronamespace = space.oid
    ) w, aclexplode(w.acl) a
    where a.grantee <> w.owner
    union all
    select 'this database', d.datdba, case when a.grantee = 0 then 'everybody' else r.rolname end, a.grantee, a.privilege_type
    from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a left join role r on r.oid = a.grantee
    where d.datname = current_database() and (a.grantee = 0 or r.oid is not null)
    union all
    select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', p.proowner, 'everybody', 0, a.privilege_type
    from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where p.pronamespace = 'pg_catalog'::regnamespace and a.grantee = 0 and (p.proname ~ '^pg_(try_)?advisory_'
      or p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message', 'pg_cancel_backend', 'pg_terminate_backend'))
  ) g group by g.grantee, g.what
  union all
  select 'rights of ' || case when a.grantee = 0 then 'everybody' else pg_get_userbyid(a.grantee) end || ' on what '
    || pg_get_userbyid(d.defaclrole) || ' makes later', string_agg(d.defaclobjtype::text || ' ' || a.privilege_type, ', ')
  from pg_default_acl d, aclexplode(d.defaclacl) a
  where (d.defaclrole in (select oid from role) or d.defaclnamespace in (select oid from space)) and a.grantee <> d.defaclrole
  group by d.defaclrole, a.grantee
  union all
  select 'role ' || r.rolname, concat_ws(', ', case when r.rolsuper then 'superuser' end,
    case when r.rolcreaterole then 'may create roles' end, case when r.rolcreatedb then 'may create databases' end,
    case when r.rolreplication then 'may replicate' end, case when r.rolbypassrls then 'passes row security' end,
    case when r.rolname = 'audit_owner' and r.rolcanlogin then 'logs in' end,
    case when r.rolinherit then 'inherits' else 'does not inherit' end)
  from pg_roles r join role on role.oid = r.oid
  union all
  select 'member ' || pg_get_userbyid(m.member) || ' of ' || pg_get_userbyid(m.roleid), 'may do what it may'
  from pg_auth_members m join pg_roles r on r.oid = m.member
  where m.member in (select oid from role) or (not r.rolsuper and pg_get_userbyid(m.roleid) <> 'audit_reader'
    and (m.roleid in (select oid from role) or m.roleid = 'pg_write_all_data'::regrole))
  union all
  select 'setting ' || split_part(c.setting, '=', 1) || ' of ' || coalesce(r.rolname, 'every role')
    || case when s.setdatabase = 0 then ' everywhere' else ' in this database' end,
    substring(c.setting from '=(.*)$')
  from pg_db_role_setting s cross join unnest(s.setconfig) c (setting) left join role r on r.oid = s.setrole
    left join pg_database d on d.oid = s.setdatabase
  where (s.setdatabase = 0 or d.datname = current_database()) and (s.setrole = 0 or r.oid is not null)
    and split_part(c.setting, '=', 1) !~* $5
  union all
  select 'setting ' || name || ' of the server', setting from pg_settings
  where name in ('session_replication_role', 'zero_damaged_pages', 'ignore_checksum_failure',
    'allow_system_table_mods', 'transform_null_equals')
  union all
  select 'event trigger ' || evtname, evtevent || ' calls ' || evtfoid::regprocedure from pg_event_trigger where evtenabled <> 'D'
  union all
  select case c.relkind when 'i' then 'index ' else 'table ' end || 'pg_catalog.' || c.relname, 'hides what has its name elsewhere' from pg_class c
  where c.relnamespace = 'pg_catalog'::regnamespace and c.oid >= 16384
  union all
  select 'function pg_catalog.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', 'hides what has its name elsewhere'
  from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.oid >= 16384
  union all
  select 'operator pg_catalog.' || o.oprname, 'hides what has its name elsewhere' from pg_operator o
  where o.oprnamespace = 'pg_catalog'::regnamespace and o.oid >= 16384
  union all
  select 'functions of Postgres ' || current_setting('server_version_num')::integer / 10000,
    md5(string_agg(concat_ws(' ', p.oid, p.proname, p.prosrc, p.prosecdef, p.proargtypes, p.provolatile, p.proisstrict, p.proconfig), ',' order by p.oid))
  from pg_proc p where p.oid < 10000 and p.prolang = 12 and p.proname !~ '^binary_upgrade_'
  union all
  select 'operators of Postgres ' || current_setting('server_version_num')::integer / 10000,
    md5(string_agg(concat_ws(' ', o.oid, o.oprname, o.oprcode::oid, o.oprleft, o.oprright, o.oprresult), ',' order by o.oid))
  from pg_operator o where o.oid < 10000
)
select object, state from described order by object, state`

// A schema before the session's own one could exchange what the statement calls; instants are spelled in UTC.
const PIN = `select pg_catalog.set_config('search_path', 'pg_catalog', true),
  pg_catalog.set_config('timezone', 'UTC', true), pg_catalog.set_config('datestyle', 'ISO', true)`

/**
 * Run it in a transaction of its own: it pins how Postgres spells things until the end. `relations` are those
 * that the migrations make; others keep what they like beside them. Without it everything there is described.
 */
export async function describeSchema(
  db: Database,
  schema: SchemaName,
  relations: readonly string[] | null,
): Promise<Description> {
  await run(db, 'pin_spelling', PIN)
  const rows = await run<{ object: string; state: string }>(db, 'describe_schema', DESCRIBE, [
    schema,
    relations,
    ROLES[schema],
    DAY,
    HARMLESS,
  ])
  return new Map(rows.map(({ object, state }) => [object, state.replaceAll(/\s+/g, ' ').trim()]))
}

/** Stands for the day where a description is of every partition. */
export const ANY_DAY = '<day>'

/** The partitions that are described, each with its name for any day. */
export function partitionsOf(
  described: Description,
): readonly { readonly partition: string; readonly pattern: string }[] {
  const name = new RegExp(DAY)
  return [...described.keys()].flatMap((object) => {
    const partition = object.slice('table '.length)
    const [, day] = (object.startsWith('table ') && name.exec(partition)) || []
    return day === undefined ? [] : [{ partition, pattern: partition.replace(day, ANY_DAY) }]
  })
}

/** The same with one description for all days. Throws where partitions are not alike. */
export function ofAnyDay(described: Description): Description {
  const days = partitionsOf(described)
  const whole = new Map<string, string>()
  for (const [object, state] of described) {
    const day = days.find(({ partition }) => object.includes(partition))
    const name = day === undefined ? object : object.replace(day.partition, day.pattern)
    if ((whole.get(name) ?? state) !== state) throw new TypeError(`not alike on all days: ${name}`)
    whole.set(name, state)
  }
  return whole
}

/** The names of the migrations that were applied, in order; null where this role may not know, before there was a right to it. */
export async function readApplied(db: Database): Promise<readonly string[] | null> {
  const rows = await run<{ known: boolean }>(db, 'may_read_applied', MAY_READ_APPLIED)
  if (rows[0]?.known !== true) return null
  const applied = await run<{ name: string }>(db, 'read_applied', APPLIED)
  return applied.map(({ name }) => name)
}

const MAY_READ_APPLIED = `select coalesce(bool_and(pg_catalog.has_schema_privilege(n.oid, 'usage')
    and pg_catalog.has_table_privilege(c.oid, 'select')), false) as known
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relname = 'kysely_migration'`
const APPLIED = 'select name from public.kysely_migration order by name'

const MIGRATIONS = new URL('../../migrations/', import.meta.url)

const filesOf = (schema: SchemaName): readonly string[] =>
  readdirSync(new URL(`${schema}/`, MIGRATIONS))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()

/** The names of the migrations of this version, in order. */
export const migrationsOf = (schema: SchemaName): readonly string[] =>
  filesOf(schema).map((name) => name.slice(0, -'.sql'.length))

/** Changes with every migration and with how the schema is described. */
export function digestOf(schema: SchemaName): string {
  const texts = filesOf(schema).map((name) =>
    readFileSync(new URL(`${schema}/${name}`, MIGRATIONS), 'utf8'),
  )
  return hash('sha256', JSON.stringify([DESCRIBE, DAY, HARMLESS, ...texts])).slice(0, 16)
}
